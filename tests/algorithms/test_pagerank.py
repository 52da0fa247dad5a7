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
        result = dr.pagerank(graph, alpha=alpha, **given_, device=device, path=path)
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
    result = dr.random_walk_with_restart(graph, "b", device=device)
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
        ({"max_iter": 2.5}, InvalidArgumentError, "max_iter=2.5"),
        ({"max_iter": 1, "tol": 1e-12}, ConvergenceError, "after 1 iterations; raise max_iter"),
        ({"personalization": {0: 0.0}}, InvalidArgumentError, "personalization must be"),
        ({"personalization": {9: 1.0}}, UnknownVertexError, "no vertex 9"),
        ({"nstart": [1.0, 2.0]}, InvalidArgumentError, r"nstart has shape \(2,\)"),
        ({"dangling": [1.0, np.nan, 0.0]}, InvalidArgumentError, "not finite"),
        ({"dangling": "everywhere"}, InvalidArgumentError, "neither a mapping"),
        ({"dtype": np.int32}, InvalidArgumentError, "neither float64 nor float32"),
        ({"weight": "cost"}, InvalidArgumentError, "a graph has one weight"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        dr.pagerank(dr.generators.path(3), device="reference", **arguments)


def test_negative_weights_are_refused():
    with pytest.raises(InvalidArgumentError, match="below zero"):
        dr.pagerank(dr.Graph.from_edges([0], [1], [-1.0]), device="reference")


def test_the_verifier_refuses_ranks_that_are_no_fixed_point():
    result = dr.pagerank(dr.generators.star(4), device="reference")
    result.verify()
    result["rank"][:] = 1 / 5
    with pytest.raises(VerificationError, match="one more step"):
        result.verify()
