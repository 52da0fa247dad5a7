"""Betweenness of edges on the GPU is that of the CPU, edge by edge in the same order."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given

import dromos as dr
from tests.algorithms.support import examples, graphs

pytestmark = pytest.mark.gpu


def _diamonds(count: int) -> dr.Graph:
    """A chain in which every link doubles the number of shortest paths."""
    first = 3 * np.arange(count)
    ends = [(0, 1), (0, 2), (1, 3), (2, 3)]
    return dr.Graph.from_edges(
        np.concatenate([first + a for a, _ in ends]), np.concatenate([first + b for _, b in ends]), directed=False
    )


def _arcs(n: int, count: int) -> dr.Graph:
    src, dst = np.random.default_rng(7).integers(0, n, (2, count))
    return dr.Graph.from_edges(src, dst, num_vertices=n + 20)


def _backwards(graph: dr.Graph) -> dr.Graph:
    """The same graph with every row in falling order."""
    rows = [graph.targets[a:b][::-1] for a, b in zip(graph.offsets, graph.offsets[1:], strict=False)]
    return dr.Graph.from_csr(graph.offsets, np.concatenate(rows), directed=graph.directed)


def _simple_arcs() -> dr.Graph:
    edges = _arcs(300, 1500).edges()
    return dr.Graph.from_edges(edges.src, edges.dst, num_vertices=320, dedupe=True, drop_self_loops=True)


GRAPHS: dict[str, Callable[[], dr.Graph]] = {
    "empty": lambda: dr.Graph.from_edges([], [], num_vertices=0, directed=False),
    "one vertex": lambda: dr.Graph.from_edges([], [], num_vertices=1),
    "one edge": lambda: dr.Graph.from_edges([1], [0], directed=False),
    "path": lambda: dr.generators.path(300),
    "star": lambda: dr.Graph.from_edges(np.zeros(3000, int), np.arange(1, 3001), directed=False),
    "arcs with loops and parallel edges": lambda: _arcs(300, 1500),
    "arcs in falling order": lambda: _backwards(_simple_arcs()),
    "rmat": lambda: dr.generators.rmat(10, 8, seed=3, symmetrize=True),
    "edges in falling order": lambda: _backwards(dr.generators.grid(20, 30)),
    "grid": lambda: dr.generators.grid(20, 30),
    "parts": lambda: dr.Graph.from_edges(np.arange(0, 200, 2), np.arange(1, 200, 2), directed=False),
}
BY_BLOCKS = pytest.mark.parametrize("by_blocks", [True, False], ids=["one block per source", "one by one"])


def _agree(found: dr.Result, want: dr.Result) -> None:
    assert found.device == "cuda"
    for end in ("source", "target"):
        np.testing.assert_array_equal(found[end], want[end])
        assert found[end].dtype == want[end].dtype
    np.testing.assert_allclose(found["centrality"], want["centrality"], rtol=1e-9, atol=1e-12)


@BY_BLOCKS
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS.keys())
def test_edges_have_what_the_cpu_gives_them(
    make: Callable[[], dr.Graph], by_blocks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not by_blocks:
        monkeypatch.setattr(import_module("dromos.engines.cuda.native.brandes"), "_MOST_ARCS", -1)
    graph = make()
    n = graph.num_vertices
    sources = None if n == 0 or (by_blocks and n < 1000) else list(range(min(40, n)))
    want = dr.edge_betweenness(graph, sources=sources, device="cpu")
    found = dr.edge_betweenness(graph, sources=sources, device="cuda")
    _agree(found, want)
    found.verify()
    again = dr.edge_betweenness(graph, sources=sources, device="cuda")
    np.testing.assert_array_equal(found.centrality, again.centrality)


@examples(30)
@given(graph=graphs(low=2, high=12))
def test_any_small_graph(graph: dr.Graph) -> None:
    for normalized in (False, True):
        want = dr.edge_betweenness(graph, normalized=normalized, device="cpu")
        _agree(dr.edge_betweenness(graph, normalized=normalized, device="cuda"), want)


@pytest.mark.parametrize("uneven", [False, True], ids=["alike in a level", "with one path beside them"])
def test_more_paths_than_a_float_can_count(uneven: bool) -> None:
    links = 2200
    graph = _diamonds(links)
    sources = [0, 3 * links, *range(1300, 1370)]  # from both ends there are 2**2200 paths to the other
    if uneven:  # a level has a vertex with one path to it, and a block cannot scale both
        edges, n = graph.edges(), graph.num_vertices
        beside = np.concatenate([[0], n + np.arange(2 * links)])
        graph = dr.Graph.from_edges(
            np.concatenate([edges.src, beside[:-1]]), np.concatenate([edges.dst, beside[1:]]), directed=False
        )
    want = dr.edge_betweenness(graph, sources=sources, device="cpu")
    _agree(dr.edge_betweenness(graph, sources=sources, device="cuda"), want)


def test_a_path_of_many_levels_is_left_to_the_cpu() -> None:
    graph = dr.generators.path(100_000)
    found = dr.edge_betweenness(graph, sources=[0, 70_000], normalized=False, device="cuda")
    assert found.device == "cpu"
    found.verify()


@pytest.mark.parametrize("offsets", [np.uint32, np.int64])
@pytest.mark.parametrize("directed", [True, False])
def test_wide_ids_and_offsets_give_the_same(offsets: type, directed: bool) -> None:
    import cupy

    from dromos.engines.cuda.device_graph import DeviceGraph, Rows
    from dromos.engines.cuda.native.edge_betweenness import edge_betweenness
    from dromos.engines.native.edge_betweenness import edge_betweenness as on_cpu

    graph, sources = dr.generators.rmat(9, 8, seed=3, dedupe=True, drop_self_loops=True), np.arange(50)
    rows = Rows(cupy.asarray(graph.offsets.astype(offsets)), cupy.asarray(graph.targets.astype(np.int64)))
    found = edge_betweenness(DeviceGraph(rows, None), sources=sources, directed=directed)
    for name, want in on_cpu(graph, sources=sources, directed=directed).items():
        np.testing.assert_allclose(found[name].values.get(), want, rtol=1e-9, atol=1e-12)


def test_values_by_arc_come_back_in_the_given_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each parallel arc gets its own, also where rows are sorted in pieces and were given in no order."""
    from dromos.engines.cuda import arc_values
    from dromos.engines.cuda.device_graph import device_graph

    rng = np.random.default_rng(3)
    degrees = rng.integers(0, 9, 400)
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    graph = dr.Graph.from_csr(offsets, rng.integers(0, 400, offsets[-1]), np.arange(float(offsets[-1])))
    copy = device_graph(graph)
    assert copy.rank is not None  # weights went the other way: they are the numbers of the given arcs
    for piece in (1 << 26, 50):
        monkeypatch.setattr(arc_values, "_PIECE", piece)
        found = arc_values.arcs_in_given_order(graph, copy, copy.out.weights)
        np.testing.assert_array_equal(found.get(), graph.weights)
