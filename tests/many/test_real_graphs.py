"""On real graphs: joint searches are single ones for every source, and centralities are NetworkX's."""

from __future__ import annotations

import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import dromos as dr
from dromos.engines.native.joint import joint
from tests.algorithms.support import as_networkx, row

DATA = Path(__file__).parent.parent / "data"
ALL = [
    "4elt.graph.gz", "PGPgiantcompo.graph.gz", "ego-Facebook.txt.gz", "email-Enron.txt.gz", "p2p-Gnutella31.e.gz",
    "wiki-Vote.txt.gz",
]  # fmt: skip
OF_ONE_PIECE = ["4elt.graph.gz", "PGPgiantcompo.graph.gz", "ego-Facebook.txt.gz"]
# searched from: every vertex in a deep run (``make test-deep``), one in so many otherwise
STEP = 1 if "DROMOS_TEST_EXAMPLES" in os.environ else 40


@pytest.mark.parametrize("name", ALL)
def test_joint_searches_are_single_ones_for_every_source(name):
    graph = read(name)
    sources = np.arange(0, graph.num_vertices, STEP)
    compared = 0

    def compare(found):
        nonlocal compared
        for place, source in enumerate(found.sources):
            level = dr.bfs(graph, int(source), threads=1).level
            assert np.array_equal(found.distance[place], level)
            assert found.reached[place] == np.count_nonzero(level > 0)
            assert found.distance_sum[place] == level[level > 0].sum()
            assert found.depth[place] == level.max()
            compared += 1

    groups = [sources[begin : begin + 512] for begin in range(0, len(sources), 512)]
    joint(graph, groups=groups, consume=compare, distance=np.int32)
    assert compared == len(sources)


def read(name):
    """A graph of the folder without labels and weights."""
    graph = dr.read(DATA / name, **({"directed": False} if name in OF_ONE_PIECE else {}))
    return dr.Graph.from_csr(graph.offsets, graph.targets, directed=graph.directed)


def shipped(make):
    """A graph that NetworkX carries with itself."""
    ends = nx.convert_node_labels_to_integers(make())
    src, dst = np.array(list(ends.edges())).T
    return dr.Graph.from_edges(src, dst, num_vertices=len(ends), directed=False)


def neighbourhood():
    """A person of ego-Facebook, all friends, and who of these are friends."""
    friends = read("ego-Facebook.txt.gz")
    near = friends.subgraph(dr.bfs(friends, 0, 1).level >= 0)
    return dr.Graph.from_csr(near.offsets, near.targets, directed=False)


SMALL = {
    "karate club": lambda: shipped(nx.karate_club_graph),
    "les miserables": lambda: shipped(nx.les_miserables_graph),
    "florentine families": lambda: shipped(nx.florentine_families_graph),
    "southern women": lambda: shipped(nx.davis_southern_women_graph),
    "ldbc directed": lambda: read("ldbc-example-directed.e"),
    "ldbc undirected": lambda: read("ldbc-example-undirected.e"),
    "one of ego-Facebook": neighbourhood,
}


@pytest.mark.parametrize("name", SMALL)
def test_centralities_of_small_real_graphs_are_networkx(name):
    graph = SMALL[name]()
    n, other = graph.num_vertices, as_networkx(graph)
    plain = (nx.DiGraph if graph.directed else nx.Graph)(other)
    assert np.allclose(dr.closeness(graph).centrality, row(nx.closeness_centrality(plain), n, 0.0))
    assert np.allclose(dr.harmonic(graph).centrality, row(nx.harmonic_centrality(plain), n, 0.0))
    assert np.allclose(dr.betweenness(graph).centrality, row(nx.betweenness_centrality(plain), n, 0.0))
    if graph.directed and not nx.is_strongly_connected(plain):
        with pytest.raises(dr.errors.AlgorithmError, match="connected"):
            dr.eccentricity(graph)
        return
    result = dr.eccentricity(graph)
    assert np.array_equal(result.eccentricity, row(nx.eccentricity(plain), n, 0))
    assert (result.diameter, result.radius) == (nx.diameter(plain), nx.radius(plain))


@pytest.mark.parametrize("name", [*OF_ONE_PIECE, "wiki-Vote.txt.gz"])
def test_centralities_of_whole_real_graphs_are_networkx_where_it_is_asked(name):
    graph = read(name)
    edges = graph.edges()  # as a simple graph: NetworkX makes a multigraph, and searches it, at a third of the speed
    other = (nx.DiGraph if graph.directed else nx.Graph)(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
    other.add_nodes_from(range(graph.num_vertices))
    if graph.directed:  # NetworkX turns the graph around for each vertex that it is asked about; once is enough
        back = other.reverse()
        other.reverse = lambda: back
    some = np.random.default_rng(5).choice(graph.num_vertices, 8, replace=False).tolist()
    closeness = dr.closeness(graph).centrality[some]
    assert np.allclose(closeness, [nx.closeness_centrality(other, u=vertex) for vertex in some])
    if name in OF_ONE_PIECE:
        harmonic = nx.harmonic_centrality(other, nbunch=some)
        assert np.allclose(dr.harmonic(graph).centrality[some], [harmonic[vertex] for vertex in some])
        eccentricity = nx.eccentricity(other, v=some)
        assert dr.eccentricity(graph).eccentricity[some].tolist() == [eccentricity[vertex] for vertex in some]
