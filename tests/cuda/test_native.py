"""The native kernels on the GPU against SciPy, NetworkX and the plain ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import dromos as dr
from dromos.dtypes import Array
from dromos.engines.native import plain
from dromos.runner import on_host

pytestmark = pytest.mark.gpu


def _kernel(name: str) -> Callable[..., Mapping[str, Any]]:
    kernel: Callable[..., Mapping[str, Any]] = getattr(import_module(f"dromos.engines.cuda.native.{name}"), name)
    return kernel


def _shuffled_path(n: int) -> dr.Graph:
    order = np.random.default_rng(5).permutation(n)
    return dr.Graph.from_edges(order[:-1], order[1:], num_vertices=n, directed=False)


def _uniform(n: int, edges: int, seed: int = 1) -> dr.Graph:
    src, dst = np.random.default_rng(seed).integers(0, n, (2, edges))
    return dr.Graph.from_edges(
        src, dst, num_vertices=n, directed=False, dedupe=True, drop_self_loops=True
    )  # fmt: skip


def _rmat(scale: int, edge_factor: int = 16) -> dr.Graph:
    edges = dr.generators.kronecker(scale, edge_factor, seed=scale).edges()
    return dr.Graph.from_edges(
        edges.src, edges.dst, num_vertices=1 << scale, directed=False, dedupe=True, drop_self_loops=True
    )


def _arcs(scale: int, edge_factor: int) -> dr.Graph:
    edges = dr.generators.rmat(scale, edge_factor, seed=3).edges()
    return dr.Graph.from_edges(edges.src, edges.dst, num_vertices=1 << scale)


def _star(leaves: int) -> dr.Graph:
    middle = leaves // 3
    ends = np.delete(np.arange(leaves + 1), middle)
    return dr.Graph.from_edges(np.full(leaves, middle), ends, directed=False)


def _cliques(count: int, size: int) -> dr.Graph:
    low, high = np.triu_indices(size, 1)
    shift = size * np.arange(count)[:, None]
    return dr.Graph.from_edges(
        (low + shift).ravel(), (high + shift).ravel(), num_vertices=count * size + 3, directed=False
    )


UNDIRECTED: Mapping[str, Callable[[], dr.Graph]] = {
    "empty": lambda: dr.Graph.from_edges([], [], num_vertices=0, directed=False),
    "one vertex": lambda: dr.Graph.from_edges([], [], num_vertices=1, directed=False),
    "no edge": lambda: dr.Graph.from_edges([], [], num_vertices=40, directed=False),
    "one edge": lambda: dr.Graph.from_edges([1], [0], directed=False),
    "path": lambda: dr.generators.path(2000),
    "shuffled path": lambda: _shuffled_path(3000),
    "star": lambda: _star(70_000),
    "complete": lambda: dr.generators.complete(300),
    "cliques": lambda: _cliques(20, 40),
    "more arcs down than an item holds": lambda: dr.generators.complete(1100),
    "sparse": lambda: _rmat(13, 1),
    "rmat": lambda: _rmat(12),
    "more vertices than hubs": lambda: _uniform(30_000, 500_000),
}

DIRECTED: Mapping[str, Callable[[], dr.Graph]] = {
    "path": lambda: dr.Graph.from_edges(np.arange(4000), np.arange(1, 4001)),
    "path backwards": lambda: dr.Graph.from_edges(np.arange(1, 4001), np.arange(4000)),
    "star out": lambda: dr.Graph.from_edges(np.zeros(30_000, int), np.arange(1, 30_001)),
    "star in": lambda: dr.Graph.from_edges(np.arange(1, 30_001), np.zeros(30_000, int)),
    "sparse": lambda: _arcs(13, 1),
    "rmat with loops and parallel edges": lambda: _arcs(11, 8),
}

RENUMBERED = pytest.mark.parametrize("renumber", [True, False], ids=["by degree", "as given"])


def _run(name: str, graph: dr.Graph, *, renumber: bool = True, **options: Any) -> dict[str, Array]:
    from dromos.engines.cuda.device_graph import DeviceGraph

    device = DeviceGraph.from_host(graph, renumber=renumber)
    fields = _kernel(name)(device, **options)
    return {
        field: device.to_given_order(values).get() if getattr(values, "ndim", 0) else on_host(values)
        for field, values in fields.items()
    }


def _least_of_component(graph: dr.Graph) -> Array:
    n = graph.num_vertices
    if n == 0:
        return np.zeros(0, np.int64)
    matrix = csr_array((np.ones(graph.num_arcs, bool), graph.targets, graph.offsets), shape=(n, n))
    _, component = connected_components(matrix, directed=False)
    least = np.full(component.max() + 1, n)
    np.minimum.at(least, component, np.arange(n))
    return least[component]


def _core_numbers(graph: dr.Graph) -> list[int]:
    edges = graph.edges()
    peer = nx.empty_graph(graph.num_vertices)
    peer.add_edges_from(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
    found = nx.core_number(peer)
    return [found[v] for v in range(graph.num_vertices)]


@RENUMBERED
@pytest.mark.parametrize("make", UNDIRECTED.values(), ids=UNDIRECTED.keys())
def test_undirected_components_have_their_least_given_id(make: Callable[[], dr.Graph], renumber: bool) -> None:
    graph = make()
    found, expected = _run("components", graph, renumber=renumber), _least_of_component(graph)
    np.testing.assert_array_equal(found["label"], expected)
    assert int(found["count"]) == len(np.unique(expected))


@RENUMBERED
@pytest.mark.parametrize("make", DIRECTED.values(), ids=DIRECTED.keys())
def test_arcs_join_components_in_both_directions(make: Callable[[], dr.Graph], renumber: bool) -> None:
    graph = make()
    found, expected = _run("components", graph, renumber=renumber), _least_of_component(graph)
    np.testing.assert_array_equal(found["label"], expected)
    assert int(found["count"]) == len(np.unique(expected))


@RENUMBERED
@pytest.mark.parametrize("make", UNDIRECTED.values(), ids=UNDIRECTED.keys())
def test_core_numbers_are_those_of_networkx(make: Callable[[], dr.Graph], renumber: bool) -> None:
    graph = make()
    assert _run("cores", graph, renumber=renumber)["core"].tolist() == _core_numbers(graph)


@pytest.mark.parametrize("make", UNDIRECTED.values(), ids=UNDIRECTED.keys())
def test_a_core_is_what_its_program_says(make: Callable[[], dr.Graph]) -> None:
    graph = make()
    for k in (0, 1, 2, 7, 20, 1 << 20, 1 << 40):
        found, expected = dr.k_core(graph, k, device="cuda"), dr.k_core(graph, k, device="numpy")
        np.testing.assert_array_equal(found.member, expected.member)
        np.testing.assert_array_equal(found.degree, expected.degree)
        assert (found.count, found.degree.dtype) == (expected.count, expected.degree.dtype)


def test_parallel_edges_count_in_cores() -> None:
    graph = dr.Graph.from_edges([0, 0, 0, 1, 3], [1, 1, 1, 2, 4], directed=False)
    assert _run("cores", graph)["core"].tolist() == [3, 3, 1, 1, 1]


def _triangles(graph: dr.Graph) -> Array:
    n = graph.num_vertices
    if n > 5000:
        return plain.triangles(graph)["triangles"]
    near = np.zeros((n, n))
    near[np.repeat(np.arange(n), graph.out_degree), graph.targets] = 1
    return ((near @ near) * near).sum(axis=1) // 2


@RENUMBERED
@pytest.mark.parametrize("make", UNDIRECTED.values(), ids=UNDIRECTED.keys())
def test_triangles_are_half_the_closed_walks(make: Callable[[], dr.Graph], renumber: bool) -> None:
    graph = make()
    want = _triangles(graph)
    np.testing.assert_array_equal(_run("triangles", graph, renumber=renumber)["triangles"], want)


@pytest.mark.parametrize("make", UNDIRECTED.values(), ids=UNDIRECTED.keys())
def test_the_total_alone_is_a_third_of_the_sum(make: Callable[[], dr.Graph]) -> None:
    from dromos.engines.cuda.device_graph import DeviceGraph
    from dromos.engines.cuda.native.triangles import triangles

    device = DeviceGraph.from_host(make())
    assert 3 * int(triangles(device, counts=False)["total"][0]) == int(triangles(device)["triangles"].sum())


@RENUMBERED
@pytest.mark.parametrize("make", UNDIRECTED.values(), ids=UNDIRECTED.keys())
def test_labels_spread_as_in_the_plain_rounds(make: Callable[[], dr.Graph], renumber: bool) -> None:
    graph = make()
    for rounds in (0, 1, 3):
        want = plain.cdlp(graph, max_iter=rounds, directed=False)
        found = _run("cdlp", graph, renumber=renumber, max_iter=rounds, directed=False)
        for field in ("label", "previous"):
            np.testing.assert_array_equal(found[field], want[field], err_msg=f"{field} after {rounds} rounds")


@RENUMBERED
@pytest.mark.parametrize("directed", [True, False], ids=["both directions", "out-arcs alone"])
@pytest.mark.parametrize("make", DIRECTED.values(), ids=DIRECTED.keys())
def test_labels_spread_along_arcs(make: Callable[[], dr.Graph], directed: bool, renumber: bool) -> None:
    graph = make()
    want = plain.cdlp(graph, max_iter=2, directed=directed)
    found = _run("cdlp", graph, renumber=renumber, max_iter=2, directed=directed)
    np.testing.assert_array_equal(found["label"], want["label"])


def test_a_row_too_long_for_the_tables_is_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("dromos.engines.cuda.native.cdlp"), "_MOST", 5000)
    graph = _star(9000)
    want = plain.cdlp(graph, max_iter=2, directed=False)["label"]
    np.testing.assert_array_equal(_run("cdlp", graph, max_iter=2, directed=False)["label"], want)


@pytest.mark.parametrize("name", ["cores", "triangles"])
def test_a_kernel_that_ran_out_of_time_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    graph = _rmat(9)
    want = _run(name, graph)
    monkeypatch.setattr(import_module(f"dromos.engines.cuda.native.{name}"), "CYCLES", 0)
    for field, values in _run(name, graph).items():
        np.testing.assert_array_equal(values, want[field])


@pytest.mark.parametrize("offsets", [np.uint32, np.int64])
@pytest.mark.parametrize("targets", [np.int32, np.int64])
@pytest.mark.parametrize("name", ["components", "cores", "cdlp", "triangles"])
def test_wide_ids_and_offsets_give_the_same(name: str, targets: type, offsets: type) -> None:
    import cupy

    from dromos.engines.cuda.device_graph import DeviceGraph, Rows

    graph = _rmat(9)
    options: dict[str, Any] = {"max_iter": 3, "directed": False} if name == "cdlp" else {}
    device = DeviceGraph(
        Rows(cupy.asarray(graph.offsets.astype(offsets)), cupy.asarray(graph.targets.astype(targets))), None
    )
    want = _run(name, graph, **options)
    for field, values in _kernel(name)(device, **options).items():
        np.testing.assert_array_equal(on_host(values), want[field])


def test_rows_may_come_unsorted() -> None:
    sorted_rows = _rmat(8)
    backwards = [
        sorted_rows.targets[a:b][::-1] for a, b in zip(sorted_rows.offsets, sorted_rows.offsets[1:], strict=False)
    ]
    graph = dr.Graph.from_csr(sorted_rows.offsets, np.concatenate(backwards), directed=False)
    for renumber in (True, False):
        np.testing.assert_array_equal(_run("triangles", graph, renumber=renumber)["triangles"], _triangles(graph))
        np.testing.assert_array_equal(_run("components", graph, renumber=renumber)["label"], _least_of_component(graph))
