"""Random walks on the GPU are those of the CPU, vertex by vertex."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from tests.algorithms.support import examples, graphs

pytestmark = pytest.mark.gpu


def _weighted(kind: Any, low: float = 0, high: float = 9) -> dr.Graph:
    graph = dr.generators.rmat(10, 8, seed=3)  # with loops and parallel edges
    weights = np.random.default_rng(1).uniform(low, high, graph.num_arcs)
    return dr.Graph.from_csr(graph.offsets, graph.targets, weights.astype(kind))


def _in_no_order() -> dr.Graph:
    rng = np.random.default_rng(3)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 9, 400))])
    return dr.Graph.from_csr(offsets, rng.integers(0, 400, offsets[-1]), rng.random(offsets[-1]))


GRAPHS: dict[str, Callable[[], dr.Graph]] = {
    "empty": lambda: dr.Graph.from_edges([], [], num_vertices=0),
    "one vertex": lambda: dr.Graph.from_edges([], [], num_vertices=1),
    "a loop": lambda: dr.Graph.from_edges([0, 1], [0, 0]),
    "path": lambda: dr.generators.path(200),
    "arcs that end": lambda: dr.Graph.from_edges(np.arange(99), np.arange(1, 100)),
    "star": lambda: dr.Graph.from_edges(np.zeros(5000, int), np.arange(1, 5001), directed=False),
    "star with weights": lambda: dr.generators.with_random_weights(
        dr.Graph.from_edges(np.zeros(5000, int), np.arange(1, 5001), directed=False), 0, 5, seed=1
    ),
    "rmat": lambda: dr.generators.rmat(10, 8, seed=3, symmetrize=True),
    "float weights": lambda: _weighted(np.float64),
    "short floats": lambda: _weighted(np.float32),
    "whole weights, many of them zero": lambda: _weighted(np.int32, 0, 1.3),
    "weights of all sizes": lambda: dr.Graph.from_edges(
        [0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1], [1e-300, 1e300, 5e-324, 1e-320, 1.0, 1e-17]
    ),
    "rows in no order": _in_no_order,
}
BIASES = pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 4.0), (3.0, 0.5)])


def _agree(graph: dr.Graph, *given: Any, **options: Any) -> None:
    want, found = (dr.random_walks(graph, *given, device=device, **options) for device in ("cpu", "cuda"))
    assert (want.device, found.device) == ("cpu", "cuda")
    np.testing.assert_array_equal(found.walk, want.walk)
    assert found.walk.dtype == want.walk.dtype


@BIASES
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS.keys())
def test_walks_are_those_of_the_cpu(make: Callable[[], dr.Graph], p: float, q: float) -> None:
    graph = make()
    for length, walks, seed in ((20, 3, 1), (0, 1, 2), (1, 2, 2**62)):
        _agree(graph, length, walks, p=p, q=q, seed=seed)


@examples(40)
@given(
    graph=graphs(low=1, high=9, weights=(0.0, 0.5, 1.0, 3.0)),
    bias=st.sampled_from(((1.0, 1.0), (0.5, 2.0), (4.0, 0.25))),
    seed=st.integers(0, 3),
)
def test_any_small_graph(graph: dr.Graph, bias: tuple[float, float], seed: int) -> None:
    _agree(graph, 9, 3, p=bias[0], q=bias[1], seed=seed)
    _agree(graph, 9, 3, p=bias[0], q=bias[1], seed=seed, weight=None)


@pytest.mark.parametrize("weight", ["weight", None])
def test_neighbours_are_all_weighed_where_draws_are_refused(weight: str | None) -> None:
    graph = dr.generators.with_random_weights(dr.generators.grid(9, 9), 0, 5, seed=1)
    _agree(graph, 12, 2, p=1e6, q=1e6, seed=5, weight=weight)
    star = dr.Graph.from_edges(np.zeros(100, int), np.arange(1, 101), np.arange(1.0, 101), directed=False)
    _agree(star, 6, 2, p=1e7, q=1e6, seed=5, weight=weight)


@BIASES
def test_walks_in_portions(monkeypatch: pytest.MonkeyPatch, p: float, q: float) -> None:
    monkeypatch.setattr(import_module("dromos.engines.cuda.native.walks"), "_PORTION", 5000)
    for make in (GRAPHS["rmat"], GRAPHS["float weights"]):
        _agree(make(), 17, 2, p=p, q=q)


@pytest.mark.parametrize("offsets", [np.uint32, np.int64])
def test_wide_ids_and_offsets_give_the_same(offsets: type) -> None:
    import cupy

    from dromos.engines.cuda.device_graph import DeviceGraph, Rows
    from dromos.engines.cuda.native.walks import walks
    from dromos.engines.native.walks import walks as on_cpu

    graph, starts = _weighted(np.float64), np.arange(300)
    given = (graph.offsets.astype(offsets), graph.targets.astype(np.int64), graph.weights)
    copy = DeviceGraph(Rows(*map(cupy.asarray, given)), None)
    for p, q in ((1.0, 1.0), (0.5, 2.0)):
        options = {"starts": starts, "length": 10, "p": p, "q": q, "seed": 3}
        np.testing.assert_array_equal(walks(copy, **options)["walk"].values, on_cpu(graph, **options)["walk"])


def test_few_walks_of_a_large_graph_are_taken_by_the_cpu_unless_a_gpu_is_asked_for() -> None:
    graph = dr.generators.rmat(14, 16, seed=1)
    few = dr.random_walks(graph, 5, 1, sources=[3])
    many = dr.random_walks(graph, 80, 1)
    assert (few.device, many.device) == ("cpu", "cuda")
