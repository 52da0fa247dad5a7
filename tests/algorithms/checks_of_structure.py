"""Components, cores, triangles, communities and choices against NetworkX."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

import dromos as dr
from tests.algorithms.checking import UNDIRECTED, WEIGHTED, check, close, pairs, plain, sets
from tests.algorithms.support import as_networkx, row


def least_members(parts: Any, n: int) -> list[int]:
    """The least vertex of each one's part."""
    return row({v: min(part) for part in parts for v in part}, n, -1).tolist()


@check("connected_components")
def _(graph: dr.Graph) -> None:
    parts = nx.connected_components(nx.Graph(as_networkx(graph)))
    assert dr.connected_components(graph).label.tolist() == least_members(parts, graph.num_vertices)


@check("strongly_connected_components")
def _(graph: dr.Graph) -> None:
    parts = nx.strongly_connected_components(nx.DiGraph(as_networkx(graph)))
    assert dr.strongly_connected_components(graph).label.tolist() == least_members(parts, graph.num_vertices)


@check("core_numbers")
def _(graph: dr.Graph) -> None:
    expected = nx.core_number(plain(graph))
    assert dr.core_numbers(graph).core.tolist() == row(expected, graph.num_vertices, 0).tolist()


@check("k_core")
def _(graph: dr.Graph) -> None:
    for k in (1, 2, 3):
        assert set(np.flatnonzero(dr.k_core(graph, k).member)) == set(nx.k_core(plain(graph), k))


@check("triangles", **UNDIRECTED)
def _(graph: dr.Graph) -> None:
    expected = row(nx.triangles(plain(graph)), graph.num_vertices, 0)
    assert dr.triangles(graph).triangles.tolist() == expected.tolist()


@check("clustering", **UNDIRECTED)
def _(graph: dr.Graph) -> None:
    close(dr.clustering(graph).clustering, row(nx.clustering(plain(graph)), graph.num_vertices, 0))


@check("transitivity", **UNDIRECTED)
def _(graph: dr.Graph) -> None:
    assert dr.transitivity(graph).transitivity == pytest.approx(nx.transitivity(plain(graph)))


@check("truss_numbers", **UNDIRECTED)
def _(graph: dr.Graph) -> None:
    found, other = dr.truss_numbers(graph), plain(graph)
    for k in range(2, int(found.max_truss) + 2):
        assert pairs(found, found.truss >= k) == {tuple(sorted(edge)) for edge in nx.k_truss(other, k).edges}


@check("bridges", **UNDIRECTED)
def _(graph: dr.Graph) -> None:
    multi = as_networkx(graph)
    multi.remove_edges_from(list(nx.selfloop_edges(multi, keys=True)))
    assert pairs(dr.bridges(graph)) == {tuple(sorted(edge)) for edge in nx.bridges(multi)}


@check("biconnected_components", **UNDIRECTED)
def _(graph: dr.Graph) -> None:
    found = dr.biconnected_components(graph)
    expected = {frozenset(tuple(sorted(e)) for e in part) for part in nx.biconnected_component_edges(plain(graph))}
    assert {frozenset(pairs(found, found.component == number)) for number in range(found.count)} == expected


@check("articulation_points", **UNDIRECTED)
def _(graph: dr.Graph) -> None:
    assert set(np.flatnonzero(dr.articulation_points(graph).member)) == set(nx.articulation_points(plain(graph)))


# ---- communities and choices ----------------------------------------------------------------------------------------


@check("label_propagation")
def _(graph: dr.Graph) -> None:
    """Each takes the most frequent label around it, of several the least; all at once."""
    other = as_networkx(graph)
    labels = list(range(graph.num_vertices))
    for _ in range(3):
        heard: list[list[int]] = [[] for _ in labels]
        for u, v in other.edges():
            heard[u].append(labels[v])
            if u != v or graph.directed:
                heard[v].append(labels[u])
        labels = [min(h, key=lambda x: (-h.count(x), x)) if h else labels[v] for v, h in enumerate(heard)]
    assert dr.label_propagation(graph, 3).label.tolist() == labels


def divided(graph: dr.Graph, result: Any) -> None:
    """The modularity is NetworkX's, and no worse than that of no division at all."""
    result.verify()
    if graph.num_arcs:
        expected = nx.community.modularity(as_networkx(graph), sets(result.community))
        assert result.modularity == pytest.approx(expected, abs=1e-9)
        alone = nx.community.modularity(as_networkx(graph), [{v} for v in range(graph.num_vertices)])
        assert result.modularity >= alone - 1e-9


@check("louvain", **UNDIRECTED, **WEIGHTED)
def _(graph: dr.Graph) -> None:
    divided(graph, dr.louvain(graph, seed=1))


@check("leiden", **UNDIRECTED, **WEIGHTED)
def _(graph: dr.Graph) -> None:
    found, other = dr.leiden(graph, seed=1), as_networkx(graph)
    divided(graph, found)
    assert all(nx.is_connected(other.subgraph(part)) for part in sets(found.community))


@check("modularity", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    community = np.arange(graph.num_vertices) % 3
    if graph.num_arcs:
        expected = nx.community.modularity(as_networkx(graph), sets(community))
        assert float(dr.modularity(graph, community)) == pytest.approx(expected, abs=1e-9)


@check("minimum_spanning_forest", **UNDIRECTED, **WEIGHTED)
def _(graph: dr.Graph) -> None:
    edges = nx.minimum_spanning_edges(as_networkx(graph), data=True)
    assert dr.minimum_spanning_forest(graph).total_weight == pytest.approx(sum(data["weight"] for *_, data in edges))


@check("maximal_independent_set")
def _(graph: dr.Graph) -> None:
    chosen = set(np.flatnonzero(dr.maximal_independent_set(graph, seed=3).member).tolist())
    assert nx.is_dominating_set(nx.Graph(plain(graph)), chosen) or not chosen
    assert nx.Graph(plain(graph)).subgraph(chosen).number_of_edges() == 0


@check("maximal_matching", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    mates = {(u, v) for u, v in enumerate(dr.maximal_matching(graph).mate.tolist()) if u < v}
    assert nx.is_maximal_matching(nx.Graph(plain(graph)), mates)


@check("coloring")
def _(graph: dr.Graph) -> None:
    found, other = dr.coloring(graph), nx.Graph(plain(graph))
    assert all(found.color[u] != found.color[v] for u, v in other.edges)
    assert found.count <= 1 + max(dict(other.degree()).values())


@check("node_similarity", **UNDIRECTED)
def _(graph: dr.Graph) -> None:
    other = plain(graph)
    edges = np.array(list(other.edges), dtype=np.int64).reshape(-1, 2)
    simple = dr.Graph.from_edges(edges[:, 0], edges[:, 1], num_vertices=graph.num_vertices, directed=False)
    found = dr.node_similarity(simple, k=graph.num_vertices)
    ends = zip(found.source.tolist(), found.target.tolist(), strict=True)
    similar = dict(zip(ends, found.similarity.tolist(), strict=True))
    for u, v, expected in nx.jaccard_coefficient(other, combinations(other, 2)):
        assert similar.get((u, v), 0.0) == pytest.approx(expected)


@check("random_walks", **WEIGHTED)
def _(graph: dr.Graph) -> None:
    """Every step is an edge, and a walk ends early only where there is none."""
    other = as_networkx(graph)
    out = other.out_degree if graph.directed else other.degree
    for walk in dr.random_walks(graph, 5, 2, seed=2).walk.tolist():
        for u, v in pairwise(walk):
            assert other.has_edge(u, v) if v >= 0 else u < 0 or out(u) == 0
