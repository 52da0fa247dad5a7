"""Graphs of whose arcs the host holds some."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from dromos.graph import Graph, generators
from dromos.graph.build import CsrArrays
from dromos.graph.partly_held import AbsentSlice, PartlyHeldGraph, arrays_within
from dromos.graph.transform import same_arrays
from dromos.places.feed import MemoryFeed
from dromos.places.hybrid import SplitGraph, split_graph
from tests.places.test_cpu import weighted


def partly_held(given: Graph, whole: SplitGraph, held: int) -> PartlyHeldGraph:
    """The same split graph, of which the host holds one part; the other rows are nonsense until they are made."""
    begin, end = whole.graph.offsets[list(whole.bounds[held : held + 2])]
    targets = np.full_like(whole.graph.targets, -1)
    targets[begin:end] = whole.graph.targets[begin:end]
    weights = None
    if whole.graph.weights is not None:
        weights = np.zeros_like(whole.graph.weights)
        weights[begin:end] = whole.graph.weights[begin:end]
    return PartlyHeldGraph.of(
        CsrArrays(given.offsets, given.targets, given.weights), (whole.given_ids, whole.new_ids),
        CsrArrays(whole.graph.offsets, targets, weights), [tuple(whole.bounds[held : held + 2])],
        whole.graph.known_flags,
    )  # fmt: skip


@pytest.fixture(params=[False, True], ids=["", "weighted"])
def made(request: pytest.FixtureRequest) -> tuple[SplitGraph, PartlyHeldGraph]:
    given = generators.rmat(7, 6, seed=3, symmetrize=True)
    given = weighted(given) if request.param else given
    whole = split_graph(given, (0.4, 0.6), "high")
    return whole, partly_held(given, whole, 0)


def test_what_is_held_is_read_and_nothing_is_made(made: tuple[SplitGraph, PartlyHeldGraph]) -> None:
    whole, graph = made
    first, last = whole.bounds[:2]
    feed = MemoryFeed(graph, first, last, 1)
    (piece,) = feed.fetch(feed.holding(None, "pull"), "pull")
    expected = whole.graph.slice(piece.start, piece.stop)
    assert piece.targets.tolist() == expected.targets.tolist()
    assert piece.weighted == (whole.graph.weights is not None)
    arcs = slice(0, int(graph.offsets[last]))
    assert arrays_within(graph, first, last)[0][arcs].tolist() == whole.graph.targets[arcs].tolist()
    assert graph.num_arcs == whole.graph.num_arcs
    assert not graph.is_whole


def test_what_is_absent_is_made_when_somebody_looks(made: tuple[SplitGraph, PartlyHeldGraph]) -> None:
    whole, graph = made
    first, last = whole.bounds[1:]
    feed = MemoryFeed(graph, first, last, 1)
    (piece,) = feed.fetch(feed.holding(None, "push"), "push")
    expected = whole.graph.slice(piece.start, piece.stop)
    assert isinstance(piece, AbsentSlice)
    assert (piece.num_arcs, piece.weighted) == (expected.num_arcs, expected.weights is not None)
    assert not graph.is_whole
    assert piece.targets.tolist() == expected.targets.tolist()
    assert graph.is_whole
    if expected.weights is not None:
        assert piece.weights is not None
        assert piece.weights.tolist() == expected.weights.tolist()
    assert same_arrays(graph, whole.graph)


def test_some_rows_are_made(made: tuple[SplitGraph, PartlyHeldGraph]) -> None:
    whole, graph = made
    wanted = np.array([0, whole.bounds[1], whole.bounds[1] + 5])
    for _ in range(2):
        rows = graph.hold(wanted)
        for v in wanted.tolist():
            begin, end = graph.offsets[v : v + 2]
            order = np.argsort(rows.targets[begin:end], kind="stable")
            assert rows.targets[begin:end][order].tolist() == whole.graph.targets[begin:end].tolist()
            if rows.weights is not None:
                assert whole.graph.weights is not None
                assert rows.weights[begin:end][order].tolist() == whole.graph.weights[begin:end].tolist()
    assert not graph.is_whole
    assert same_arrays(graph, whole.graph)  # which has all made


def test_copies_and_rows_of_one_vertex_are_right(made: tuple[SplitGraph, PartlyHeldGraph]) -> None:
    whole, graph = made
    assert same_arrays(pickle.loads(pickle.dumps(graph)), whole.graph)
    other = partly_held(whole.graph, split_graph(whole.graph, (0.5, 0.5), "low"), 1)
    again = split_graph(whole.graph, (0.5, 0.5), "low").graph
    assert [other.neighbors(v).tolist() for v in range(9)] == [again.neighbors(v).tolist() for v in range(9)]


def test_ranges_that_meet_a_held_one_in_part_are_made(made: tuple[SplitGraph, PartlyHeldGraph]) -> None:
    whole, graph = made
    middle = whole.bounds[1]
    assert [graph.holds(*span) for span in pairwise((0, middle, graph.num_vertices))] == [True, False]
    targets, _ = graph.arrays_within(middle - 1, middle + 1)
    assert targets.tolist() == whole.graph.targets.tolist()
