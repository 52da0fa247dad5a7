"""Real graphs: the CPU engine's answers against SciPy's and NetworkX's, and against the verifiers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csgraph

import dromos as dr

DATA = Path(__file__).parent.parent / "data"
FILES = {
    "votes": "wiki-Vote.txt.gz",  # directed, sparse ids
    "peers": "p2p-Gnutella31.v.gz",  # directed, weighted
    "trust": "PGPgiantcompo.graph.gz",  # undirected
    "mesh": "4elt.graph.gz",  # undirected, high diameter
}
every_graph = pytest.mark.parametrize("name", FILES)


@cache
def load(name):
    return dr.read(DATA / FILES[name])


def hub(graph):
    """The vertex with the most out-edges, as the graph calls it, and its id."""
    at = int(graph.out_degree.argmax())
    return (at if graph.labels is None else graph.labels.values_of(np.array([at])).tolist()[0]), at


def ones(graph):
    return graph.with_weights(None).to_scipy().astype(float)


@every_graph
def test_levels_and_distances(name):
    graph = load(name)
    vertex, at = hub(graph)
    levels = csgraph.shortest_path(ones(graph), unweighted=True, indices=at)
    result = dr.bfs(graph, vertex)
    assert np.array_equal(result.level, np.where(np.isfinite(levels), levels, -1))
    result.verify()
    found = dr.sssp(graph, vertex)
    expected = csgraph.dijkstra(graph.to_scipy().astype(float), indices=at) if graph.weights is not None else levels
    np.testing.assert_allclose(found.distance, expected, rtol=1e-12)
    found.verify()


@every_graph
def test_components(name):
    graph = load(name)
    for algorithm, connection in ((dr.connected_components, "weak"), (dr.strongly_connected_components, "strong")):
        count, part = csgraph.connected_components(ones(graph), connection=connection)
        result = algorithm(graph)
        assert result.count == count
        assert len(np.unique(np.stack([part, result.label]), axis=1).T) == count
        result.verify()
    by_program = dr.connected_components(graph, path="sync-pull-td")
    assert np.array_equal(by_program.label, dr.connected_components(graph).label)


@pytest.mark.parametrize("name", ["votes", "trust"])
def test_ranks_and_centralities(name):
    graph = load(name)
    other = nx.from_scipy_sparse_array(ones(graph), create_using=nx.DiGraph if graph.directed else nx.Graph)
    result = dr.pagerank(graph, weight=None)
    expected = nx.pagerank(other)
    np.testing.assert_allclose(result.rank, [expected[v] for v in range(graph.num_vertices)], rtol=1e-9)
    result.verify()
    central = dr.betweenness(graph, k=3, seed=5)
    expected = nx.betweenness_centrality(other, k=3, seed=5)
    np.testing.assert_allclose(central.centrality, [expected[v] for v in range(graph.num_vertices)], rtol=1e-9)


@every_graph
def test_cores(name):
    graph = load(name)
    other = nx.from_scipy_sparse_array(ones(graph), create_using=nx.DiGraph if graph.directed else nx.Graph)
    other.remove_edges_from(list(nx.selfloop_edges(other)))
    expected = nx.core_number(other)
    result = dr.core_numbers(graph)
    assert result.core.tolist() == [expected[v] for v in range(graph.num_vertices)]
    result.verify()
    densest = dr.k_core(graph)
    assert np.array_equal(densest.member, result.core == result.degeneracy)
    densest.verify()


@pytest.mark.parametrize("name", ["trust", "mesh"])
def test_triangles_communities_and_products(name):
    graph = load(name)
    dr.triangles(graph).verify()
    dr.clustering(graph).verify()
    dr.label_propagation(graph).verify()
    x = np.random.default_rng(1).random(graph.num_vertices)
    np.testing.assert_allclose(dr.spmv(graph, x).y, graph.to_scipy() @ x, rtol=1e-9)
