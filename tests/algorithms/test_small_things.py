"""What people reach for first: paths, component sizes, degrees, transitivity, weighted closeness."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import dromos as dr
from dromos.errors import InvalidArgumentError, UnknownVertexError, VerificationError
from dromos.graph import build_small
from tests.algorithms.support import as_networkx, examples, graphs, row


@examples(15)
@given(graph=graphs(low=1, high=8, weights=(0.0, 1.0, 2.5)))
def test_paths_lead_from_the_source_along_edges_in_the_distance(graph):
    found, other = dr.sssp(graph, 0, device="reference"), as_networkx(graph)
    for v in range(graph.num_vertices):
        path = found.path_to(v)
        assert bool(path) == nx.has_path(other, 0, v)
        if path:
            assert (path[0], path[-1]) == (0, v)
            assert nx.path_weight(nx.DiGraph(_lightest(other)), path, "weight") == found.distance[v]


def _lightest(graph):
    best = {}
    for u, v, weight in graph.edges(data="weight"):
        for a, b in ((u, v),) if graph.is_directed() else ((u, v), (v, u)):
            best[a, b] = min(weight, best.get((a, b), np.inf))
    return [(u, v, {"weight": weight}) for (u, v), weight in best.items()]


def test_a_result_without_parents_has_no_paths():
    with pytest.raises(InvalidArgumentError, match="degree_distribution finds no paths"):
        dr.degree_distribution(dr.generators.path(3)).path_to(0)
    with pytest.raises(UnknownVertexError):
        dr.bfs(dr.generators.path(3), 0).path_to(3)


@examples(20)
@given(graph=graphs(weights=(1.0,)))
def test_numbers_about_the_whole_graph_are_those_of_networkx(graph):
    other, n = as_networkx(graph), graph.num_vertices
    share = dr.degree_centrality(graph)
    share.verify()
    if n:
        np.testing.assert_allclose(share.centrality, row(nx.degree_centrality(other), n, 0))
    mixing = dr.assortativity(graph)
    mixing.verify()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NetworkX divides by zero where all degrees are equal
        expected = nx.degree_assortativity_coefficient(other) if graph.num_arcs else np.nan
    if np.isfinite(mixing.assortativity):
        assert mixing.assortativity == pytest.approx(expected, abs=1e-9)
    if not graph.directed:
        closed = dr.transitivity(graph, device="reference")
        closed.verify()
        plain = nx.Graph(other)
        plain.remove_edges_from(list(nx.selfloop_edges(plain)))
        assert closed.transitivity == pytest.approx(nx.transitivity(plain))
    weak = dr.connected_components(graph, device="reference")
    for part in nx.weakly_connected_components(other) if graph.directed else nx.connected_components(other):
        assert all(weak.size[v] == len(part) for v in part)
    if n:
        assert dr.largest_component(graph, device="reference").num_vertices == weak.size.max()


@pytest.mark.parametrize("direction", ["in", "out"])
def test_degrees_by_direction(direction):
    graph = dr.Graph.from_edges([0, 0, 1, 1], [1, 2, 2, 2])
    expected = getattr(nx, f"{direction}_degree_centrality")(as_networkx(graph))
    result = dr.degree_centrality(graph, direction)
    assert result.centrality.tolist() == [expected[v] for v in range(3)]
    result.verify()
    result["centrality"][1] = 0
    with pytest.raises(VerificationError, match="vertex 1 has another degree"):
        result.verify()


@pytest.mark.parametrize("directed", [False, True])
def test_assortativity_does_not_depend_on_the_threads_or_on_a_compiler(directed, monkeypatch):
    graph = dr.generators.rmat(13, seed=3, symmetrize=not directed, weights=(1, 9))
    found = [dr.assortativity(graph, threads=threads) for threads in (1, 2, 5)]
    found[0].verify()
    assert found[0].assortativity == found[1].assortativity == found[2].assortativity
    monkeypatch.setattr(build_small, "is_preferred", lambda edges: True)
    assert dr.assortativity(graph).assortativity == pytest.approx(found[0].assortativity, rel=1e-9)
    assert np.array_equal(dr.assortativity(graph).degree, found[0].degree)


def test_the_largest_strong_component():
    graph = dr.Graph.from_edges(list("abcx"), list("bcay"))
    assert dr.largest_component(graph, strong=True).labels.to_numpy().tolist() == ["a", "b", "c"]
    assert dr.strongly_connected_components(graph).size.max() == 3
    assert not dr.has_path(graph, "a", "y")


def test_the_largest_component_of_nothing_is_in_memory_too(tmp_path):
    dr.write(dr.Graph.from_edges([], []), tmp_path / "none.drm")
    for strong in (False, True):
        found = dr.largest_component(dr.open(tmp_path / "none.drm"), strong=strong)
        assert not found.on_disk
        assert found.num_vertices == 0


@examples(10)
@given(graph=graphs(low=1, high=7, weights=(0.0, 0.5, 1.0, 3.0), unweighted=False))
def test_weighted_closeness_is_that_of_networkx(graph):
    result = dr.closeness(graph, weight="weight", device="reference")
    expected = nx.closeness_centrality(as_networkx(graph), distance="weight")
    np.testing.assert_allclose(result.centrality, row(expected, graph.num_vertices, 0))
    result.verify()
    some = dr.closeness(graph, sources=range(graph.num_vertices), weight="weight", device="reference")
    np.testing.assert_allclose(some.centrality, result.centrality)
    some.verify()


def _lightest_of(graph):
    best = nx.DiGraph() if graph.directed else nx.Graph()
    best.add_nodes_from(range(graph.num_vertices))
    for u, v, weight in as_networkx(graph).edges(data="weight"):
        if not best.has_edge(u, v) or best[u][v]["weight"] > weight:
            best.add_edge(u, v, weight=weight)
    return best


@pytest.mark.parametrize("device", ["reference", "cpu"])
@examples(12)
@given(graph=graphs(low=1, high=8, weights=(0.1, 0.2, 0.3, 1.0, 3.0), unweighted=False))
def test_weighted_betweenness_is_that_of_networkx(device, graph):
    other, n = _lightest_of(graph), graph.num_vertices
    for endpoints, normalized in ((False, True), (True, False)):
        result = dr.betweenness(
            graph, weight="weight", endpoints=endpoints, normalized=normalized, device=device, threads=2
        )
        expected = nx.betweenness_centrality(other, weight="weight", endpoints=endpoints, normalized=normalized)
        np.testing.assert_allclose(result.centrality, row(expected, n, 0), atol=1e-12)
        result.verify()


def test_weighted_betweenness_refuses_weights_of_zero_and_wrong_answers():
    with pytest.raises(InvalidArgumentError, match="a weight is 0"):
        dr.betweenness(dr.Graph.from_edges([0], [1], [0.0]), weight="weight")
    result = dr.betweenness(dr.Graph.from_edges([0, 1, 0], [1, 2, 2], [1.0, 1.0, 5.0]), weight="weight")
    assert result.centrality.tolist() == [0, 0.5, 0]
    result["centrality"][1] = 0
    with pytest.raises(VerificationError, match="dependencies sum to 0"):
        result.verify()


@examples(12)
@given(graph=graphs(low=1, high=8, weights=(0.0, 0.5, 1.0, 3.0), unweighted=False))
def test_distances_by_weight_are_those_of_networkx(graph):
    other, n = _lightest_of(graph), graph.num_vertices
    result = dr.distances(graph, range(n), weight="weight", device="reference")
    for v in range(n):
        expected = nx.single_source_dijkstra_path_length(other, v)
        np.testing.assert_allclose(result.distance[v], row(expected, n, np.inf))
    result.verify()
    some = dr.distances(graph, [0], targets=[n - 1], weight="weight", device="reference")
    assert some.distance.tolist() == [[result.distance[0, n - 1]]]
    some.verify()


def test_all_pairs_by_weight(tmp_path):
    import pyarrow.parquet as parquet

    graph = dr.Graph.from_edges(["a", "a", "b"], ["b", "c", "c"], [1.5, 9.0, 2.0])
    result = dr.all_pairs(graph, tmp_path / "pairs.parquet", weight="weight", memory=50, device="reference")
    rows = {row["source"]: row["distance"] for row in parquet.read_table(tmp_path / "pairs.parquet").to_pylist()}
    assert rows == {"a": [0.0, 1.5, 3.5], "b": [np.inf, 0.0, 2.0], "c": [np.inf, np.inf, 0.0]}
    assert (result.rows, result.sources.tolist()) == (3, [2, 1])
    result.verify()
    with pytest.raises(InvalidArgumentError, match="depth_limit counts edges"):
        dr.all_pairs(graph, tmp_path / "pairs.parquet", weight="weight", depth_limit=2, device="reference")


@examples(20)
@given(graph=graphs(high=8, weights=(0.0, 0.5, 1.0, 3.0), unweighted=False))
def test_clustering_by_direction_and_weight_is_that_of_networkx(graph):
    edges = graph.edges()
    graph = dr.Graph.from_edges(
        edges.src, edges.dst, edges.weight, num_vertices=graph.num_vertices, directed=graph.directed, dedupe=True
    )
    other, n = _lightest_of(graph), graph.num_vertices
    for weight in (None, "weight"):
        result = dr.clustering(graph, weight=weight, device="reference")
        if weight is None or (graph.num_arcs and graph.weights.max() > 0):
            np.testing.assert_allclose(result.clustering, row(nx.clustering(other, weight=weight), n, 0), atol=1e-12)
        result.verify()


def test_a_wrong_directed_clustering_is_refused():
    result = dr.clustering(dr.Graph.from_edges([0, 1, 2], [1, 2, 0]))
    assert result.clustering.tolist() == [0.5, 0.5, 0.5]
    result["clustering"][1] = 1
    with pytest.raises(VerificationError, match="vertex 1 has other closed walks"):
        result.verify()
