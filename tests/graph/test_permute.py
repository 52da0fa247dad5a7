"""Vertices in another order, against NumPy's stable sorts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import dromos as dr
from dromos.dtypes import as_words, read_only
from dromos.graph import permute, transform
from dromos.graph.gather_kernels import gather_piece
from dromos.parallel import run_team


@pytest.mark.parametrize("weight", [None, np.int32, np.float64], ids=str)
@pytest.mark.parametrize("vertices", [300, 1000], ids=["two digits", "a hub"])
def test_rows(vertices: int, weight: type | None) -> None:
    """Short rows, long ones of as many digits as ids have, empty ones, parallel arcs that keep their order."""
    draw = np.random.default_rng(vertices)
    src, dst = draw.integers(0, vertices, (2, 8 * vertices)) ** 2 // vertices
    src[: 3 * vertices] = 7  # a hub
    weights = None if weight is None else np.arange(len(src)).astype(weight)
    graph = dr.Graph.from_edges(src, dst, weights, num_vertices=vertices)
    old_ids = draw.permutation(vertices)
    new_ids = permute.inverse(old_ids, graph.targets.dtype)
    found = permute.permuted_rows(graph, old_ids, new_ids)
    src, dst, weights = graph.edges(arcs=True)
    order = np.lexsort((new_ids[dst], new_ids[src]))  # stable
    assert found.offsets.tolist() == np.concatenate(([0], np.cumsum(graph.out_degree[old_ids]))).tolist()
    assert found.targets.tolist() == new_ids[dst][order].tolist()
    if weight is None:
        assert found.weights is None
    else:
        assert found.weights is not None
        assert found.weights.dtype == weight
        assert found.weights.tolist() == weights[order].tolist()


def test_no_rows() -> None:
    for vertices in (0, 3):
        graph, ids = dr.Graph.from_edges([], [], num_vertices=vertices), np.arange(vertices)
        assert permute.permuted_rows(graph, ids, ids).offsets.tolist() == [0] * (vertices + 1)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("vertices", [100, 70_000])  # one of NumPy, and one of a team
def test_order_by_degree(vertices: int, descending: bool) -> None:
    draw = np.random.default_rng(1)
    degree = (draw.pareto(0.5, vertices) * 3).clip(max=1e6).astype(np.int64)  # also of more than are counted apart
    found = permute.degree_order(degree, descending=descending)
    assert found.tolist() == np.argsort(-degree if descending else degree, kind="stable").tolist()
    offsets = np.concatenate(([0], np.cumsum(degree)))
    assert permute.row_starts(offsets, found).tolist() == [0, *np.cumsum(degree[found]).tolist()]
    assert permute.inverse(found, np.dtype(np.int32))[found].tolist() == list(range(vertices))


def test_large_graphs_are_put_into_order_as_small_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = dr.generators.rmat(8, 6, seed=2, symmetrize=True)
    small = graph.relabel_by_degree().graph
    monkeypatch.setattr(transform, "_FEW_ARCS", 0)
    assert graph.relabel_by_degree().graph == small
    assert small.known_flags == graph.relabel_by_degree().graph.known_flags


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_are_copied_in_pieces(threads: int) -> None:
    """Into staging memory, one behind the other, and from there to their place; a hub's row by several threads."""
    graph, draw = dr.generators.rmat(9, 6, seed=2), np.random.default_rng(1)
    old_ids = draw.permutation(graph.num_vertices).astype(graph.targets.dtype)
    starts, values = permute.row_starts(graph.offsets, old_ids), read_only(as_words(graph.targets))
    rows = [read_only(array) for array in (old_ids, graph.offsets, starts)]
    made, nothing = np.zeros(graph.num_arcs, values.dtype), values[:0].copy()
    for first, last in pairwise([0, 1, 200, 200, graph.num_vertices]):
        begin, end = starts[first], starts[last]
        staged = np.zeros(end - begin, values.dtype)
        run_team(gather_piece, first, last, *rows, values, staged, nothing, nothing, threads=threads)
        run_team(gather_piece, 0, 0, *rows, values, nothing, staged, made[begin:end], threads=threads)
    assert made.tolist() == [target for vertex in old_ids for target in graph.neighbors(vertex).tolist()]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 64, 65, 255, 256, 257, 1000, 40_000])
def test_a_random_order_is_that_of_numpy(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permute, "_IN_CACHE", 2)  # a kernel swaps, whatever the size
    monkeypatch.setattr(permute, "_DRAWS", 100)
    for seed in (0, 1, 2**40):
        found = permute.random_order(n, seed)
        assert found.dtype == np.int32
        np.testing.assert_array_equal(found, np.random.default_rng(seed).permutation(n))


def test_a_long_random_order_is_that_of_numpy() -> None:
    np.testing.assert_array_equal(permute.random_order(300_001, 6), np.random.default_rng(6).permutation(300_001))
