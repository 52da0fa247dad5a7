"""The Graph class: what it is made from, what it says of itself, and what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.errors import GraphDataError, InvalidArgumentError, UnknownVertexError

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30)


@given(PAIRS, st.booleans(), st.booleans(), st.booleans())
def test_flags_are_true(pairs, directed, dedupe, drop):
    src, dst = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    g = dr.Graph.from_edges(
        src, dst, num_vertices=10, directed=directed, dedupe=dedupe, drop_self_loops=drop
    )  # fmt: skip
    arcs = list(zip(*(column.tolist() for column in g.edges(arcs=True)[:2]), strict=True))
    flags = g.flags
    assert flags.directed == directed
    assert flags.sorted
    assert arcs == sorted(arcs)
    assert flags.symmetric == (sorted(arcs) == sorted((v, u) for u, v in arcs))
    assert flags.parallel_edges == (len(set(arcs)) < len(arcs))
    assert flags.self_loops == any(u == v for u, v in arcs)
    assert g.known_flags == flags
    kept = [pair for pair in pairs if not (drop and pair[0] == pair[1])]
    wanted = set(kept) if directed else {arc for u, v in kept for arc in ((u, v), (v, u))}
    assert set(arcs) == wanted


def test_arrays_have_the_types_of_the_conventions_and_are_read_only():
    g = dr.Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])
    assert (g.offsets.dtype, g.targets.dtype, g.weights.dtype) == (np.int64, np.int32, np.float64)
    for array in (g.offsets, g.targets, g.weights, g.out_degree, g.in_degree):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    weights = np.array([1.0, 2.0], dtype=np.float32)
    kept = dr.Graph.from_csr(np.array([0, 2, 2]), np.array([0, 1], dtype=np.int32), weights)
    weights[0] = 3.0  # the caller's array stays the caller's
    assert kept.weights.dtype == np.float32


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.array([1, 2], np.int64), np.int32),
        (np.array([1, 2**40], np.int64), np.float64),
        (np.array([1, 2], np.uint8), np.int32),
        (np.array([True, False]), np.int32),
        (np.array([0.5, 1], np.float16), np.float32),
        (np.array([0.5, 1], np.float32), np.float32),
        ([0.1, 0.2], np.float64),
    ],
)
def test_weights_are_kept_exactly(given, kept):
    g = dr.Graph.from_edges([0, 1], [1, 2], given)
    assert g.weights.dtype == kept
    assert g.weights.tolist() == np.asarray(given).tolist()


def test_isolated_vertices_are_kept():
    g = dr.Graph.from_edges([0], [1], num_vertices=5)
    assert g.num_vertices == 5
    assert g.out_degree.tolist() == [1, 0, 0, 0, 0]
    assert g.in_degree.tolist() == [0, 1, 0, 0, 0]


def test_an_undirected_edge_is_stored_twice_and_a_loop_once():
    g = dr.Graph.from_edges([0, 1, 2], [1, 2, 2], directed=False)
    assert (g.num_edges, g.num_arcs, g.num_self_loops) == (3, 5, 1)
    assert g.transpose is g
    assert g.reverse() is g
    assert g.edges().src.tolist() == [0, 1, 2]
    assert len(g.edges(arcs=True).src) == 5


def test_both_directions_given():
    g = dr.Graph.from_edges([0, 1], [1, 0], [2, 2], directed=False, symmetrize=False)
    assert (g.num_edges, g.directed) == (1, False)
    with pytest.raises(GraphDataError, match="leave symmetrize out"):
        dr.Graph.from_edges([0, 1], [1, 0], [2, 3], directed=False, symmetrize=False)
    with pytest.raises(GraphDataError, match="leave symmetrize out"):
        dr.Graph.from_edges([0], [1], directed=False, symmetrize=False)


@pytest.mark.parametrize(
    ("arguments", "options", "told"),
    [
        (([0], [1, 2]), {}, "src has 1 ids and dst 2"),
        (([-1], [0]), {}, "the id -1 is negative"),
        (([0], [5]), {"num_vertices": 5}, r"the id 5 is outside 0\.\.4"),
        (([0.0], [1.0]), {}, "must be integers"),
        (([0.0, float("nan")], [1, 2]), {}, r"src has 1 missing values \(NaN\)"),
        (({0, 1}, {1, 2}), {}, "a set has no order"),
        (([[0]], [[1]]), {}, "one-dimensional"),
        (([0], [1], [float("nan")]), {}, "edge 0 is not a number"),
        (([0], [1], [1, 2]), {}, r"shape \(2,\)"),
        (([0], [1], ["heavy"]), {}, "not numbers"),
        (([0], [1], [2**60]), {}, "neither int32 nor float64"),
        (([0], [10**12]), {}, "labels=True"),
        ((np.array([2**63], np.uint64), [0]), {}, "overflows int64"),
        (([0], [1]), {"labels": ["a"]}, "1 labels|outside"),
        (([0], [1]), {"labels": ["a", "a"]}, "must be unique"),
        ((["a"], ["b"]), {"num_vertices": 3}, "name 2 vertices"),
    ],
)
def test_edges_that_make_no_graph(arguments, options, told):
    with pytest.raises(GraphDataError, match=told):
        dr.Graph.from_edges(*arguments, **options)


def test_columns_that_are_read_once():
    ends = {0: 1, 1: 2}
    expected = dr.Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])
    assert dr.Graph.from_edges(ends.keys(), ends.values(), (i + 0.5 for i in range(2))) == expected
    assert dr.Graph.from_edges(iter(["a"]), iter(["b"])) == dr.Graph.from_edges(["a"], ["b"])


@pytest.mark.parametrize("count", [-1, 1.5, True, "3", np.True_, 2**62])
def test_vertex_counts_that_are_none(count):
    with pytest.raises(InvalidArgumentError, match="num_vertices="):
        dr.Graph.from_edges([0], [0], num_vertices=count)


@pytest.mark.parametrize(
    ("offsets", "targets", "told"),
    [
        ([], [], "offsets must rise"),
        ([1, 1], [0], "offsets must rise"),
        ([0, 2, 1], [0], "offsets must rise"),
        ([0, 1], [0, 0], "number of targets, 2"),
        ([0, 1], [1], r"targets must lie in 0\.\.0"),
        ([0, 1], [-1], r"targets must lie in 0\.\.0"),
        ([0.0, 1.0], [0], "integers"),
    ],
)
def test_csr_that_is_none(offsets, targets, told):
    with pytest.raises(GraphDataError, match=told):
        dr.Graph.from_csr(np.array(offsets, dtype=None if offsets else np.int64), np.array(targets, dtype=np.int64))


def test_csr_of_lists_without_arcs():
    assert dr.Graph.from_csr([0, 0], []) == dr.Graph.from_edges([], [], num_vertices=1)
    assert dr.Graph.from_csr([0], []) == dr.Graph.from_edges([], [])


def test_csr_that_is_not_symmetric_makes_no_undirected_graph():
    with pytest.raises(GraphDataError, match="lacks its reverse"):
        dr.Graph.from_csr(np.array([0, 1, 1]), np.array([1]), directed=False)


def test_vertices_by_id_and_by_label():
    g = dr.generators.path(3)
    assert g.neighbors(1).tolist() == [0, 2]
    assert g.vertex_id(np.int32(2)) == 2
    for wrong in (3, -1, "a", 1.0, True):
        with pytest.raises(UnknownVertexError, match="no vertex"):
            g.neighbors(wrong)
    with pytest.raises(UnknownVertexError, match="the graph is empty"):
        dr.Graph.from_edges([], []).neighbors(0)
    named = dr.Graph.from_edges(["x"], ["y"])
    assert named.vertex_id("y") == 1
    with pytest.raises(UnknownVertexError, match="'z'"):
        named.vertex_id("z")


def test_with_weights():
    g = dr.generators.path(3)
    assert g.with_weights(np.array([1, 1, 2, 2])).symmetric
    with pytest.raises(GraphDataError, match="different weights"):
        g.with_weights(np.array([1, 2, 2, 2]))
    assert g.with_weights(np.array([1, 1, 2, 2])).with_weights(None) == g
    one_way = dr.generators.path(3, directed=True).with_weights(np.array([1, 2]))
    assert not one_way.symmetric


def test_equality_and_pickles():
    g = dr.Graph.from_edges(["a", "b"], ["b", "c"], [1, 2])
    again = pickle.loads(pickle.dumps(g))
    assert again == g
    assert again.known_flags == g.known_flags
    assert g != dr.Graph.from_edges(["a", "b"], ["b", "d"], [1, 2])
    assert g != dr.Graph.from_edges(["a", "b"], ["b", "c"], [1, 3])
    assert g != dr.Graph.from_edges(["a", "b"], ["b", "c"])
    assert g != dr.Graph.from_edges(["a", "b"], ["b", "c"], [1.0, 2.0])
    assert g != "a graph"
    with pytest.raises(TypeError):
        hash(g)
    with pytest.raises(TypeError, match="from_edges"):
        dr.Graph()


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: dr.Graph.from_edges([], []), "<Graph: 0 vertices, 0 edges, directed>"),
        (lambda: dr.generators.cycle(1), "<Graph: 1 vertex, 1 edge, undirected>"),
        (lambda: dr.Graph.from_edges([7], [3000], [1], labels=True),
         "<Graph: 2 vertices, 1 edge, directed, int32 weights, int labels>"),
        (lambda: dr.generators.grid(40, 50), "<Graph: 2,000 vertices, 3,910 edges, undirected>"),
    ],
)  # fmt: skip
def test_repr(make, shown):
    assert repr(make()) == shown


def test_html_repr():
    page = dr.Graph.from_edges(["<b>", "x"], ["x", "x"], num_vertices=2)._repr_html_()
    assert page.startswith("<table>")
    assert page.count("<tr>") == page.count("</tr>") == 10
    for fact in ("vertices</th>", ">2<", "self-loops</th>", ">yes<", "largest 1"):
        assert fact in page
    assert "<b>" not in page
    assert "out-degree" not in dr.Graph.from_edges([], [])._repr_html_()


def test_degree_histogram_in_a_direction_that_is_none():
    with pytest.raises(InvalidArgumentError, match="neither 'out' nor 'in'"):
        dr.generators.path(3).degree_histogram(direction="sideways")


def test_nbytes_counts_all_arrays():
    g = dr.Graph.from_edges(["a"], ["b"], [1])
    assert g.nbytes == 3 * 8 + 4 + 4 + g.labels.nbytes
