"""Truss numbers and colours on the GPU against the CPU's kernels, NetworkX and their own verifiers."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.arguments import simple
from dromos.algorithms.coloring import verify as verify_coloring
from dromos.algorithms.truss_numbers import verify as verify_trusses
from dromos.dtypes import Array
from dromos.engines.cuda.native.wants import Wants
from dromos.engines.native.greedy import coloring as cpu_coloring
from dromos.engines.native.trusses import trusses as cpu_trusses
from dromos.errors import DeviceError, ResourceError
from tests.algorithms.support import examples, graphs
from tests.cuda.test_native import RENUMBERED, UNDIRECTED, _rmat, _star, _uniform

pytestmark = pytest.mark.gpu


def _device_graph(graph: dr.Graph, renumber: bool) -> Any:
    from dromos.engines.cuda.device_graph import DeviceGraph

    return DeviceGraph.from_host(graph, renumber=renumber)


def _trusses(graph: dr.Graph, renumber: bool = True) -> Array:
    from dromos.engines.cuda.native.trusses import trusses

    return trusses(_device_graph(graph, renumber), edges=graph.edges())["truss"]


def _coloring(graph: dr.Graph, order: Array, by_degree: bool, renumber: bool = True) -> Array:
    from dromos.engines.cuda.native.coloring import coloring

    device = _device_graph(graph, renumber)
    color: Array = device.to_given_order(coloring(device, order=order, by_degree=by_degree)["color"]).get()
    return color


def _two_hubs(leaves: int) -> dr.Graph:
    """Two vertices that share nearly all of their many neighbours, with some edges among those."""
    leaf = np.arange(2, leaves + 2)
    some = np.random.default_rng(4).integers(2, leaves + 2, (2, leaves // 2))
    src = np.concatenate([np.zeros(leaves), np.ones(leaves - 5), some[0], [0]]).astype(int)
    dst = np.concatenate([leaf, leaf[5:], some[1], [1]])
    return dr.Graph.from_edges(src, dst, directed=False, dedupe=True, drop_self_loops=True)


def _tube(length: int) -> dr.Graph:
    """A triangulated tube, which is peeled from its ends, ring by ring."""
    ring, place = np.divmod(np.arange(4 * length), 4)
    here, right = 4 * ring + place, 4 * ring + (place + 1) % 4
    inner = ring < length - 1
    src = np.concatenate([here, here[inner], here[inner]])
    dst = np.concatenate([right, here[inner] + 4, right[inner] + 4])
    return dr.Graph.from_edges(src, dst, directed=False)


GRAPHS = dict(UNDIRECTED) | {"two hubs": lambda: _two_hubs(20_000), "tube": lambda: _tube(700)}
every_graph = pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS.keys())


@RENUMBERED
@every_graph
def test_trusses_are_those_of_the_cpu(make: Callable[[], dr.Graph], renumber: bool) -> None:
    graph = make()
    want = cpu_trusses(graph, edges=graph.edges())["truss"]
    found = _trusses(graph, renumber)
    np.testing.assert_array_equal(found, want)
    assert found.dtype == want.dtype


@RENUMBERED
@pytest.mark.parametrize("by_degree", [True, False], ids=["by falling degree", "in the order itself"])
@every_graph
def test_colours_are_those_of_one_after_the_other(
    make: Callable[[], dr.Graph], by_degree: bool, renumber: bool
) -> None:
    graph = make()
    order = np.random.default_rng(8).permutation(graph.num_vertices)
    want = cpu_coloring(graph, order=order, by_degree=by_degree)["color"]
    found = _coloring(graph, order, by_degree, renumber)
    np.testing.assert_array_equal(found, want)
    assert found.dtype == want.dtype


def test_colours_along_a_path_in_its_own_order() -> None:
    """Nobody has a colour before the one before has it: as many rounds as vertices."""
    graph = dr.generators.path(3000)
    assert _coloring(graph, np.arange(3000), by_degree=False).tolist() == [0, 1] * 1500


@examples(30)
@given(graph=graphs(low=0, high=14), seed=st.integers(0, 3), order=st.sampled_from(["degree", "random"]))
def test_any_graph_is_coloured_alike_on_both(graph: dr.Graph, seed: int, order: str) -> None:
    """Loops, parallel edges and directions included."""
    found = dr.coloring(graph, order, seed, device="cuda")
    assert found.device == "cuda"
    np.testing.assert_array_equal(found.color, dr.coloring(graph, order, seed, device="cpu").color)
    found.verify()


@examples(30)
@given(graph=graphs(low=0, high=14, directed=False))
def test_trusses_of_any_graph_are_those_of_networkx(graph: dr.Graph) -> None:
    found = dr.truss_numbers(graph, device="cuda")
    assert found.device == "cuda"
    edges = simple(graph).edges()
    other = nx.empty_graph(graph.num_vertices)
    other.add_edges_from(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
    for k in range(2, int(found.max_truss) + 2):
        inside = found.truss >= k
        pairs = {
            tuple(sorted(pair))
            for pair in zip(found.source[inside].tolist(), found.target[inside].tolist(), strict=True)
        }
        assert pairs == {tuple(sorted(pair)) for pair in nx.k_truss(other, k).edges}


def test_large_answers_are_verified() -> None:
    graph = _rmat(11)
    verify_trusses(graph, dr.truss_numbers(graph, device="cuda").truss)
    for order in ("degree", "random"):
        verify_coloring(graph, dr.coloring(graph, order, device="cuda").color)


@pytest.mark.parametrize("make", [lambda: _rmat(12), lambda: _uniform(3000, 90_000), lambda: _star(9000)])
def test_the_same_every_time(make: Callable[[], dr.Graph]) -> None:
    graph = make()
    truss, color = dr.truss_numbers(graph, device="cuda").truss, dr.coloring(graph, device="cuda").color
    for _ in range(5):
        np.testing.assert_array_equal(dr.truss_numbers(graph, device="cuda").truss, truss)
        np.testing.assert_array_equal(dr.coloring(graph, device="cuda").color, color)


def test_rows_are_packed_when_half_of_the_edges_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = import_module("dromos.engines.cuda.native.trusses")
    monkeypatch.setattr(module, "_WORTH_PACKING", 8)
    packings, pack = [], module._packed
    monkeypatch.setattr(module, "_packed", lambda *given: packings.append(1) or pack(*given))
    graph = _rmat(11)
    np.testing.assert_array_equal(_trusses(graph), cpu_trusses(graph, edges=graph.edges())["truss"])
    assert len(packings) > 1


@pytest.mark.parametrize("cycles", [0, 30_000])
def test_kernels_that_run_out_of_time_go_on_where_they_were(monkeypatch: pytest.MonkeyPatch, cycles: int) -> None:
    graph = _rmat(10)
    order = np.random.default_rng(1).permutation(graph.num_vertices)
    for name in ("trusses", "coloring"):
        monkeypatch.setattr(import_module(f"dromos.engines.cuda.native.{name}"), "CYCLES", cycles)
    np.testing.assert_array_equal(_trusses(graph), cpu_trusses(graph, edges=graph.edges())["truss"])
    want = cpu_coloring(graph, order=order, by_degree=True)["color"]
    np.testing.assert_array_equal(_coloring(graph, order, by_degree=True), want)


@pytest.mark.parametrize("offsets", [np.uint32, np.int64])
@pytest.mark.parametrize("targets", [np.int32, np.int64])
def test_wide_ids_and_offsets(targets: type, offsets: type) -> None:
    import cupy

    from dromos.engines.cuda.device_graph import DeviceGraph, Rows
    from dromos.engines.cuda.native.coloring import coloring
    from dromos.engines.cuda.native.trusses import trusses

    graph = _rmat(10)
    rows = Rows(cupy.asarray(graph.offsets.astype(offsets)), cupy.asarray(graph.targets.astype(targets)))
    device, order = DeviceGraph(rows, None), np.random.default_rng(1).permutation(graph.num_vertices)
    want = cpu_trusses(graph, edges=graph.edges())["truss"]
    np.testing.assert_array_equal(trusses(device, edges=graph.edges())["truss"], want)
    want = cpu_coloring(graph, order=order, by_degree=True)["color"]
    np.testing.assert_array_equal(coloring(device, order=order, by_degree=True)["color"].get(), want)


def test_rows_that_come_unsorted() -> None:
    tidy = _rmat(8)
    rows = [tidy.targets[a:b][::-1] for a, b in zip(tidy.offsets, tidy.offsets[1:], strict=False)]
    graph = dr.Graph.from_csr(tidy.offsets, np.concatenate(rows), directed=False)
    want = cpu_trusses(graph, edges=graph.edges())["truss"]
    for renumber in (True, False):
        np.testing.assert_array_equal(_trusses(graph, renumber), want)


def test_a_graph_too_large_for_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for the GPU is told; who does not gets the CPU's answer."""
    module: Any = import_module("dromos.engines.cuda.native.trusses")
    graph = _rmat(13)
    found = dr.truss_numbers(graph)
    assert found.device == "cuda"
    monkeypatch.setattr(module, "WANTS", Wants(bytes_per_arc=1 << 40))
    with pytest.raises(ResourceError, match="GPU's memory is too little"):
        dr.truss_numbers(_rmat(13), device="cuda")
    other = dr.truss_numbers(_rmat(13))
    assert other.device == "cpu"
    np.testing.assert_array_equal(other.truss, found.truss)


def test_a_device_that_is_full_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy

    graph = _rmat(13)
    device = dr.coloring(graph, device="cuda")

    def full(*given: Any, **more: Any) -> Any:
        raise cupy.cuda.memory.OutOfMemoryError(1, 0, 0)

    monkeypatch.setattr(cupy, "empty", full)
    with pytest.raises(DeviceError, match="the GPU's memory is full: coloring found no room"):
        dr.coloring(graph, device="cuda")
    monkeypatch.undo()
    np.testing.assert_array_equal(dr.coloring(graph, device="cuda").color, device.color)
