"""Samples of neighbourhoods on the GPU are those of the CPU, edge by edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from tests.algorithms.support import examples, graphs

pytestmark = pytest.mark.gpu


def _arcs() -> dr.Graph:
    edges = dr.generators.rmat(12, 16, seed=1).edges()
    return dr.Graph.from_edges(edges.src, edges.dst, num_vertices=4096)


def _agree(graph: dr.Graph, sources: Any, fanouts: list[int], seed: int = 0) -> None:
    want, found = (dr.sample_neighbors(graph, sources, fanouts, seed, device=device) for device in ("cpu", "cuda"))
    assert (want.device, found.device) == ("cpu", "cuda")
    np.testing.assert_array_equal(found.vertices, want.vertices)
    for mine, theirs in zip(found.blocks, want.blocks, strict=True):
        np.testing.assert_array_equal(mine.source, theirs.source)
        np.testing.assert_array_equal(mine.target, theirs.target)
    found.verify()


@examples(40)
@given(
    graph=graphs(low=1, high=12),
    fanouts=st.lists(st.sampled_from((1, 2, 3, 2**70)), max_size=3),
    seed=st.integers(0, 3),
)
def test_any_small_graph(graph: dr.Graph, fanouts: list[int], seed: int) -> None:
    _agree(graph, range(0, graph.num_vertices, 2), fanouts, seed)


@pytest.mark.parametrize("fanouts", [[15, 10, 5], [1, 1], [2**70], [700, 3], [4000, 2000]])
@pytest.mark.parametrize("kind", ["hubs", "arcs", "grid", "star"])
def test_larger_graphs(kind: str, fanouts: list[int]) -> None:
    graph = {
        "hubs": lambda: dr.generators.rmat(13, 16, seed=1, symmetrize=True),
        "arcs": _arcs,
        "grid": lambda: dr.generators.grid(60, 60),
        "star": lambda: dr.Graph.from_edges(np.zeros(9000, int), np.arange(1, 9001), directed=False),
    }[kind]()
    _agree(graph, range(0, 600, 3), fanouts, seed=7)


@pytest.mark.parametrize("offsets", [np.uint32, np.int64])
def test_wide_ids_and_offsets_give_the_same(offsets: type) -> None:
    import cupy

    from dromos.engines.cuda.device_graph import DeviceGraph, Rows
    from dromos.engines.cuda.native.sampling import sampling
    from dromos.engines.native.sampling import sampling as on_cpu

    graph = dr.generators.rmat(10, 16, seed=1, symmetrize=True)
    copy = DeviceGraph(
        Rows(cupy.asarray(graph.offsets.astype(offsets)), cupy.asarray(graph.targets.astype(np.int64))), None
    )
    options: dict[str, Any] = {"seeds": np.arange(0, 90, 3), "limits": [5, 4], "seed": 3}
    found = sampling(copy, **options)
    for name, want in on_cpu(graph, **options).items():
        np.testing.assert_array_equal(found[name].values, want)


def test_a_few_edges_are_drawn_by_the_cpu_unless_a_gpu_is_asked_for() -> None:
    graph = dr.generators.rmat(14, 16, seed=1)
    few, many = dr.sample_neighbors(graph, [3], [2]), dr.sample_neighbors(graph, range(500), [5, 5])
    assert (few.device, many.device) == ("cpu", "cuda")
