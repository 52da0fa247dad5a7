"""Graphs from and to NetworkX's."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.utils import edges_equal, nodes_equal

from dromos import Graph
from dromos.errors import GraphDataError

NODES = st.one_of(
    st.permutations(range(6)), st.sets(st.integers(-(2**63), 2**63 - 1), max_size=6).map(list),
    st.sets(st.text(max_size=4), max_size=6).map(list),
)  # fmt: skip

WEIGHTS = st.one_of(
    st.none(),
    st.just(st.integers(-(2**31), 2**31 - 1)),
    st.just(st.floats(allow_nan=False)),
)


@st.composite
def networkx_graphs(draw: st.DrawFn) -> nx.Graph:
    kind = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))
    nodes = draw(NODES)
    graph = kind()
    graph.add_nodes_from(nodes)
    weights = draw(WEIGHTS)
    if nodes:
        for u, v in draw(st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=12)):
            graph.add_edge(u, v, **({} if weights is None else {"weight": draw(weights)}))
    return graph


class TestNetworkX:
    @given(networkx_graphs())
    def test_there_and_back(self, graph: nx.Graph) -> None:
        back = Graph.from_networkx(graph).to_networkx()
        assert back.is_directed() == graph.is_directed()
        assert nodes_equal(back.nodes, graph.nodes)
        assert sorted(_edges(back), key=repr) == sorted(_edges(graph), key=repr)
        if not graph.is_multigraph():
            assert edges_equal(back.edges(data=True), graph.edges(data=True), directed=graph.is_directed())

    def test_numbers_out_of_order_stay_ids(self) -> None:
        graph = nx.Graph()
        graph.add_nodes_from([2, 0, 1])
        graph.add_edge(2, 0)
        g = Graph.from_networkx(graph)
        assert g.labels is None
        assert g.edges().src.tolist() == [0]
        assert g.edges().dst.tolist() == [2]

    def test_parallel_edges_and_loops_of_a_multigraph(self) -> None:
        graph = nx.MultiGraph([(0, 1), (0, 1), (1, 1), (1, 1)])
        g = Graph.from_networkx(graph)
        assert (g.num_edges, g.num_arcs) == (4, 6)
        assert sorted(g.to_networkx().edges()) == [(0, 1), (0, 1), (1, 1), (1, 1)]

    @pytest.mark.parametrize("nodes", [[(0, 1), (1, 1)], ["a", 1], [1.5, 2], [True, False], [frozenset()]])
    def test_nodes_that_cannot_be_labels(self, nodes: list) -> None:
        graph = nx.Graph()
        graph.add_nodes_from(nodes)
        with pytest.raises(GraphDataError, match="relabel_nodes"):
            Graph.from_networkx(graph)

    def test_some_weights_missing(self) -> None:
        graph = nx.Graph([(0, 1, {"weight": 2}), (1, 2)])
        with pytest.raises(GraphDataError, match="only 1 of 2 edges"):
            Graph.from_networkx(graph)
        assert Graph.from_networkx(graph, weight=None).weights is None

    def test_another_attribute(self) -> None:
        assert Graph.from_networkx(nx.Graph([(0, 1, {"km": 2.5})]), weight="km").weights.tolist() == [2.5, 2.5]
        for data in ({"km": 2.5}, {}):
            with pytest.raises(GraphDataError, match="no edge has the attribute 'miles'"):
                Graph.from_networkx(nx.Graph([(0, 1, data)]), weight="miles")
        assert Graph.from_networkx(nx.empty_graph(2), weight="km").weights is None

    @given(networkx_graphs(), st.data())
    def test_node_attributes_there_and_back(self, graph: nx.Graph, data: st.DataObject) -> None:
        values = st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.text(), st.just(("x", [1])))
        one_kind = data.draw(st.sampled_from([values, st.integers(0, 9), st.booleans(), st.floats(0, 1)]))
        for node in graph:
            graph.nodes[node].update(data.draw(st.dictionaries(st.sampled_from(["a", "b"]), one_kind)))
            graph.nodes[node]["all"] = data.draw(one_kind)
        g = Graph.from_networkx(graph)
        for there in (g.to_networkx(), g.transpose.to_networkx(), pickle.loads(pickle.dumps(g)).to_networkx()):
            assert _typed(there) == _typed(graph)
        if len(graph):
            kept = data.draw(st.lists(st.sampled_from(list(graph)), min_size=1, unique=True))
            assert _typed(g.subgraph(kept).to_networkx()) == _typed(graph.subgraph(kept))
            moved = g.relabel_by_degree(named=True).graph
            assert _typed(moved.to_networkx()) == _typed(graph)

    def test_node_attributes_are_those_of_the_moment(self) -> None:
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, 1, "age")
        g = Graph.from_networkx(graph)
        graph.nodes[0]["age"] = 99
        assert g.vertex_data["age"].tolist() == [1, 1, 1]
        assert g.vertex_data["age"].dtype == np.int64
        with pytest.raises(ValueError, match="read-only"):
            g.vertex_data["age"][0] = 5

    def test_views_of_graphs(self) -> None:
        graph = nx.karate_club_graph().subgraph([3, 0, 33])
        g = Graph.from_networkx(graph, weight=None)
        assert dict(zip(g.labels.to_numpy().tolist(), g.vertex_data["club"], strict=True)) == dict(
            graph.nodes(data="club")
        )

    def test_not_a_graph(self) -> None:
        with pytest.raises(GraphDataError, match="expected a NetworkX graph, not dict"):
            Graph.from_networkx({})

    def test_weights_that_are_text(self) -> None:
        with pytest.raises(GraphDataError, match="not numbers"):
            Graph.from_networkx(nx.Graph([(0, 1, {"weight": "far"})]))


def _typed(graph: nx.Graph) -> dict:
    """The attributes of the nodes with their types: 1, 1.0 and True are equal to Python."""
    return {node: {name: (type(value), value) for name, value in held.items()} for node, held in graph.nodes(data=True)}


def _edges(graph: nx.Graph) -> list:
    pairs = graph.edges(data="weight")
    return [(*(pair if graph.is_directed() else sorted(pair)), w) for *pair, w in pairs]
