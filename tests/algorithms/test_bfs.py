"""Breadth-first search: against NetworkX on every path, and a validator that forged trees do not pass."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.bfs import BFS, verify
from dromos.errors import InvalidArgumentError, UnknownVertexError, VerificationError
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device, row


@on_every_device
@examples(40)
@given(graph=graphs(low=1), data=st.data())
def test_levels_are_those_of_networkx_on_every_path(device, graph, data):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    limit = data.draw(st.none() | st.integers(0, 4))
    lengths = nx.single_source_shortest_path_length(as_networkx(graph), source, cutoff=limit)
    expected = row(lengths, graph.num_vertices, -1)
    for path in legal_paths(graph, BFS):
        result = dr.bfs(graph, source, depth_limit=limit, device=device, path=path)
        assert result.level.tolist() == expected.tolist()
        result.verify()


@pytest.fixture
def tree():
    graph = dr.Graph.from_edges([0, 0, 1, 2, 4, 5], [1, 2, 3, 3, 5, 4])
    return graph, np.array([0, 0, 0, 1, -1, -1]), np.array([0, 1, 1, 2, -1, -1])


FORGED = {
    "a two-cycle among unreached vertices": ({4: 5, 5: 4}, {}, "unreached, but has a parent"),
    "the same, with levels": ({4: 5, 5: 4}, {4: 1, 5: 2}, "never comes to the source"),
    "a level without a parent": ({}, {4: 3}, "has a level, but no parent"),
    "an edge that is not there": ({3: 0}, {3: 1}, "no edge to vertex 3 from its parent"),
    "a wrong level": ({}, {3: 3}, "not its depth"),
    "a vertex forgotten": ({3: -1}, {3: -1}, "unreached or too deep"),
    "a source with a parent": ({0: 1}, {}, "not itself"),
    "a parent that is no vertex": ({3: 77}, {}, "not a vertex"),
    "a self-parent": ({3: 3}, {}, "never comes to the source"),
    "a parent that is unreached": ({3: 4}, {}, "has a parent that has none"),
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_trees_are_refused(tree, what):
    graph, parent, level = tree
    verify(graph, 0, parent, level)
    parents, levels, message = FORGED[what]
    for v, p in parents.items():
        parent[v] = p
    for v, depth in levels.items():
        level[v] = depth
    with pytest.raises(VerificationError, match=message):
        verify(graph, 0, parent, level)


def test_sources_by_label_and_sources_that_do_not_exist():
    graph = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"])
    assert dr.bfs(graph, "bob", device="reference").level.tolist() == [-1, 0, 1]
    with pytest.raises(UnknownVertexError, match="no vertex is labelled 'zoe'"):
        dr.bfs(graph, "zoe")
    with pytest.raises(UnknownVertexError, match=r"no vertex 9: the ids of this graph are 0\.\.3"):
        dr.bfs(dr.generators.path(4), 9)
    with pytest.raises(UnknownVertexError, match="the graph is empty"):
        dr.bfs(dr.Graph.from_edges([], []), 0)
    with pytest.raises(InvalidArgumentError, match="depth_limit=-1"):
        dr.bfs(dr.generators.path(4), 0, depth_limit=-1)
