"""Slices and subsets: views of the whole, cut by arcs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.errors import InvalidArgumentError
from dromos.graph.slices import equal_edge_bounds


@pytest.fixture(scope="module")
def graph():
    return dr.generators.rmat(8, seed=2, weights=(1, 9))


@pytest.mark.parametrize("count", [1, 2, 7, 256, 1000])
def test_slices_hold_every_row_once_as_views(graph, count):
    slices = graph.slices(count)
    assert len(slices) == count
    assert [s.start for s in slices] == [0, *(s.stop for s in slices[:-1])]
    assert slices[-1].stop == graph.num_vertices
    assert sum(s.num_arcs for s in slices) == graph.num_arcs
    assert sum(s.num_vertices for s in slices) == graph.num_vertices
    for part in slices:
        assert np.shares_memory(part.targets, graph.targets) or part.num_arcs == 0
        for vertex in range(part.start, part.stop):
            np.testing.assert_array_equal(part.row(vertex), graph.neighbors(vertex))
        begin, end = graph.offsets[part.start], graph.offsets[part.stop]
        np.testing.assert_array_equal(part.weights, graph.weights[begin:end])


def test_slices_have_about_equally_many_arcs(graph):
    largest = graph.out_degree.max()
    share = graph.num_arcs / 4
    assert all(abs(part.num_arcs - share) <= largest for part in graph.slices(4))


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 12))
def test_bounds_rise_from_the_first_vertex_to_the_last(degrees, count):
    offsets = np.cumsum([0, *degrees])
    bounds = equal_edge_bounds(offsets, count)
    assert len(bounds) == count + 1
    assert (bounds[0], bounds[-1]) == (0, len(degrees))
    assert (np.diff(bounds) >= 0).all()
    arcs = np.diff(offsets[bounds])
    assert (np.abs(arcs - sum(degrees) / count) <= max(degrees, default=0) + 1).all()


def test_a_page_of_a_larger_graph_is_cut_by_its_own_arcs():
    whole = np.array([0, 4, 5, 6, 7, 8])
    assert equal_edge_bounds(whole[1:], 2).tolist() == [0, 2, 4]


def test_degree_subsets_leave_the_rows_where_they_are(graph):
    few, many = graph.degree_subset(0, 10), graph.degree_subset(10)
    assert few.num_vertices + many.num_vertices == graph.num_vertices
    assert few.num_arcs + many.num_arcs == graph.num_arcs
    assert many.targets is graph.targets
    for vertex, row in many.rows():
        assert len(row) == graph.out_degree[vertex] >= 10
        assert np.shares_memory(row, graph.targets)


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (3, 2), (0, 257)])
def test_a_range_that_is_not_there(graph, start, stop):
    with pytest.raises(InvalidArgumentError, match=f"{start}..{stop}"):
        graph.slice(start, stop)


def test_other_refusals(graph):
    with pytest.raises(InvalidArgumentError, match="1 slice or more"):
        graph.slices(0)
    with pytest.raises(InvalidArgumentError, match=r"not in the slice 4\.\.9"):
        graph.slice(4, 9).row(9)


def test_slices_of_graphs_without_arcs():
    assert [s.num_vertices for s in dr.generators.path(1).slices(2)] == [0, 1]
    assert [s.num_vertices for s in dr.Graph.from_edges([], []).slices(3)] == [0, 0, 0]
