"""Spanning forests, independent sets, colours and matchings: NetworkX's numbers, or properties."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.coloring import verify as verify_coloring
from dromos.algorithms.maximal_independent_set import IndependentSet
from dromos.algorithms.maximal_independent_set import verify as verify_set
from dromos.algorithms.maximal_matching import verify as verify_matching
from dromos.algorithms.minimum_spanning_forest import verify as verify_forest
from dromos.dtypes import order_of
from dromos.engines.native import greedy, independent_set, plain_greedy
from dromos.errors import InvalidArgumentError, VerificationError
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device

TRIANGLE = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [5, 1, 2], directed=False)


@examples(25)
@given(graph=graphs(high=10, directed=False, weights=(-1.0, 0.0, 1.0, 2.5)), maximum=st.booleans())
def test_forests_weigh_what_networkx_finds(graph, maximum):
    result = dr.minimum_spanning_forest(graph, maximum)
    result.verify()
    find = nx.maximum_spanning_edges if maximum else nx.minimum_spanning_edges
    expected = sum(data["weight"] for *_, data in find(as_networkx(graph), data=True))
    assert result.total_weight == pytest.approx(expected)
    assert result.count == graph.num_vertices - dr.connected_components(graph, device="reference").count


@given(
    values=st.lists(
        st.sampled_from((-np.inf, -1e300, -2.5, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, 7.0, 70_000.0, np.inf))
    ),
    kind=st.sampled_from((np.float32, np.float64, np.int32)),
    far=st.booleans(),
)
def test_weights_are_sorted_as_numpy_sorts_them_and_equal_ones_stay(values, kind, far):
    given_ = np.array(values)
    if kind is np.int32:
        given_ = np.clip(given_, -(2**31), 2**31 - 1) if far else np.clip(given_, 100, 200)
    with np.errstate(over="ignore"):
        weights = given_.astype(kind)
    assert order_of(greedy._keys(weights)).tolist() == np.argsort(weights, kind="stable").tolist()


@pytest.mark.parametrize("kind", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("edge_factor", [2, 16])
def test_forests_of_larger_graphs_take_the_first_of_equal_edges(kind, edge_factor):
    drawn = dr.generators.rmat(12, edge_factor, seed=5, weights=(-40, 40))
    graph = drawn.with_weights(
        (drawn.weights.astype(np.float64) / 8 if kind != np.int32 else drawn.weights).astype(kind)
    )
    for maximum in (False, True):
        expected = plain_greedy.forest(graph, maximum=maximum)
        found = greedy.forest(graph, maximum=maximum)
        result = dr.minimum_spanning_forest(graph, maximum, device="cpu")
        result.verify()
        for name, column in expected.items():
            assert np.array_equal(found[name], column)
            assert np.array_equal(result[name], column)


def test_of_equal_edges_the_first_by_its_ends_is_taken_however_rows_are_stored():
    rows = dr.generators.rmat(7, 4, seed=2, weights=(0, 3))
    pieces = list(zip(rows.offsets, rows.offsets[1:], strict=False))
    turned = [np.concatenate([column[a:b][::-1] for a, b in pieces]) for column in (rows.targets, rows.weights)]
    backwards = dr.Graph.from_csr(rows.offsets, *turned, directed=False)
    assert not backwards.sorted
    for device in ("cpu", "numpy"):
        for name in ("source", "target", "weight"):
            found = dr.minimum_spanning_forest(backwards, device=device)
            assert np.array_equal(found[name], dr.minimum_spanning_forest(rows, device=device)[name])
        for weight in ("weight", None):
            found = dr.maximal_matching(backwards, weight, device=device)
            assert np.array_equal(found.mate, dr.maximal_matching(rows, weight, device=device).mate)


def test_the_heaviest_forest_avoids_the_least_integer():
    least = -(2**31)
    graph = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], np.array([least, 5, 7], np.int32), directed=False)
    result = dr.minimum_spanning_forest(graph, maximum=True)
    assert sorted(result.weight.tolist()) == [5, 7]
    result.verify()


def test_a_forest_of_many_edges_is_sorted_in_parts():
    graph = dr.generators.with_random_weights(dr.generators.rmat(9, 24, seed=3), 1, 255, seed=3)
    result = dr.minimum_spanning_forest(graph)
    assert graph.num_edges > 4 * 2 * graph.num_vertices
    result.verify()
    plain = dr.minimum_spanning_forest(graph, weight=None)
    assert plain.total_weight == plain.count == result.count
    plain.verify()


def _draw(*numbers: int) -> int:
    """The word behind ``dr.random``: SplitMix64."""
    word, whole = 0, 1 << 64
    for number in numbers:
        word = (word + (number + 1) * 0x9E3779B97F4A7C15) % whole
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % whole
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB % whole
        word ^= word >> 31
    return word


@pytest.mark.parametrize("seed", [0, 2**63 - 1, 2**64 + 5])
@pytest.mark.parametrize("many", [1 << 23, 1 << 11])
def test_the_kernel_of_independent_sets_chooses_as_the_program(monkeypatch, seed, many):
    """With draws that are sorted by one digit, two, and three."""
    monkeypatch.setattr(independent_set, "_MANY", many)
    for graph in (dr.generators.grid(40, 40), dr.generators.rmat(12, 4, seed=2).symmetrized()):
        result = dr.maximal_independent_set(graph, seed, device="cpu")
        assert [row.phase for row in result.trace] == ["independent_set"]
        result.verify()
        other = dr.maximal_independent_set(graph, seed, device="cpu", path="sync-push-dd")
        assert np.array_equal(result.member, other.member)


def test_independent_sets_of_large_sparse_graphs_are_left_to_many_threads(monkeypatch):
    monkeypatch.setattr(independent_set, "_LARGE", 1 << 10)
    grid = dr.generators.grid(40, 40)
    few, many = (dr.maximal_independent_set(grid, 3, device="cpu", threads=threads) for threads in (2, 8))
    assert [row.phase for row in few.trace] == ["independent_set"]
    assert {row.phase for row in many.trace} == {"IndependentSet"}
    assert np.array_equal(few.member, many.member)


@on_every_device
@examples(20)
@given(graph=graphs(high=10), seed=st.integers(0, 3))
def test_independent_sets_are_the_same_on_every_path(device, graph, seed):
    expected = None
    for path in ("auto", *legal_paths(graph, IndependentSet)):
        result = dr.maximal_independent_set(graph, seed, device=device, path=path)
        result.verify()
        expected = result.member.tolist() if expected is None else expected
        assert result.member.tolist() == expected
    priority = np.array([(_draw(v, seed) >> 34, v) for v in range(graph.num_vertices)]).reshape(-1, 2)
    chosen: set[int] = set()
    around = nx.Graph(as_networkx(graph))
    for v in np.lexsort(priority.T[::-1])[::-1].tolist():  # the greedy set by falling priority
        if not chosen & (set(around[v]) - {v}):
            chosen.add(v)
    assert set(np.flatnonzero(expected or [])) == chosen


@examples(25)
@given(graph=graphs(high=10), order=st.sampled_from(("degree", "random")), seed=st.integers(0, 3))
def test_colors_differ_between_neighbours(graph, order, seed):
    result = dr.coloring(graph, order, seed)
    result.verify()
    if order == "degree" and nx.is_bipartite(nx.Graph(as_networkx(graph))):
        degrees = dict(nx.Graph(as_networkx(graph)).degree())
        assert result.count <= max(degrees.values(), default=0) + 1


def test_few_colors_where_few_are_enough():
    assert dr.coloring(dr.generators.complete(5)).count == 5
    assert dr.coloring(dr.generators.star(50)).count == 2
    large = dr.generators.rmat(10, seed=1)
    result = dr.coloring(large)
    assert result.count <= dr.core_numbers(large).degeneracy * 2
    result.verify()
    with pytest.raises(InvalidArgumentError, match="neither 'degree' nor 'random'"):
        dr.coloring(large, "alphabetic")


@examples(25)
@given(graph=graphs(high=9, weights=(0.0, 1.0, 2.0, 7.0)))
def test_matchings_are_maximal_and_at_least_half_of_the_best(graph):
    result = dr.maximal_matching(graph)
    result.verify()
    other = nx.Graph()
    other.add_nodes_from(range(graph.num_vertices))
    for u, v, weight in as_networkx(graph).edges(data="weight"):
        if u != v and (not other.has_edge(u, v) or other[u][v]["weight"] < weight):
            other.add_edge(u, v, weight=weight)
    pairs = {(u, v) for u, v in enumerate(result.mate.tolist()) if u < v}
    assert nx.is_maximal_matching(other, pairs)
    best = nx.max_weight_matching(other)
    assert 2 * result.total_weight >= sum(other[u][v]["weight"] for u, v in best)


@examples(25)
@given(graph=graphs(high=12))
def test_matchings_without_weights_are_the_same_everywhere(graph):
    result = dr.maximal_matching(graph)
    result.verify()
    assert result.total_weight == result.count
    for how in ({"device": "reference"}, {"device": "numpy"}, {"threads": 1}, {"threads": 2}):
        assert dr.maximal_matching(graph, **how).mate.tolist() == result.mate.tolist()


def test_matchings_take_neighbours_of_few_others_while_they_can():
    hub = dr.generators.star(100_000)
    assert dr.maximal_matching(hub).mate[:3].tolist() == [1, 0, -1]
    # The tail of each kite hangs on a corner; who takes that one first leaves two corners and the tail without a mate.
    kites = [(3 * k + a, 3 * k + b) for k in range(50) for a, b in ((0, 1), (1, 2), (0, 2))]
    tails = [(3 * k, 150 + k) for k in range(50)]
    result = dr.maximal_matching(dr.Graph.from_edges(*zip(*kites, *tails, strict=True), directed=False))
    result.verify()
    assert result.count == 100  # all
    skewed = dr.generators.barabasi_albert(5_000, 4, seed=2)
    assert dr.maximal_matching(skewed).count > 0.96 * 2_500


def test_the_verifiers_refuse_wrong_answers():
    with pytest.raises(VerificationError, match="row 0 is not the lightest edge"):
        verify_forest(TRIANGLE, np.array([0, 1]), np.array([2, 2]), np.array([1, 1]))
    with pytest.raises(VerificationError, match="do not join"):
        verify_forest(TRIANGLE, np.array([1]), np.array([2]), np.array([1]))
    with pytest.raises(VerificationError, match="but a tree weighs 3"):
        verify_forest(TRIANGLE, np.array([0, 1]), np.array([1, 2]), np.array([5, 1]))
    path = dr.generators.path(3)
    with pytest.raises(VerificationError, match="joins two members"):
        verify_set(path, np.array([True, True, False]))
    with pytest.raises(VerificationError, match="vertex 2 is no member"):
        verify_set(path, np.array([True, False, False]))
    with pytest.raises(VerificationError, match="two vertices of one color"):
        verify_coloring(path, np.array([0, 0, 1]))
    with pytest.raises(VerificationError, match="vertex 2 could have a lesser"):
        verify_coloring(path, np.array([0, 1, 2]))
    with pytest.raises(VerificationError, match="vertex 0 is not the mate"):
        verify_matching(path, np.array([1, 2, 1]), 1.0)
    with pytest.raises(VerificationError, match="edge 0 is left over"):
        verify_matching(path, np.full(3, -1), 0.0)
    with pytest.raises(VerificationError, match="no neighbor of its mate"):
        verify_matching(path, np.array([2, -1, 0]), 1.0)
    with pytest.raises(VerificationError, match="outweighs"):
        verify_matching(TRIANGLE, np.array([-1, 2, 1]), 1.0)
    with pytest.raises(InvalidArgumentError, match="undirected"):
        dr.minimum_spanning_forest(dr.Graph.from_edges([0], [1]))
