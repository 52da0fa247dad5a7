"""Betweenness of many sources on the GPU, one block per source, is what it is source by source."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest

import dromos as dr

pytestmark = pytest.mark.gpu


def _arcs(n: int, count: int) -> dr.Graph:
    src, dst = np.random.default_rng(7).integers(0, n, (2, count))
    return dr.Graph.from_edges(src, dst, num_vertices=n + 20)


def _diamonds(count: int) -> dr.Graph:
    """A chain in which every link doubles the number of shortest paths."""
    first = 3 * np.arange(count)
    ends = [(0, 1), (0, 2), (1, 3), (2, 3)]
    return dr.Graph.from_edges(
        np.concatenate([first + a for a, _ in ends]), np.concatenate([first + b for _, b in ends]), directed=False
    )


GRAPHS: dict[str, Callable[[], dr.Graph]] = {
    "path": lambda: dr.generators.path(80),
    "star": lambda: dr.Graph.from_edges(np.zeros(3000, int), np.arange(1, 3001), directed=False),
    "arcs": lambda: _arcs(300, 1500),
    "rmat": lambda: dr.generators.rmat(10, 8, seed=3, symmetrize=True),
    "grid": lambda: dr.generators.grid(20, 30),
    "parts": lambda: dr.Graph.from_edges(np.arange(0, 200, 2), np.arange(1, 200, 2), directed=False),
}


@pytest.mark.parametrize("endpoints", [False, True])
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS.keys())
def test_blocks_give_what_the_cpu_gives(make: Callable[[], dr.Graph], endpoints: bool) -> None:
    graph = make()
    sources = None if graph.num_vertices < 1000 else list(range(200))
    want = dr.betweenness(graph, sources=sources, endpoints=endpoints, device="cpu")
    found = dr.betweenness(graph, sources=sources, endpoints=endpoints, device="cuda")
    np.testing.assert_allclose(found.centrality, want.centrality, rtol=1e-9, atol=1e-12)
    again = dr.betweenness(graph, sources=sources, endpoints=endpoints, device="cuda")
    np.testing.assert_array_equal(found.centrality, again.centrality)


@pytest.mark.parametrize("uneven", [False, True], ids=["alike in a level", "with one path beside them"])
def test_more_paths_than_a_float_can_count(uneven: bool) -> None:
    links = 2200
    graph = _diamonds(links)
    sources = [0, 3 * links, *range(1300, 1370)]  # from both ends there are 2**2200 paths to the other
    if uneven:  # a level has a vertex with one path to it: such a source is done by itself
        edges, n = graph.edges(), graph.num_vertices
        beside = np.concatenate([[0], n + np.arange(2 * links)])
        graph = dr.Graph.from_edges(
            np.concatenate([edges.src, beside[:-1]]), np.concatenate([edges.dst, beside[1:]]), directed=False
        )
    want = dr.betweenness(graph, sources=sources, device="cpu")
    found = dr.betweenness(graph, sources=sources, device="cuda")
    np.testing.assert_allclose(found.centrality, want.centrality, rtol=1e-9)


def test_progress_is_told_and_sources_go_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("dromos.engines.cuda.native.brandes"), "_ARCS_A_LAUNCH", 1)
    told: list[tuple[int, int]] = []
    graph = GRAPHS["rmat"]()
    found = dr.betweenness(graph, device="cuda", progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (1024, 1024)
    assert len(told) > 1
    np.testing.assert_allclose(found.centrality, dr.betweenness(graph, device="cpu").centrality, rtol=1e-9)


def test_few_sources_and_large_graphs_take_the_whole_device() -> None:
    from dromos.engines.cuda.device_graph import device_graph
    from dromos.engines.cuda.native.brandes import blocks_for, blocks_that_fit

    small = device_graph(GRAPHS["rmat"]())
    assert blocks_for(small, 1) == 0
    assert blocks_for(small, 100) == 100
    small.num_arcs = 1 << 24  # 64 blocks of 2**18 arcs, as benchmarks/results/h200/betweenness_blocks.md has it
    assert (blocks_for(small, 40), blocks_for(small, 80)) == (0, 80)
    assert blocks_that_fit(small, 20) == 20  # though it would not pay
    small.num_arcs = 1 << 40
    assert blocks_for(small, 100) == 0
