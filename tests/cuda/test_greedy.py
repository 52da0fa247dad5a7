"""Spanning forests and matchings on the GPU: the same rows and mates as on the CPU, and what NetworkX finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.dtypes import Array
from dromos.engines.cuda.native.fields import AsItIs
from dromos.engines.native import greedy
from tests.algorithms.support import as_networkx, examples, graphs

pytestmark = pytest.mark.gpu

ROWS = ("source", "target", "weight")


def _kron(scale: int, edge_factor: int = 8) -> dr.Graph:
    return dr.generators.rmat(scale, edge_factor, seed=scale, dedupe=True, drop_self_loops=True)


def _shuffled_path(n: int) -> dr.Graph:
    order = np.random.default_rng(5).permutation(n)
    return dr.Graph.from_edges(order[:-1], order[1:], num_vertices=n, directed=False)


SHAPES: Mapping[str, Callable[[], dr.Graph]] = {
    "empty": lambda: dr.Graph.from_edges([], [], num_vertices=0, directed=False),
    "one vertex": lambda: dr.Graph.from_edges([], [], num_vertices=1, directed=False),
    "a loop": lambda: dr.Graph.from_edges([0], [0], num_vertices=1, directed=False),
    "no edge": lambda: dr.Graph.from_edges([], [], num_vertices=40, directed=False),
    "one edge": lambda: dr.Graph.from_edges([1], [0], directed=False),
    "path": lambda: dr.generators.path(40_000),
    "shuffled path": lambda: _shuffled_path(40_000),
    "star": lambda: dr.generators.star(70_000),
    "complete": lambda: dr.generators.complete(300),
    "grid": lambda: dr.generators.grid(90, 110),
    "in parts": lambda: _kron(13, 1),
    "kron": lambda: _kron(12, 24),
    "with loops and parallel edges": lambda: dr.generators.rmat(11, 16, seed=3),
}

WEIGHTS: Mapping[str, Callable[[int], Array | None]] = {
    "none": lambda edges: None,
    "all alike": lambda edges: np.ones(edges, np.int32),
    "few": lambda edges: np.random.default_rng(1).integers(0, 4, edges).astype(np.int32),
    "int32": lambda edges: np.random.default_rng(1).integers(0, 2**31 - 1, edges).astype(np.int32),
    "float32": lambda edges: np.random.default_rng(2).random(edges).astype(np.float32),
    "float64": lambda edges: np.random.default_rng(3).random(edges),
    "far": lambda edges: np.random.default_rng(4).choice([0.0, -0.0, 1e-310, 2.0, 1e300, np.inf], edges),
}

EVERY_SHAPE = pytest.mark.parametrize("make", SHAPES.values(), ids=SHAPES.keys())
EVERY_WEIGHT = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())


def _weighing(graph: dr.Graph, weights: Callable[[int], Array | None]) -> dr.Graph:
    edges = graph.edges()
    return dr.Graph.from_edges(
        edges.src, edges.dst, weights(len(edges.src)), num_vertices=graph.num_vertices, directed=graph.directed
    )


def _same_forest(graph: dr.Graph, device: Any = "cuda", **options: Any) -> None:
    found = dr.minimum_spanning_forest(graph, device=device, **options)
    expected = dr.minimum_spanning_forest(graph, device="cpu", **options)
    assert found.device == "cuda"
    for name in ROWS:
        assert found[name].dtype == expected[name].dtype
        np.testing.assert_array_equal(found[name], expected[name])
    assert (found.count, found.total_weight) == (expected.count, expected.total_weight)


def _same_matching(graph: dr.Graph, device: Any = "cuda", **options: Any) -> None:
    found = dr.maximal_matching(graph, device=device, **options)
    expected = dr.maximal_matching(graph, device="cpu", **options)
    assert (found.device, found.mate.dtype) == ("cuda", expected.mate.dtype)
    np.testing.assert_array_equal(found.mate, expected.mate)
    assert (found.count, found.total_weight) == (expected.count, expected.total_weight)


@EVERY_WEIGHT
@EVERY_SHAPE
def test_forests_are_those_of_the_cpu(
    make: Callable[[], dr.Graph], weights: Callable[[int], Array | None]
) -> None:  # fmt: skip
    graph = _weighing(make(), weights)
    for maximum in (False, True):
        _same_forest(graph, maximum=maximum)


@EVERY_WEIGHT
@EVERY_SHAPE
def test_matchings_are_those_of_the_cpu(
    make: Callable[[], dr.Graph], weights: Callable[[int], Array | None]
) -> None:  # fmt: skip
    _same_matching(_weighing(make(), weights))


def test_the_direction_of_edges_is_not_looked_at() -> None:
    arcs = dr.generators.rmat(11, 6, seed=4).edges()
    for weights in WEIGHTS.values():
        _same_matching(dr.Graph.from_edges(arcs.src, arcs.dst, weights(len(arcs.src)), num_vertices=1 << 11))


@examples(60)
@given(
    graph=graphs(high=12, directed=False, weights=(-1.0, -0.0, 0.0, 1.0, 2.5, float("inf"))),
    maximum=st.booleans(),
)
def test_small_forests_weigh_what_networkx_finds(graph: dr.Graph, maximum: bool) -> None:
    result = dr.minimum_spanning_forest(graph, maximum, device="cuda")
    result.verify()
    find = nx.maximum_spanning_edges if maximum else nx.minimum_spanning_edges
    assert result.total_weight == pytest.approx(sum(data["weight"] for *_, data in find(as_networkx(graph), data=True)))
    _same_forest(graph, maximum=maximum)


@examples(60)
@given(graph=graphs(high=12, weights=(0.0, 1.0, 2.0, 7.0)))
def test_small_matchings_are_maximal(graph: dr.Graph) -> None:
    dr.maximal_matching(graph, device="cuda").verify()
    _same_matching(graph)


def test_the_least_and_the_greatest_integer() -> None:
    ends = np.array([-(2**31), 2**31 - 1, 5, 7, -(2**31), 2**31 - 1], np.int32)
    graph = dr.Graph.from_edges([0, 1, 2, 0, 3, 3], [1, 2, 0, 3, 1, 2], ends, directed=False)
    for maximum in (False, True):
        _same_forest(graph, maximum=maximum)


def test_rows_may_come_unsorted() -> None:
    rows = _weighing(_kron(9), WEIGHTS["few"])
    pieces = list(zip(rows.offsets, rows.offsets[1:], strict=False))
    turned = [np.concatenate([column[a:b][::-1] for a, b in pieces]) for column in (rows.targets, rows.weights)]
    backwards = dr.Graph.from_csr(rows.offsets, *turned, directed=False)
    _same_forest(backwards)
    _same_matching(backwards)
    _same_matching(backwards, weight=None)


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["none", "few", "int32", "float64"])
def test_arcs_may_lie_in_the_hosts_memory(kind: str, share: float) -> None:
    from dromos.engines.cuda import CudaEngine

    graph, engine = _weighing(_kron(11), WEIGHTS[kind]), CudaEngine({"share": share})
    _same_forest(graph, engine)
    _same_matching(graph, engine)


@pytest.mark.parametrize("renumber", [True, False], ids=["by degree", "as given"])
def test_kernels_that_ran_out_of_time_go_on_where_they_were(monkeypatch: pytest.MonkeyPatch, renumber: bool) -> None:
    from dromos.engines.cuda import CudaEngine

    for name in ("forest", "matching"):
        monkeypatch.setattr(import_module(f"dromos.engines.cuda.native.{name}"), "CYCLES", 0)
    graph, engine = _weighing(_kron(10), WEIGHTS["float32"]), CudaEngine({"renumber": renumber})
    _same_forest(graph, engine)
    _same_matching(graph, engine)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_what_rounds_leave_is_matched_on_the_host(monkeypatch: pytest.MonkeyPatch, rounds: int) -> None:
    module = import_module("dromos.engines.cuda.native.matching")
    monkeypatch.setattr(module, "_ROUNDS", rounds)
    monkeypatch.setattr(module, "_WORTH_A_ROUND", 1 << 40)
    monkeypatch.setattr(module, "_FEW", 0)
    for kind in ("none", "few", "float64"):
        _same_matching(_weighing(_kron(10, 24), WEIGHTS[kind]))


@pytest.mark.parametrize("offsets", [np.uint32, np.int64])
@pytest.mark.parametrize("targets", [np.int32, np.int64])
@pytest.mark.parametrize("kind", ["none", "float32", "float64"])
def test_wide_ids_and_offsets_give_the_same(kind: str, targets: type, offsets: type) -> None:
    import cupy

    from dromos.engines.cuda.device_graph import DeviceGraph, Rows

    graph = _weighing(_kron(9, 24), WEIGHTS[kind])
    weights = None if graph.weights is None else cupy.asarray(graph.weights)
    rows = Rows(cupy.asarray(graph.offsets.astype(offsets)), cupy.asarray(graph.targets.astype(targets)), weights)
    device = DeviceGraph(rows, None)
    options: dict[str, dict[str, Any]] = {"forest": {}, "matching": {"host": graph}}
    for name, more in options.items():
        found = getattr(import_module(f"dromos.engines.cuda.native.{name}"), name)(device, **more)
        for field, values in getattr(greedy, name)(graph).items():
            column = found[field].values if isinstance(found[field], AsItIs) else found[field]
            np.testing.assert_array_equal(column.get(), values)
