"""PageRank: the numbers of NetworkX, for every combination of its arguments, on every path."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.pagerank import pagerank_program
from dromos.errors import ConvergenceError, InvalidArgumentError, UnknownVertexError, VerificationError
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device, row

shares = st.none() | st.sampled_from(((1, 0, 0), (0, 1, 2), (1, 1, 5)))


@on_every_device
@examples(12)
@given(
    graph=graphs(low=1, high=7, weights=(0.0, 0.5, 1.0, 4.0)),
    alpha=st.sampled_from((0.5, 0.85)),
    jumps=shares,
    starts=shares,
    sinks=shares,
)
def test_ranks_are_those_of_networkx_on_every_path(device, graph, alpha, jumps, starts, sinks):
    n = graph.num_vertices
    given_ = {
        name: None if values is None else {v: float(values[v % 3]) for v in range(n)}
        for name, values in (("personalization", jumps), ("nstart", starts), ("dangling", sinks))
    }
    assume(all(values is None or sum(values.values()) > 0 for values in given_.values()))
    expected = row(nx.pagerank(as_networkx(graph), alpha=alpha, **given_), n, 0)
    program = pagerank_program(any(v is not None for v in given_.values()), graph.weights is not None)
    for path in legal_paths(graph, program):
        result = dr.pagerank(graph, alpha=alpha, **given_, tol=1e-6 * n, device=device, path=path)
        np.testing.assert_allclose(result.rank, expected, rtol=0, atol=1e-12)
        result.verify()


@on_every_device
def test_single_precision(device):
    graph = dr.Graph.from_edges([0, 1, 2, 2], [2, 2, 0, 1])
    exact = dr.pagerank(graph, device=device)
    rough = dr.pagerank(graph, device=device, dtype=np.float32)
    assert rough.rank.dtype == np.float32
    np.testing.assert_allclose(rough.rank, exact.rank, atol=1e-6)
    rough.verify()


@on_every_device
def test_random_walk_with_restart_goes_back_to_its_source(device):
    graph = dr.Graph.from_edges(["a", "b", "b"], ["b", "c", "a"])
    result = dr.random_walk_with_restart(graph, "b", tol=3e-6, device=device)
    expected = nx.pagerank(nx.DiGraph([("a", "b"), ("b", "c"), ("b", "a")]), personalization={"b": 1})
    np.testing.assert_allclose(result.rank, [expected[v] for v in "abc"], atol=1e-12)
    assert result.top(1)[0][0] == "b"


def test_values_by_label_and_as_an_array_are_one():
    graph = dr.Graph.from_edges(["a", "b"], ["b", "c"])
    by_label = dr.pagerank(graph, personalization={"c": 2.0}, device="reference")
    by_array = dr.pagerank(graph, personalization=np.array([0, 0, 1]), device="reference")
    assert by_label.rank.tolist() == by_array.rank.tolist()


def test_no_vertices_no_ranks():
    assert dr.pagerank(dr.Graph.from_edges([], []), device="reference").rank.tolist() == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"alpha": 1.5}, InvalidArgumentError, r"alpha=1\.5 is not a number in 0\.\.1"),
        ({"tol": -1}, InvalidArgumentError, "tol=-1"),
        ({"on_limit": "ignore"}, InvalidArgumentError, "on_limit='ignore' is neither 'raise'"),
        ({"max_iter": 2.5}, InvalidArgumentError, "max_iter=2.5"),
        ({"max_iter": 1, "tol": 1e-12}, ConvergenceError, "after 1 iterations; raise max_iter.*on_limit='return'"),
        ({"personalization": {0: 0.0}}, InvalidArgumentError, "personalization must hold"),
        ({"personalization": {9: 1.0}}, UnknownVertexError, "no vertex 9"),
        ({"nstart": [1.0, 2.0]}, InvalidArgumentError, r"nstart has shape \(2,\)"),
        ({"dangling": [1.0, np.nan, 0.0]}, InvalidArgumentError, "not finite"),
        ({"dangling": "everywhere"}, InvalidArgumentError, "neither a mapping"),
        ({"dtype": np.int32}, InvalidArgumentError, "neither float64 nor float32"),
        ({"dtype": "half a number"}, InvalidArgumentError, "dtype=half a number is neither float64 nor float32"),
        ({"weight": "cost"}, InvalidArgumentError, "only weight='weight' or None"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        dr.pagerank(dr.generators.path(3), device="reference", **arguments)


@pytest.mark.parametrize("method", ["power", "delta"])
def test_weights_that_sum_to_more_than_a_float_are_refused(method):
    graph = dr.Graph.from_edges([0, 0, 1], [1, 2, 0], [1e308, 1e308, 1.0])
    with pytest.raises(InvalidArgumentError, match="sum to more than a float can hold"):
        dr.pagerank(graph, method=method, device="numpy")


def test_negative_and_infinite_weights_are_refused():
    for weight, message in ((-1.0, "is negative"), (np.inf, "a weight is infinite")):
        graph = dr.Graph.from_edges([0], [1], [weight], directed=False)
        with pytest.raises(InvalidArgumentError, match=message):
            dr.pagerank(graph, device="reference")
        if weight == np.inf:
            with pytest.raises(InvalidArgumentError, match=message):
                dr.belief_propagation(graph, np.zeros((2, 2)), np.zeros((2, 2)), device="reference")


ON_ALL_SCALES = {
    "a directed path": lambda: dr.Graph.from_edges(np.arange(999), np.arange(1, 1000)),
    "a directed ring with a tail": lambda: dr.Graph.from_edges(np.arange(1000), np.append(np.arange(1, 1000), 500)),
    "a star": lambda: dr.generators.star(5000),
    "a star that points out": lambda: dr.Graph.from_edges(np.zeros(5000, np.int64), np.arange(1, 5001)),
    "a grid": lambda: dr.generators.grid(100, 100),
    "R-MAT": lambda: dr.generators.rmat(14, 8, seed=3),
    "R-MAT, directed": lambda: dr.generators.rmat(14, 8, seed=3, symmetrize=False),
    "two rings of three": lambda: dr.Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], num_vertices=6),
}


@pytest.mark.parametrize("name", ON_ALL_SCALES)
def test_tol_bounds_the_sum_of_changes_and_so_the_error_whatever_the_size(name):
    graph = ON_ALL_SCALES[name]()
    result = dr.pagerank(graph)  # the default number of iterations is enough
    assert result.finished == "converged"
    result.verify()
    exact = dr.pagerank(graph, tol=1e-12, max_iter=400).rank
    assert np.abs(result.rank - exact).sum() < 1e-6 * 0.85 / 0.15


def test_walks_from_one_vertex_settle_by_the_same_rule():
    result = dr.random_walk_with_restart(dr.generators.grid(100, 100), 0)
    result.verify()
    exact = dr.random_walk_with_restart(dr.generators.grid(100, 100), 0, tol=1e-12, max_iter=400)
    assert np.abs(result.rank - exact.rank).sum() < 1e-6 * 0.85 / 0.15


def test_the_verifier_refuses_what_stopped_too_soon():
    graph = dr.generators.grid(100, 100)
    early = dr.pagerank(graph, tol=graph.num_vertices * 1e-6)
    result = dr.pagerank(graph)
    result["rank"][:] = early.rank
    with pytest.raises(VerificationError, match="one more step"):
        result.verify()


def test_the_limit_is_an_error_that_has_the_result():
    graph = dr.generators.star(9)
    with pytest.raises(ConvergenceError) as caught:
        dr.pagerank(graph, max_iter=4)
    assert caught.value.iterations == 4
    returned = dr.pagerank(graph, max_iter=4, on_limit="return")
    assert caught.value.result.rank.tolist() == returned.rank.tolist()
    assert (returned.iterations, returned.finished) == (4, "")
    returned.verify()
    prior = np.zeros((10, 1))
    prior[0] = 1.0
    with pytest.raises(ConvergenceError) as caught:
        dr.belief_propagation(graph, prior, [[0.2]], max_iter=2, device="reference")
    beliefs = dr.belief_propagation(graph, prior, [[0.2]], max_iter=2, on_limit="return", device="reference")
    assert caught.value.result.belief.tolist() == beliefs.belief.tolist()
    beliefs.verify()


def by_numpy(graph, iterations, *, redistribute):
    """Power iteration from scratch; GAP lets the mass of vertices without out-edges go, LDBC spreads it."""
    edges, n = graph.edges(arcs=True), graph.num_vertices
    degree = np.bincount(edges.src, minlength=n)
    rank = np.full(n, 1 / n)
    for _ in range(iterations):
        sent = np.divide(rank, degree, out=np.zeros(n), where=degree > 0)
        lost = rank[degree == 0].sum() / n if redistribute else 0.0
        rank = 0.15 / n + 0.85 * (np.bincount(edges.dst, weights=sent[edges.src], minlength=n) + lost)
    return rank


def test_the_conventions_of_ldbc_and_gap():
    """The recipes of docs/algorithms.md."""
    graph = dr.Graph.from_edges([0, 1, 1, 2, 2, 4], [1, 0, 2, 3, 3, 3], num_vertices=6)
    for iterations in (1, 2, 7):
        ldbc = dr.pagerank(graph, weight=None, tol=0, max_iter=iterations, on_limit="return")
        np.testing.assert_allclose(ldbc.rank, by_numpy(graph, iterations, redistribute=True), rtol=1e-12)
        ldbc.verify()
    rank = dr.pagerank(graph, weight=None, tol=1e-14, max_iter=300).rank
    gap = rank * 0.15 / (0.15 + 0.85 * rank[graph.out_degree == 0].sum())
    np.testing.assert_allclose(gap, by_numpy(graph, 300, redistribute=False), rtol=1e-12)


def test_the_verifier_refuses_ranks_that_are_no_fixed_point():
    result = dr.pagerank(dr.generators.star(4), device="reference")
    result.verify()
    result["rank"][:] = 1 / 5
    with pytest.raises(VerificationError, match="one more step"):
        result.verify()
