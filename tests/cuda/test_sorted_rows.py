"""Rows sorted by warps, by blocks and, where they are longest, all together."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cuda import rows
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.sorted_rows import RowSorter

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def for_small_graphs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_WORTH_A_SORTER", 1)


# around every number of targets at which another kernel, or another size of it, takes over
LENGTHS = [0, 1, 2, *(bound + more for bound in (1 << bits for bits in range(5, 16)) for more in (-1, 0, 1))]


WEIGHTS = [None, "uint8", "int16", "float32", "float64"]


def graph_of(lengths: list[int], seed: int, weights: str | None) -> dr.Graph:
    """Rows of these lengths in a random order, with parallel edges; the others are short."""
    draw = np.random.default_rng(seed)
    every = draw.permutation(np.concatenate([lengths, draw.integers(0, 100, 3_000)]))
    src = np.repeat(np.arange(len(every)), every)
    dst = draw.integers(0, len(every), len(src))
    drawn = None if weights is None else draw.integers(0, 120, len(src)).astype(weights)
    return dr.Graph.from_edges(src, dst, drawn, num_vertices=len(every))


def assert_is_renumbered(found: DeviceGraph, graph: dr.Graph) -> None:
    for side, given in ((found.out, graph), (found.into, graph.transpose)):
        ids, rank = found.ids.get(), found.rank.get()
        offsets, lengths = given.offsets, np.diff(given.offsets)
        np.testing.assert_array_equal(np.diff(side.offsets.get().astype(np.int64)), lengths[ids])
        row = np.repeat(np.arange(len(ids)), lengths[ids])
        old = np.concatenate([np.arange(offsets[v], offsets[v + 1]) for v in ids])
        named = rank[given.targets[old]]
        order = np.lexsort((named, row))  # stable, so parallel arcs stay in their order
        np.testing.assert_array_equal(side.targets.get(), named[order])
        if given.weights is not None:
            np.testing.assert_array_equal(side.weights.get(), given.weights[old][order])


@pytest.mark.parametrize("weights", WEIGHTS)
def test_rows_of_all_lengths_are_sorted(weights: str | None) -> None:
    graph = graph_of(LENGTHS, 1, weights)
    assert_is_renumbered(DeviceGraph.from_host(graph), graph)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("arcs", [1 << 12, 1 << 16])
def test_in_pieces_too(arcs: int, weights: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(rows, "_ARRIVING", arcs)
    monkeypatch.setattr(rows, "_LAST_ARRIVING", arcs >> 3)
    graph = graph_of(LENGTHS, 2, weights)
    assert_is_renumbered(DeviceGraph.from_host(graph), graph)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_most_arcs_may_be_in_rows_that_are_too_long_for_a_block(weights: str | None) -> None:
    graph = graph_of([40_000, 50_000, 70_000], 3, weights)
    assert_is_renumbered(DeviceGraph.from_host(graph), graph)


def test_rows_whose_keys_are_too_wide_are_sorted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RowSorter, "is_fit", property(lambda sorter: False))
    graph = graph_of(LENGTHS, 4, "int16")
    assert_is_renumbered(DeviceGraph.from_host(graph), graph)
