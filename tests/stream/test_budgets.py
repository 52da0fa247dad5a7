"""What an algorithm holds beside pages counts in its budget, and a budget that is refused is refused at once."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.errors import ResourceError
from dromos.graph.store import write

N = 25_000
CALLS: dict[str, Callable[..., dr.Result]] = {
    "betweenness": lambda g, **how: dr.betweenness(g, sources=[1], **how),
    "maximal_independent_set": lambda g, **how: dr.maximal_independent_set(g, **how),
    "neighbourhood_function": lambda g, **how: dr.neighbourhood_function(g, registers=16, max_distance=1, **how),
}


@pytest.fixture(scope="module")
def graph() -> dr.Graph:
    """Many vertices, few arcs, and a hub: what is held for each vertex is most of the memory."""
    draw = np.random.default_rng(4)
    src, dst = draw.integers(0, N, (2, 2 * N))
    dst[:300] = 5
    return dr.Graph.from_edges(
        src, dst, draw.integers(1, 9, 2 * N).astype(np.float32),
        num_vertices=N, directed=False, dedupe=True, drop_self_loops=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def file(graph: dr.Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("budgets") / "graph.drm"
    write(graph, path)
    return path


@pytest.mark.parametrize("name", CALLS)
def test_arrays_stay_within_the_least_budget_that_is_accepted(name: str, file: Path) -> None:
    call, stored = CALLS[name], dr.open(file)
    with pytest.raises(ResourceError, match="this run needs") as refused:
        call(stored, memory=1000)
    memory = refused.value.needed
    assert memory is not None
    call(stored, memory=memory)  # compiles
    tracemalloc.start()
    try:
        call(stored, memory=memory)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= memory  # pages come beside that, in memory of their own
