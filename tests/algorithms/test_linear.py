"""Matrix products, beliefs, communities and degrees."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.belief_propagation import belief_program
from dromos.algorithms.label_propagation import verify as verify_labels
from dromos.algorithms.spmv import SpMV
from dromos.errors import ConvergenceError, InvalidArgumentError, VerificationError
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device

WEIGHTS = (-1.0, 0.5, 2.0)


def dense(graph):
    matrix = np.zeros((graph.num_vertices, graph.num_vertices))
    edges = graph.edges(arcs=True)
    np.add.at(matrix, (edges.src, edges.dst), 1 if edges.weight is None else edges.weight)
    return matrix


@on_every_device
@examples(25)
@given(graph=graphs(weights=WEIGHTS), transpose=st.booleans(), data=st.data())
def test_products_are_those_of_the_matrix_on_every_path(device, graph, transpose, data):
    x = np.array([data.draw(st.integers(-5, 5)) for _ in range(graph.num_vertices)], dtype=float)
    matrix = dense(graph).T if transpose else dense(graph)
    for path in legal_paths(graph, SpMV):
        result = dr.spmv(graph, x, transpose=transpose, device=device, path=path)
        np.testing.assert_allclose(result.y, matrix @ x, atol=1e-12)
        result.verify()


@on_every_device
@examples(10)
@given(graph=graphs(high=7, directed=False, weights=(0.5, 1.0)), echo=st.booleans(), data=st.data())
def test_beliefs_are_the_solution_of_the_linear_system_on_every_path(device, graph, echo, data):
    classes = 2 if device == "cpu" else data.draw(st.integers(1, 3))  # each number of classes is compiled
    n = graph.num_vertices
    draw = st.lists(st.floats(-1, 1, width=32), min_size=classes, max_size=classes)
    prior = np.array([data.draw(draw) for _ in range(n)]).reshape(n, classes)
    coupling = 0.004 * (np.eye(classes) * 2 - np.ones((classes, classes)))
    matrix, edges = dense(graph), graph.edges(arcs=True)
    squares = np.zeros(n)
    np.add.at(squares, edges.src, 1 if edges.weight is None else edges.weight.astype(float) ** 2)
    system = np.kron(np.eye(n), np.eye(classes)) - np.kron(matrix.T, coupling.T)
    if echo:
        system += np.kron(np.diag(squares), (coupling @ coupling).T)
    expected = np.linalg.solve(system, prior.ravel()).reshape(n, classes) if n else prior
    for path in legal_paths(graph, belief_program(classes)):
        result = dr.belief_propagation(
            graph, prior, coupling, echo_cancellation=echo, tol=1e-12, device=device, path=path
        )
        np.testing.assert_allclose(result.belief, expected, atol=1e-10)
        result.verify()


def test_beliefs_that_grow_without_end_are_an_error():
    ring = dr.generators.cycle(4)
    with pytest.raises(ConvergenceError, match="scale the coupling down"):
        dr.belief_propagation(ring, np.ones((4, 1)), [[2.0]], max_iter=9, device="reference")
    with pytest.raises(InvalidArgumentError, match=r"prior has shape \(4,\)"):
        dr.belief_propagation(ring, np.ones(4), [[2.0]])
    with pytest.raises(InvalidArgumentError, match=r"coupling has shape \(1, 1\), expected \(2, 2\)"):
        dr.belief_propagation(ring, np.ones((4, 2)), [[2.0]])
    with pytest.raises(InvalidArgumentError, match="not finite"):
        dr.belief_propagation(ring, np.full((4, 1), np.inf), [[2.0]])


@on_every_device
@examples(40)
@given(graph=graphs(high=12), rounds=st.integers(0, 4))
def test_communities_obey_the_rule_of_each_round(device, graph, rounds):
    result = dr.label_propagation(graph, rounds, device=device)
    result.verify()
    assert result.label.tolist() == dr.label_propagation(graph, rounds, device="reference").label.tolist()
    assert result.count == len(set(result.label.tolist()))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_communities_do_not_depend_on_threads(threads):
    graph = dr.generators.rmat(11, seed=3, symmetrize=False)
    result = dr.label_propagation(graph, 3, threads=threads)
    result.verify()
    assert result.label.tolist() == dr.label_propagation(graph, 3, device="reference").label.tolist()


def test_the_label_verifier_refuses_a_label_that_is_not_most_frequent():
    graph = dr.generators.path(3)
    verify_labels(graph, np.array([1, 0, 1]), np.array([0, 1, 2]), 1)
    with pytest.raises(VerificationError, match="vertex 1"):
        verify_labels(graph, np.array([1, 2, 1]), np.array([0, 1, 2]), 1)


@examples(40)
@given(graph=graphs(weights=(1.0, 2.0)))
def test_degrees_are_counted_as_networkx_counts_them(graph):
    result = dr.degree_distribution(graph, device="reference")
    result.verify()
    other = as_networkx(graph)
    assert result["count"].tolist() == (nx.degree_histogram(other) if graph.num_vertices else [])
    if graph.directed and graph.num_vertices:
        degrees = np.bincount([degree for _, degree in other.in_degree()])
        inward = dr.degree_distribution(graph, "in", device="reference")
        assert inward["count"].tolist() == degrees.tolist()
        inward.verify()


def test_an_unknown_direction_is_refused():
    with pytest.raises(InvalidArgumentError, match="direction='up'"):
        dr.degree_distribution(dr.generators.path(3), "up", device="reference")


def test_vectors_that_do_not_fit_are_refused():
    graph = dr.Graph.from_edges(["a"], ["b"], [2.0])
    assert dr.spmv(graph, {"b": 3}, device="reference").y.tolist() == [6.0, 0.0]
    with pytest.raises(InvalidArgumentError, match=r"x has shape \(3,\), but the graph has 2"):
        dr.spmv(graph, [1, 2, 3])
    result = dr.spmv(graph, [1, 1], device="reference")
    result["y"][0] = 5
    with pytest.raises(VerificationError, match="differs"):
        result.verify()


def test_large_numbers_whose_sum_overflows_are_finite():
    line = dr.generators.path(3)
    assert dr.spmv(line, [1e308, 0, 1.5e308], device="numpy").y.tolist()[0] == 0
    for wrong in (np.nan, np.inf, -np.inf):
        with pytest.raises(InvalidArgumentError, match="not finite"):
            dr.spmv(line, [1.0, wrong, -wrong], device="numpy")


def test_a_program_takes_arrays_of_an_engine_as_they_are():
    values = np.arange(3.0)
    assert SpMV.taking(x=values).params["x"] is values
    assert SpMV(x=values).params["x"] is not values
