"""What an algorithm holds beside pages counts in its budget, and a budget that is refused is refused at once."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cpu import memory as cpu_memory
from dromos.errors import InvalidArgumentError, ResourceError
from dromos.graph.store import write
from dromos.places.stream import budget, engine

N = 150_000  # so many that a megabyte is 7 bytes per vertex
ALLOWED = 1 << 20  # bytes of what does not grow with the vertices: tables of threads, blocks of temporary arrays

CALLS: dict[str, Callable[..., dr.Result]] = {
    "belief_propagation": lambda g, **how: dr.belief_propagation(
        g, SOME, [[0.02, -0.02], [-0.02, 0.02]], weight=None, max_iter=2, on_limit="return", **how
    ),
    "betweenness": lambda g, **how: dr.betweenness(g, sources=[1], **how),
    "bridges": lambda g, **how: dr.bridges(g, **how),
    "closeness": lambda g, **how: dr.closeness(g, sources=[1, 2], **how),
    "coloring": lambda g, **how: dr.coloring(g, **how),
    "distances by weight": lambda g, **how: dr.distances(g, [1], weight="weight", **how),
    "hits": lambda g, **how: dr.hits(g, max_iter=2, on_limit="return", weight=None, **how),
    "k_core": lambda g, **how: dr.k_core(g, **how),
    "katz": lambda g, **how: dr.katz(g, alpha=1e-6, weight=None, **how),
    "maximal_independent_set": lambda g, **how: dr.maximal_independent_set(g, **how),
    "multi_source_bfs": lambda g, **how: dr.multi_source_bfs(g, range(40), **how),
    "neighbourhood_function": lambda g, **how: dr.neighbourhood_function(g, registers=16, max_distance=1, **how),
    "pagerank by residuals": lambda g, **how: dr.pagerank(g, method="delta", tol=1e-3, weight=None, **how),
    "pagerank by residuals, with jumps": lambda g, **how: dr.pagerank(
        g, method="delta", tol=1e-2, weight=None, personalization=SOME[:, 0], **how
    ),
    "pagerank with jumps": lambda g, **how: dr.pagerank(
        g,
        personalization=SOME[:, 0],
        nstart={1: 1.0},
        dangling={2: 1.0},
        weight=None,
        max_iter=2,
        on_limit="return",
        **how,
    ),
}
OF_DIRECTED: dict[str, Callable[..., dr.Result]] = {
    "hits": lambda g, **how: dr.hits(g, max_iter=3, on_limit="return", **how),
    "spmv": lambda g, **how: dr.spmv(g, SOME[:, 0], **how),
    "strongly_connected_components": lambda g, **how: dr.strongly_connected_components(g, **how),
}
NEVER_WRITTEN = {"hits", "katz", "pagerank with jumps"}
"""Their vertices are always active. Two lists of ids are allocated all the same, which take no memory."""
SOME = np.full((N, 2), 0.5)


def some_edges(vertices: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Many vertices, few arcs, and a hub: what is held for each vertex is most of the memory."""
    draw = np.random.default_rng(4)
    src, dst = draw.integers(0, vertices, (2, 2 * vertices))
    dst[:300] = 5
    return src, dst, draw.integers(1, 9, len(src)).astype(np.float32)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("budgets") / "graph.drm"
    write(dr.Graph.from_edges(*some_edges(N), num_vertices=N, directed=False, dedupe=True, drop_self_loops=True), path)
    return path


@pytest.fixture(scope="module")
def directed_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("budgets") / "directed.drm"
    src, dst, _ = some_edges(N)
    src[:9] = dst[:9]  # self-loops count apart
    write(dr.Graph.from_edges(src, dst, num_vertices=N, directed=True), path, transpose=True)
    return path


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What runs plan to hold beside pages; and all arrays come from NumPy, so that they can be counted."""
    monkeypatch.setattr(cpu_memory, "_SMALL", 1 << 62)
    monkeypatch.setattr(cpu_memory, "_HUGE_PAGE", 1 << 62)
    found: list[int] = []
    plan_memory = budget.plan_memory

    def plan(*args: Any, **options: Any) -> budget.MemoryPlan:
        made = plan_memory(*args, **options)
        found.append(made.state + made.graph + made.tables)
        return made

    monkeypatch.setattr(budget, "plan_memory", plan)
    monkeypatch.setattr(engine, "plan_memory", plan)
    return found


def check_arrays(call: Callable[..., dr.Result], file: Path, planned: list[int], never_written: int = 0) -> None:
    stored = dr.open(file)
    with pytest.raises(ResourceError, match="this run needs") as refused:
        call(stored, memory=1000)
    memory = refused.value.needed
    assert memory is not None
    call(stored, memory=memory)  # compiles; and no later program is refused
    stored = dr.open(file)
    planned.clear()
    tracemalloc.start()
    try:
        call(stored, memory=memory)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - never_written <= max(planned) + ALLOWED  # pages come beside that, in memory of their own


@pytest.mark.parametrize("name", CALLS)
def test_arrays_stay_within_the_least_budget_that_is_accepted(name: str, file: Path, planned: list[int]) -> None:
    check_arrays(CALLS[name], file, planned, 2 * 4 * N * (name in NEVER_WRITTEN))


@pytest.mark.parametrize("name", OF_DIRECTED)
def test_arrays_of_a_directed_graph_stay_within_the_least_budget(
    name: str, directed_file: Path, planned: list[int]
) -> None:
    check_arrays(OF_DIRECTED[name], directed_file, planned)


def test_groups_are_as_large_as_the_budget_allows(tmp_path: Path) -> None:
    n, file = 25_000, tmp_path / "graph.drm"
    graph = dr.Graph.from_edges(*some_edges(n), num_vertices=n, directed=False, dedupe=True, drop_self_loops=True)
    write(graph, file)
    stored, sources = dr.open(file), range(70)
    few, many = (dr.multi_source_bfs(stored, sources, depth_limit=3, memory=memory) for memory in ("4.8M", "100M"))
    assert (len(few.groups), len(many.groups)) == (2, 1)
    expected = dr.multi_source_bfs(graph, sources, depth_limit=3, device="numpy")
    for field in ("reached", "depth", "distance_sum", "inverse_sum"):
        np.testing.assert_allclose(few[field], expected[field], err_msg=field)
        np.testing.assert_allclose(many[field], expected[field], err_msg=field)
    with pytest.raises(InvalidArgumentError, match=r"by-hubs.*stay on disk"):
        dr.multi_source_bfs(stored, sources, grouping="by-hubs", memory="100M")
