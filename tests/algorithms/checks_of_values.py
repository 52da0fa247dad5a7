"""Distances, ranks and centralities against NetworkX and SciPy."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow.parquet
import pytest
import scipy.sparse
from hypothesis import assume

import dromos as dr
from tests.algorithms.checking import WEIGHTED, check, close, downward, matrix, plain, steps
from tests.algorithms.support import as_networkx, row

# ---- searches and distances ----------------------------------------------------------------------------------------


@check("bfs")
def _(graph: dr.Graph) -> None:
    expected = nx.single_source_shortest_path_length(as_networkx(graph), 0)
    assert dr.bfs(graph, 0).level.tolist() == row(expected, graph.num_vertices, -1).tolist()


@check("sssp", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    expected = nx.single_source_dijkstra_path_length(as_networkx(graph), 0)
    close(dr.sssp(graph, 0).distance, row(expected, graph.num_vertices, np.inf))


@check("multi_source_bfs")
def _(graph: dr.Graph) -> None:
    found, expected = dr.multi_source_bfs(graph, range(graph.num_vertices)), steps(graph)
    reached = np.where(np.isfinite(expected), expected, 0)
    assert found.reached.tolist() == (np.isfinite(expected).sum(axis=1) - 1).tolist()
    assert found.depth.tolist() == reached.max(axis=1).tolist()


@check("distances")
def _(graph: dr.Graph) -> None:
    expected = np.where(np.isfinite(steps(graph)), steps(graph), -1)
    assert dr.distances(graph, range(graph.num_vertices)).distance.tolist() == expected.tolist()


@check("all_pairs")
def _(graph: dr.Graph) -> None:
    with tempfile.TemporaryDirectory() as folder:
        dr.all_pairs(graph, Path(folder) / "all.parquet")
        found = pyarrow.parquet.read_table(Path(folder) / "all.parquet")
    expected = np.where(np.isfinite(steps(graph)), steps(graph), -1)
    assert np.array(found["distance"].to_pylist()).tolist() == expected.tolist()


@check("closeness")
def _(graph: dr.Graph) -> None:
    close(dr.closeness(graph).centrality, row(nx.closeness_centrality(as_networkx(graph)), graph.num_vertices, 0))


@check("harmonic")
def _(graph: dr.Graph) -> None:
    close(dr.harmonic(graph).centrality, row(nx.harmonic_centrality(as_networkx(graph)), graph.num_vertices, 0))


@check("eccentricity")
def _(graph: dr.Graph) -> None:
    whole = dr.largest_component(graph, strong=True)
    assert dr.eccentricity(whole).eccentricity.tolist() == steps(whole).max(axis=1).tolist()


@check("diameter")
def _(graph: dr.Graph) -> None:
    whole = dr.largest_component(graph, strong=True)
    assert dr.diameter(whole) == steps(whole).max()


@check("radius")
def _(graph: dr.Graph) -> None:
    whole = dr.largest_component(graph, strong=True)
    assert dr.radius(whole) == steps(whole).max(axis=1).min()


@check("neighbourhood_function")
def _(graph: dr.Graph) -> None:
    """An estimate: as many pairs as there are, within four standard errors of 1.04 / sqrt(registers)."""
    found, expected = dr.neighbourhood_function(graph, registers=64), steps(graph)
    counts = [np.count_nonzero(expected <= distance) for distance in found.distance.tolist()]
    np.testing.assert_allclose(found.pairs, counts, rtol=0.52)
    np.testing.assert_allclose(found.pairs[-1], np.isfinite(expected).sum(), rtol=0.52)  # it may stop a little early


@check("topological_levels")
def _(graph: dr.Graph) -> None:
    directed = downward(graph)
    generations = nx.topological_generations(as_networkx(directed))
    expected = {v: level for level, part in enumerate(generations) for v in part}
    assert dr.topological_levels(directed).level.tolist() == row(expected, graph.num_vertices, 0).tolist()


@check("longest_paths", weights=(-1.0, 0.0, 1.0, 2.5))
def _(graph: dr.Graph) -> None:
    directed = downward(graph)
    assert dr.longest_paths(directed).length == max(
        nx.dag_longest_path_length(as_networkx(directed), default_weight=1), 0
    )


# ---- ranks and centralities ----------------------------------------------------------------------------------------

EXACT: dict[str, Any] = {"tol": 1e-13, "max_iter": 5000}


@check("pagerank", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    expected = nx.pagerank(as_networkx(graph), **EXACT)
    close(dr.pagerank(graph, tol=1e-10, max_iter=1000).rank, list(expected.values()), 1e-8)


@check("random_walk_with_restart", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    expected = nx.pagerank(as_networkx(graph), 0.85, personalization={0: 1}, dangling={0: 1}, **EXACT)
    close(dr.random_walk_with_restart(graph, 0, tol=1e-10, max_iter=1000).rank, list(expected.values()), 1e-8)


@check("personalized_pagerank", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    seed = graph.num_vertices - 1
    expected = nx.pagerank(as_networkx(graph), 0.5, personalization={seed: 1}, dangling={seed: 1}, **EXACT)
    close(dr.personalized_pagerank(graph, [seed], 0.5, tol=1e-10).rank[0], list(expected.values()), 1e-8)


@check("betweenness")
def _(graph: dr.Graph) -> None:
    close(dr.betweenness(graph).centrality, row(nx.betweenness_centrality(as_networkx(graph)), graph.num_vertices, 0))


@check("edge_betweenness")
def _(graph: dr.Graph) -> None:
    found, expected = dr.edge_betweenness(graph), nx.edge_betweenness_centrality(plain(graph))
    if not graph.directed:
        expected = {tuple(sorted(edge)): value for edge, value in expected.items()}
    ends = zip(found.source.tolist(), found.target.tolist(), strict=True)
    assert dict(zip(ends, found.centrality.tolist(), strict=True)) == pytest.approx(expected)


@check("eigenvector", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    """The vector that powers of the matrix plus one lead to, as in NetworkX."""
    found = dr.eigenvector(graph, tol=1e-12, on_limit="return")
    assume(found.finished == "converged")
    powers, expected = matrix(graph).T + scipy.sparse.eye_array(graph.num_vertices), np.ones(graph.num_vertices)
    for _ in range(1500):
        expected = powers @ expected
        expected /= np.linalg.norm(expected)
    close(found.centrality, expected, 1e-6)


@check("katz", weights=(0.25, 0.5, 1.0))
def _(graph: dr.Graph) -> None:
    whole = matrix(graph).toarray().T
    assume(np.abs(np.linalg.eigvals(whole)).max() < 19)
    expected = np.linalg.solve(np.eye(graph.num_vertices) - 0.05 * whole, np.ones(graph.num_vertices))
    close(dr.katz(graph, 0.05, tol=1e-12).centrality, expected / np.linalg.norm(expected), 1e-7)


@check("hits", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    """Shares that go to and fro along the edges, from equal ones on."""
    found = dr.hits(graph, tol=1e-12, on_limit="return")
    assume(found.finished == "converged" and graph.num_arcs > 0)
    whole, hub = matrix(graph), np.full(graph.num_vertices, 1 / graph.num_vertices)
    for _ in range(1500):
        authority = whole.T @ hub
        authority /= authority.sum()
        hub = whole @ authority
        hub /= hub.sum()
    close(found.hub, hub, 1e-6)
    close(found.authority, authority, 1e-6)


@check("degree_centrality")
def _(graph: dr.Graph) -> None:
    close(dr.degree_centrality(graph).centrality, row(nx.degree_centrality(as_networkx(graph)), graph.num_vertices, 0))


@check("degree_distribution")
def _(graph: dr.Graph) -> None:
    found, expected = dr.degree_distribution(graph), nx.degree_histogram(as_networkx(graph))
    counts = dict(zip(found["degree"].tolist(), found["count"].tolist(), strict=True))
    assert {d: c for d, c in counts.items() if c} == {d: c for d, c in enumerate(expected) if c}


@check("assortativity")
def _(graph: dr.Graph) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NetworkX divides by zero where all degrees are equal
        expected = nx.degree_assortativity_coefficient(as_networkx(graph)) if graph.num_arcs else np.nan
    found = float(dr.assortativity(graph))
    assert np.isnan(found) or found == pytest.approx(expected, abs=1e-9)


@check("spmv", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    x = np.linspace(-1, 2, graph.num_vertices)
    close(dr.spmv(graph, x).y, matrix(graph) @ x)


@check("belief_propagation", directed=False, weights=(0.5, 1.0))
def _(graph: dr.Graph) -> None:
    n, coupling = graph.num_vertices, 0.004 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    prior = np.linspace(-0.4, 0.4, 2 * n).reshape(n, 2)
    edges = graph.edges(arcs=True)
    squares = np.zeros(n)
    np.add.at(squares, edges.src, 1 if edges.weight is None else edges.weight.astype(float) ** 2)
    system = np.eye(2 * n) - np.kron(matrix(graph).toarray().T, coupling.T)
    found = dr.belief_propagation(graph, prior, coupling, echo_cancellation=True, tol=1e-12).belief
    echo = np.kron(np.diag(squares), (coupling @ coupling).T)
    close(found, np.linalg.solve(system + echo, prior.ravel()).reshape(n, 2))
