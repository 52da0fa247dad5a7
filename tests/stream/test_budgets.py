"""What an algorithm holds beside pages counts in its budget, and a budget that is refused is refused at once."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.errors import InvalidArgumentError, ResourceError
from dromos.graph.store import write

N = 25_000
CALLS: dict[str, Callable[..., dr.Result]] = {
    "betweenness": lambda g, **how: dr.betweenness(g, sources=[1], **how),
    "closeness": lambda g, **how: dr.closeness(g, sources=[1, 2], **how),
    "distances by weight": lambda g, **how: dr.distances(g, [1], weight="weight", **how),
    "maximal_independent_set": lambda g, **how: dr.maximal_independent_set(g, **how),
    "multi_source_bfs": lambda g, **how: dr.multi_source_bfs(g, range(40), **how),
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


def test_groups_are_as_large_as_the_budget_allows(graph: dr.Graph, file: Path) -> None:
    stored, sources = dr.open(file), range(70)
    few, many = (dr.multi_source_bfs(stored, sources, depth_limit=3, memory=memory) for memory in ("4.8M", "100M"))
    assert (len(few.groups), len(many.groups)) == (2, 1)
    expected = dr.multi_source_bfs(graph, sources, depth_limit=3, device="numpy")
    for field in ("reached", "depth", "distance_sum", "inverse_sum"):
        np.testing.assert_allclose(few[field], expected[field], err_msg=field)
        np.testing.assert_allclose(many[field], expected[field], err_msg=field)
    with pytest.raises(InvalidArgumentError, match=r"by-hubs.*stay on disk"):
        dr.multi_source_bfs(stored, sources, grouping="by-hubs", memory="100M")
