"""Real graphs: every algorithm against SciPy, NetworkX and igraph where they have it, and against its verifier."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csgraph, diags, identity, triu
from scipy.sparse.linalg import cg

import dromos as dr

DATA = Path(__file__).parent.parent / "data"
FILES = {
    "votes": ("wiki-Vote.txt.gz", {}),  # directed, sparse ids
    "peers": ("p2p-Gnutella31.v.gz", {}),  # directed, weighted
    "mail": ("email-Enron.txt.gz", {}),  # both ways, one hub
    "friends": ("ego-Facebook.txt.gz", {"directed": False}),  # undirected, dense lumps
    "trust": ("PGPgiantcompo.graph.gz", {}),  # undirected, skewed
    "mesh": ("4elt.graph.gz", {}),  # undirected, high diameter
    "ten": ("ldbc-example-directed.v", {}),  # weighted
    "nine": ("ldbc-example-undirected.v", {"directed": False}),  # weighted
}
every_graph = pytest.mark.parametrize("name", FILES)
FEW = 50_000
"""Edges of graphs that NetworkX is asked about too, where SciPy can tell the answer in a fraction of the time."""


@cache
def load(name):
    file, options = FILES[name]
    return dr.read(DATA / file, **options)


@cache
def simple(name):
    """Undirected, without loops and weights: what triangles are counted in."""
    graph = load(name).with_weights(None)
    return graph.symmetrized() if graph.directed else graph


def as_networkx(graph):
    return nx.from_scipy_sparse_array(ones(graph), create_using=nx.DiGraph if graph.directed else nx.Graph)


def as_igraph(graph):
    igraph = pytest.importorskip("igraph")
    edges = graph.edges()
    ends = np.stack([edges.src, edges.dst], axis=1)
    return igraph.Graph(n=graph.num_vertices, edges=ends, directed=graph.directed)


def hub(graph):
    """The vertex with the most out-edges, as the graph calls it, and its id."""
    at = int(graph.out_degree.argmax())
    return (at if graph.labels is None else graph.labels.values_of(np.array([at])).tolist()[0]), at


def ones(graph):
    return graph.with_weights(None).to_scipy().astype(float)


def networkx_pagerank(matrix, **options):
    """NetworkX's ranks; it is given the matrix that it would make of its dictionaries, which takes most of its time."""
    with patch.object(nx, "to_scipy_sparse_array", lambda *args, **kwargs: matrix.copy()):
        return nx.pagerank(nx.empty_graph(matrix.shape[0], create_using=nx.DiGraph), **options)


def by_vertex(values, graph):
    return np.array([values[v] for v in range(graph.num_vertices)])


def triangles_of(matrix):
    """Triangles of each vertex, by products of matrices of the arcs to larger degrees: a hub's row is not squared."""
    order = np.argsort(np.diff(matrix.indptr), kind="stable")
    up = triu(matrix[order][:, order], format="csr")
    closed, opened = (up @ up).multiply(up), (up.T @ up).multiply(up)  # told at both ends, and in the middle
    found = np.empty(len(order))
    found[order] = closed.sum(axis=1) + closed.sum(axis=0) + opened.sum(axis=1)
    return found


def same_parts(a, b):
    """Whether two labellings part the vertices alike."""
    pairs = len(np.unique(np.stack([a, b]), axis=1).T)
    return pairs == len(np.unique(a)) == len(np.unique(b))


# ---- against SciPy and NetworkX ------------------------------------------------------------------------------------


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
        assert same_parts(part, result.label)
        result.verify()
    by_program = dr.connected_components(graph, path="sync-pull-td")
    assert np.array_equal(by_program.label, dr.connected_components(graph).label)


@every_graph
def test_ranks_and_centralities(name):
    graph = load(name)
    matrix = ones(graph)
    same = 1e-6 * graph.num_vertices  # NetworkX's rule for its default tol
    result = dr.pagerank(graph, weight=None, tol=same)
    np.testing.assert_allclose(result.rank, by_vertex(networkx_pagerank(matrix), graph), rtol=1e-9)
    result.verify()
    vertex, at = hub(graph)
    walk = dr.random_walk_with_restart(graph, vertex, weight=None, tol=same)
    expected = networkx_pagerank(matrix, personalization={at: 1})
    np.testing.assert_allclose(walk.rank, by_vertex(expected, graph), rtol=1e-9, atol=1e-300)
    central = dr.betweenness(graph, k=3, seed=5)
    expected = nx.betweenness_centrality(as_networkx(graph), k=3, seed=5)
    np.testing.assert_allclose(central.centrality, by_vertex(expected, graph), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", ["peers", "ten", "nine"])
def test_weighted_ranks(name):
    graph = load(name)
    matrix = graph.to_scipy().astype(float)
    found = dr.pagerank(graph, tol=1e-6 * graph.num_vertices).rank  # NetworkX's rule for its default tol
    np.testing.assert_allclose(found, by_vertex(networkx_pagerank(matrix), graph), rtol=1e-9)


@every_graph
def test_cores(name):
    graph = load(name)
    result = dr.core_numbers(graph)
    assert np.array_equal(result.core, as_igraph(graph).simplify(multiple=False).coreness())
    if graph.num_edges < FEW:
        other = as_networkx(graph)
        other.remove_edges_from(list(nx.selfloop_edges(other)))
        assert np.array_equal(result.core, by_vertex(nx.core_number(other), graph))
    result.verify()
    densest = dr.k_core(graph)
    assert np.array_equal(densest.member, result.core == result.degeneracy)
    densest.verify()


@every_graph
def test_triangles_and_clustering(name):
    graph = simple(name)
    matrix = ones(graph)
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    degree = matrix.sum(axis=1)
    expected = triangles_of(matrix)
    result = dr.triangles(graph)
    assert np.array_equal(result.triangles, expected)
    assert result.total == expected.sum() // 3
    result.verify()
    local = dr.clustering(graph)
    share = 2 * expected / np.maximum(degree * (degree - 1), 1)
    np.testing.assert_allclose(local.clustering, share, rtol=1e-12)
    local.verify()
    if graph.num_edges < FEW:
        other = nx.from_scipy_sparse_array(matrix)
        assert np.array_equal(result.triangles, by_vertex(nx.triangles(other), graph))
        np.testing.assert_allclose(local.clustering, by_vertex(nx.clustering(other), graph), rtol=1e-12)


@every_graph
def test_products_and_degrees(name):
    graph = load(name)
    x = np.random.default_rng(1).random(graph.num_vertices)
    matrix = graph.to_scipy()
    np.testing.assert_allclose(dr.spmv(graph, x).y, matrix @ x, rtol=1e-9)
    np.testing.assert_allclose(dr.spmv(graph, x, transpose=True).y, matrix.T @ x, rtol=1e-9)
    found = dr.degree_distribution(graph)
    edges = graph.edges()
    expected = np.bincount(np.bincount(np.concatenate(edges[:2]), minlength=graph.num_vertices))
    if graph.num_edges < FEW:
        other = (nx.MultiDiGraph if graph.directed else nx.MultiGraph)(
            zip(edges.src.tolist(), edges.dst.tolist(), strict=True)
        )
        other.add_nodes_from(range(graph.num_vertices))
        assert np.array_equal(expected, np.bincount([degree for _, degree in other.degree]))
    assert np.array_equal(found.degree, np.arange(len(expected)))
    assert np.array_equal(found.count, expected)


@every_graph
def test_beliefs_solve_their_linear_system(name):
    graph = simple(name)
    n = graph.num_vertices
    prior = np.zeros((n, 2))
    prior[hub(graph)[1]] = (0.5, -0.5)
    half = 0.05 / graph.out_degree.max()
    coupling = half * np.array([[1.0, -1.0], [-1.0, 1.0]])
    # two classes that mirror each other are one number a vertex, and the system is symmetric and close to the identity
    system = identity(n) - 2 * half * ones(graph)
    returned = diags((2 * half) ** 2 * graph.out_degree)
    for cancelled, matrix in ((False, system), (True, system + returned)):
        found = dr.belief_propagation(graph, prior, coupling, tol=1e-13, echo_cancellation=cancelled)
        expected, failed = cg(matrix, prior[:, 0], rtol=1e-14, atol=0.0)
        assert not failed
        np.testing.assert_allclose(found.belief[:, 0], expected, rtol=1e-6, atol=1e-12)


@every_graph
def test_communities(name):
    dr.label_propagation(load(name)).verify()


# ---- against igraph ------------------------------------------------------------------------------------------------


@every_graph
def test_igraph_agrees(name):
    graph = load(name)
    other = as_igraph(graph)
    vertex, at = hub(graph)
    level = np.array(other.distances(source=at)[0])
    assert np.array_equal(dr.bfs(graph, vertex).level, np.where(np.isinf(level), -1, level))
    if graph.weights is not None:
        far = np.array(other.distances(source=at, weights=graph.edges().weight.tolist())[0])
        np.testing.assert_allclose(dr.sssp(graph, vertex).distance, far, rtol=1e-12)
    for algorithm, mode in ((dr.connected_components, "weak"), (dr.strongly_connected_components, "strong")):
        assert same_parts(np.array(other.connected_components(mode=mode).membership), algorithm(graph).label)
    rank = np.array(other.pagerank(damping=0.85))
    np.testing.assert_allclose(dr.pagerank(graph, weight=None, tol=1e-12, max_iter=1000).rank, rank, rtol=1e-6)
    ids = [at, (at + 1) % graph.num_vertices]
    sources = ids if graph.labels is None else graph.labels.values_of(np.array(ids)).tolist()
    central = dr.betweenness(graph, sources=sources, normalized=False).centrality
    expected = np.array(other.betweenness(sources=ids))
    rest = np.setdiff1d(np.arange(graph.num_vertices), ids)
    if expected[rest].sum() > 0:  # each scales in its own way
        mine, theirs = central[rest] / central[rest].sum(), expected[rest] / expected[rest].sum()
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-14)


@every_graph
def test_igraph_agrees_on_cores_and_triangles(name):
    graph = simple(name)
    other = as_igraph(graph).simplify()
    assert np.array_equal(dr.core_numbers(graph).core, other.coreness())
    local = np.array(other.transitivity_local_undirected(mode="zero"))
    np.testing.assert_allclose(dr.clustering(graph).clustering, local, rtol=1e-9)
