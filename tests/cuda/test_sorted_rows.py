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


def graph_of(lengths: list[int], seed: int) -> dr.Graph:
    """Rows of these lengths in a random order, with parallel edges; the others are short."""
    draw = np.random.default_rng(seed)
    every = draw.permutation(np.concatenate([lengths, draw.integers(0, 100, 3_000)]))
    src = np.repeat(np.arange(len(every)), every)
    return dr.Graph.from_edges(src, draw.integers(0, len(every), len(src)), num_vertices=len(every))


def assert_is_renumbered(found: DeviceGraph, graph: dr.Graph) -> None:
    for side, given in ((found.out, graph), (found.into, graph.transpose)):
        ids, rank = found.ids.get(), found.rank.get()
        offsets, lengths = given.offsets, np.diff(given.offsets)
        np.testing.assert_array_equal(np.diff(side.offsets.get().astype(np.int64)), lengths[ids])
        row = np.repeat(np.arange(len(ids)), lengths[ids])
        old = np.concatenate([given.targets[offsets[v] : offsets[v + 1]] for v in ids])
        expected = rank[old][np.lexsort((rank[old], row))]
        np.testing.assert_array_equal(side.targets.get(), expected)


def test_rows_of_all_lengths_are_sorted() -> None:
    graph = graph_of(LENGTHS, 1)
    assert_is_renumbered(DeviceGraph.from_host(graph), graph)


@pytest.mark.parametrize("arcs", [1 << 12, 1 << 16])
def test_in_pieces_too(arcs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(rows, "_ARRIVING", arcs)
    monkeypatch.setattr(rows, "_LAST_ARRIVING", arcs >> 3)
    graph = graph_of(LENGTHS, 2)
    assert_is_renumbered(DeviceGraph.from_host(graph), graph)


def test_rows_are_sorted_together_where_most_arcs_are_in_long_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    known, fits = RowSorter.is_fit, list[bool]()

    def is_fit(sorter: RowSorter, arcs: int) -> bool:
        fits.append(known(sorter, arcs))
        return fits[-1]

    monkeypatch.setattr(RowSorter, "is_fit", is_fit)
    graph = graph_of([40_000, 50_000], 3)
    assert_is_renumbered(DeviceGraph.from_host(graph), graph)
    assert fits == [False, True]  # its rows, and those of its transpose
