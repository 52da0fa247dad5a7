"""Shortest paths: against NetworkX on every path, with weights of every kind."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.sssp import bellman_ford_program, sssp_program, verify
from dromos.errors import (
    GraphDataError,
    InvalidArgumentError,
    NegativeCycleError,
    UnknownVertexError,
    VerificationError,
)
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device, row

FLOAT = np.dtype(np.float64)


@on_every_device
@examples(30)
@given(graph=graphs(low=1, weights=(0.0, 0.5, 1.0, 2.5, 7.0), unweighted=False), data=st.data())
def test_distances_are_those_of_networkx_on_every_path(device, graph, data):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    lengths = nx.single_source_dijkstra_path_length(as_networkx(graph), source)
    expected = row(lengths, graph.num_vertices, np.inf)
    for path in legal_paths(graph, sssp_program(FLOAT)):
        result = dr.sssp(graph, source, device=device, path=path)
        assert result.distance.tolist() == expected.tolist()
        result.verify()


@on_every_device
@examples(30)
@given(graph=graphs(low=1, directed=True, weights=(-2.0, -1.0, 0.0, 1.0, 3.0), unweighted=False), data=st.data())
def test_negative_weights_give_distances_or_a_negative_cycle(device, graph, data):
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    other = as_networkx(graph)
    try:
        lengths = nx.single_source_bellman_ford_path_length(other, source)
    except nx.NetworkXUnbounded:
        lengths = None
    for path in legal_paths(graph, bellman_ford_program(FLOAT)):
        if lengths is None:
            with pytest.raises(NegativeCycleError) as caught:
                dr.sssp(graph, source, device=device, path=path)
            cycle = caught.value.cycle
            steps = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
            assert sum(min(edge["weight"] for edge in other[u][v].values()) for u, v in steps) < 0
        else:
            result = dr.sssp(graph, source, device=device, path=path)
            assert result.distance.tolist() == row(lengths, graph.num_vertices, np.inf).tolist()
            result.verify()


@examples(30)
@given(graph=graphs(low=1))
def test_without_weights_edges_are_counted(graph):
    lengths = nx.single_source_shortest_path_length(as_networkx(graph), 0)
    result = dr.sssp(graph, 0)
    assert result.distance.tolist() == row(lengths, graph.num_vertices, np.inf).tolist()
    result.verify()


@on_every_device
def test_whole_weights_are_added_exactly(device):
    heavy = 2**31 - 1
    graph = dr.Graph.from_edges([0, 1, 2], [1, 2, 3], np.array([heavy, heavy, 1], dtype=np.int32))
    result = dr.sssp(graph, 0, device=device)
    assert result.distance.tolist() == [0.0, heavy, 2 * heavy, 2 * heavy + 1]
    assert result.parent.tolist() == [0, 0, 1, 2]
    light = dr.Graph.from_edges([0, 1], [1, 2], [3, 4])
    assert dr.sssp(light, 0, device=device).distance.tolist() == [0.0, 3.0, 7.0]
    assert dr.sssp(light, 0, weight=None, device=device).distance.tolist() == [0.0, 1.0, 2.0]


@on_every_device
def test_parents_never_run_in_a_circle_of_zero_weights(device):
    graph = dr.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [1.0, 0.0, 0.0, 0.0])
    result = dr.sssp(graph, 0, device=device)
    assert result.parent.tolist() == [0, 0, 1, 2]
    tiny = dr.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 1], [1.0, 1e-30, 1e-30, 1e-30])
    dr.sssp(tiny, 0, device=device).verify()


def test_a_negative_edge_of_an_undirected_graph_is_a_cycle_and_is_named_by_labels():
    graph = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"], [1.0, -2.0], directed=False)
    with pytest.raises(NegativeCycleError, match=r"bob -> eve|eve -> bob") as caught:
        dr.sssp(graph, "ada", device="reference")
    assert sorted(caught.value.cycle) == ["bob", "eve"]
    loop = dr.Graph.from_edges([0, 1], [1, 1], [1.0, -1.0])
    with pytest.raises(NegativeCycleError, match="1 -> 1"):
        dr.sssp(loop, 0, device="reference")


def test_bad_input():
    with pytest.raises(GraphDataError, match=r"weight of edge 1 is not a number \(NaN\)"):
        dr.Graph.from_edges([0, 1], [1, 2], [1.0, np.nan])
    graph = dr.generators.path(3)
    with pytest.raises(InvalidArgumentError, match=r"only weight=.weight. or None"):
        dr.sssp(graph, 0, weight="length")
    with pytest.raises(UnknownVertexError, match="no vertex 7"):
        dr.sssp(graph, 7)


@pytest.mark.parametrize(
    ("distance", "parent", "message"),
    [
        ([0, 4, 8], [0, 0, 1], "arc 2 makes a shorter path"),
        ([0, 4, 6], [0, 0, 1], "no edge leads from vertex 2's parent"),
        ([0, 4, np.inf], [0, 0, 1], "a parent and no distance"),
        ([0, 4, 7], [0, 0, 0], "no edge leads from vertex 2's parent"),
        ([1, 4, 7], [0, 0, 1], "the distance of the source is 1"),
    ],
)
def test_the_verifier_refuses_wrong_answers(distance, parent, message):
    graph = dr.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3])
    verify(graph, 0, np.array([0.0, 4, 7]), np.array([0, 0, 1]))
    with pytest.raises(VerificationError, match=message):
        verify(graph, 0, np.array(distance, dtype=float), np.array(parent))
