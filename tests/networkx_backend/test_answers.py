"""The backend's answers are NetworkX's: the same values in the same order, the same exceptions."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dromos.networkx_backend.centrality import through_nodes
from dromos.networkx_backend.convert import convert_from_nx
from dromos.networkx_backend.link_analysis import ranks_by_dromos
from dromos.networkx_backend.registry import REGISTRY
from dromos.networkx_backend.sums import MANY, sums_from_all
from tests.networkx_backend.cases import BACKEND_ONLY, CASES
from tests.networkx_backend.support import CLASSES, check, graphs
from tests.sizes import examples


def test_every_function_has_a_case():
    assert sorted({*CASES, *BACKEND_ONLY}) == sorted(REGISTRY)


@pytest.mark.parametrize("name", sorted(CASES))
def test_small_graphs(name):
    @examples(12, suppress_health_check=list(HealthCheck))
    @given(st.data(), st.sampled_from(CASES[name][0]), st.integers(0, 2**16))
    def compare(data, kind, seed):
        check(name, data.draw(graphs(kind)), random.Random(seed))

    compare()


@pytest.mark.parametrize("name", sorted(CASES))
def test_one_connected_graph_of_each_kind(name):
    """Graphs on which most functions have something to say; at least one call is answered by the backend."""
    answered = 0
    for kind in CASES[name][0]:
        for build in (nx.krackhardt_kite_graph, lambda: nx.balanced_tree(2, 3), lambda: nx.cycle_graph(6)):
            graph = CLASSES[kind](build())
            for number, (u, v) in enumerate(list(graph.edges())):
                graph.add_edge(u, v, weight=1 + number % 3)
            answered += check(name, graph, random.Random(3))
    assert answered


@pytest.mark.parametrize("kind", ["graph", "digraph"])
def test_large_graphs_are_searched_jointly(kind):
    """From some size on, Dromos's own kernels take over; here they are asked for on a small graph."""
    graph = CLASSES[kind](nx.gnp_random_graph(40, 0.1, seed=5))
    converted = convert_from_nx(graph)
    for reverse in (False, True):
        joint, one_by_one = (sums_from_all(converted, reverse=reverse, many=many) for many in (0, MANY))
        for ours, theirs in zip(joint, one_by_one, strict=True):
            assert np.allclose(ours, theirs)
    for sources in (np.arange(40), np.array([3, 17, 5])):
        for endpoints in (False, True):
            joint, one_by_one = (through_nodes(converted, sources, endpoints, many) for many in (0, MANY))
            assert np.allclose(joint, one_by_one)


@pytest.mark.parametrize("kind", ["graph", "digraph"])
def test_pagerank_of_large_graphs(kind):
    graph = CLASSES[kind](nx.gnp_random_graph(40, 0.05, seed=5))
    converted = convert_from_nx(graph)
    for alpha, tol in ((0.85, 1e-6), (0.5, 1e-3)):
        ours = ranks_by_dromos(converted, alpha, 100, tol)
        assert np.allclose(ours, list(nx.pagerank.orig_func(graph, alpha, tol=tol).values()), atol=1e-12)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        ranks_by_dromos(converted, 0.85, 1, 1e-9)


@pytest.mark.filterwarnings("ignore:Note. conversions:UserWarning")
@pytest.mark.parametrize("graph", [nx.grid_2d_graph(9, 9), nx.complete_bipartite_graph(9, 30)], ids=["grid", "hubs"])
def test_bellman_and_ford_keep_more_predecessors_than_there_are_nodes(graph):
    """Most nodes of these graphs have several predecessors at the same distance; all of them are listed."""
    source = next(iter(graph))
    ours = nx.bellman_ford_predecessor_and_distance(graph, source, backend="dromos")
    assert sum(map(len, ours[0].values())) > len(graph)
    assert ours == nx.bellman_ford_predecessor_and_distance(graph, source)


@pytest.mark.filterwarnings("ignore:Note. conversions:UserWarning")
def test_louvain_on_a_larger_graph_with_ties():
    graph = nx.connected_caveman_graph(12, 6)
    graph.add_edge(3, 3)
    for seed in range(5):
        ours = nx.community.louvain_communities(graph, seed=seed, backend="dromos")
        assert ours == nx.community.louvain_communities(graph, seed=seed)


@pytest.mark.filterwarnings("ignore:Note. conversions:UserWarning")
def test_leiden_gives_partitions():
    graph = nx.MultiGraph(nx.relabel_nodes(nx.connected_caveman_graph(6, 5), str))
    graph.add_edge("0", "1", weight=0.5)
    ours = nx.community.leiden_communities(graph, seed=4, backend="dromos")
    assert ours == nx.community.leiden_communities(graph, seed=4, backend="dromos")
    assert nx.community.is_partition(graph, ours)
    assert sorted(map(len, ours)) == [5] * 6
    levels = list(nx.community.leiden_partitions(graph, seed=4, backend="dromos"))
    assert levels[-1] == ours
    assert nx.community.leiden_communities(graph, max_level=1, seed=4, backend="dromos") == levels[0]
    with pytest.raises(ValueError, match="positive integer"):
        nx.community.leiden_communities(graph, max_level=0, backend="dromos")
    with pytest.raises(nx.NetworkXNotImplemented):
        nx.community.leiden_communities(nx.DiGraph([(0, 1)]), backend="dromos")


@pytest.mark.filterwarnings("ignore:Note. conversions:UserWarning")
@pytest.mark.parametrize("name", [int, str, lambda number: 7919 * number, lambda number: (number, "x")])
def test_generalized_degrees_count_in_networkx_s_order(name):
    """Which is the order of a set of the neighbours, where a node has edges in different numbers of triangles."""
    draw = random.Random(1)
    for n in (5, 30, 90):
        graph = nx.Graph()
        graph.add_nodes_from(map(name, draw.sample(range(n), n)))
        graph.add_edges_from((name(draw.randrange(n)), name(draw.randrange(n))) for _ in range(6 * n))
        for nodes in (None, [name(3), name(1)]):
            ours, theirs = (nx.generalized_degree(graph, nodes, backend=b) for b in ("dromos", "networkx"))
            assert [(v, [*count.items()]) for v, count in ours.items()] == [
                (v, [*count.items()]) for v, count in theirs.items()
            ]
        ours, theirs = (nx.generalized_degree(graph, name(1), backend=b) for b in ("dromos", "networkx"))
        assert [*ours.items()] == [*theirs.items()]


@pytest.mark.filterwarnings("ignore:Note. conversions:UserWarning")
@pytest.mark.parametrize("kind", sorted(CLASSES))
def test_hits_that_are_not_normalized_have_networkx_s_sign(kind):
    """Where NetworkX gives the same answer each time: without ``nstart`` it begins with other numbers in each call."""
    draw, compared = random.Random(3), 0
    for n in (20, 40, 60):
        graph = CLASSES[kind](nx.gnp_random_graph(n, 0.2, seed=n, directed=True))
        for u, v in list(graph.edges()):
            graph.add_edge(u, v, weight=draw.uniform(0.1, 2))
        for start in (None, {node: draw.random() for node in graph}):
            theirs, again, ours = (
                np.array([[*values.values()] for values in nx.hits(graph, nstart=start, normalized=False, backend=b)])
                for b in ("networkx", "networkx", "dromos")
            )
            if np.allclose(theirs, again, atol=1e-6):
                assert np.allclose(ours, theirs, atol=1e-6)
                compared += 1
    assert compared > 3
