"""Similar vertices on the GPU are those of the CPU, pair by pair in the same order."""

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


def _arcs() -> dr.Graph:
    edges = dr.generators.rmat(10, 8, seed=3).edges()
    return dr.Graph.from_edges(edges.src, edges.dst, num_vertices=1024)


METRICS = ("jaccard", "overlap", "cosine")
GRAPHS: dict[str, Callable[[], dr.Graph]] = {
    "empty": lambda: dr.Graph.from_edges([], [], num_vertices=0),
    "no edge": lambda: dr.Graph.from_edges([], [], num_vertices=40),
    "one edge": lambda: dr.Graph.from_edges([1], [0], directed=False),
    "path": lambda: dr.generators.path(300),
    "grid": lambda: dr.generators.grid(40, 50),
    "complete": lambda: dr.generators.complete(300),  # all pairs are alike: ids decide
    "star": lambda: dr.Graph.from_edges(np.full(3000, 700), np.delete(np.arange(3001), 700), directed=False),
    "arcs with loops and parallel edges": _arcs,
    "hubs": lambda: dr.generators.rmat(11, 16, seed=3, symmetrize=True),
}


def _agree(graph: dr.Graph, **options: Any) -> None:
    want, found = (dr.node_similarity(graph, device=device, **options) for device in ("cpu", "cuda"))
    assert (want.device, found.device) == ("cpu", "cuda")
    for name in ("source", "target", "similarity"):
        np.testing.assert_array_equal(found[name], want[name])
        assert found[name].dtype == want[name].dtype


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS.keys())
def test_pairs_are_those_of_the_cpu(make: Callable[[], dr.Graph], metric: str) -> None:
    graph = make()
    for k in (1, 10):
        _agree(graph, k=k, metric=metric)


@examples(40)
@given(graph=graphs(low=1, high=9), metric=st.sampled_from(METRICS), k=st.integers(1, 4))
def test_any_small_graph(graph: dr.Graph, metric: str, k: int) -> None:
    _agree(graph, metric=metric, k=k)


@pytest.mark.parametrize("walks", [(0, 0), (1 << 8, 1 << 9)], ids=["by blocks", "by warps where they can"])
@pytest.mark.parametrize("metric", METRICS)
def test_both_ways_to_count(monkeypatch: pytest.MonkeyPatch, walks: tuple[int, int], metric: str) -> None:
    monkeypatch.setattr(import_module("dromos.engines.cuda.native.similarity"), "_WALKS", walks)
    for name in ("path", "grid", "arcs with loops and parallel edges"):
        _agree(GRAPHS[name](), k=5, metric=metric, sources=range(250, 40, -1))


@pytest.mark.parametrize("k", [100, 1024, 1500, 10**6])
@pytest.mark.parametrize("name", ["star", "hubs", "arcs with loops and parallel edges"])
def test_more_of_them_than_are_sorted_at_once(name: str, k: int) -> None:
    _agree(GRAPHS[name](), k=k, sources=range(600, 720, 3))


def test_sources_in_portions_and_kernels_that_run_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("dromos.engines.cuda.native.similarity")
    monkeypatch.setattr(module, "_PORTION", 5000)
    monkeypatch.setattr(module, "CYCLES", 1)
    _agree(GRAPHS["hubs"](), k=7)


@pytest.mark.parametrize("offsets", [np.uint32, np.int64])
def test_wide_ids_and_offsets_give_the_same(offsets: type) -> None:
    import cupy

    from dromos.engines.cuda.device_graph import DeviceGraph, Rows
    from dromos.engines.cuda.native.similarity import similarity
    from dromos.engines.native.similarity import similarity as on_cpu

    graph = dr.generators.rmat(10, 8, seed=3, dedupe=True)
    rows = Rows(cupy.asarray(graph.offsets.astype(offsets)), cupy.asarray(graph.targets.astype(np.int64)))
    options: dict[str, Any] = {"sources": np.arange(0, 1000, 7), "metric": "cosine", "k": 6}
    found = similarity(DeviceGraph(rows, None), **options)
    for name, want in on_cpu(graph, **options).items():
        np.testing.assert_array_equal(found[name].values, want)
