"""What NetworkX's dispatcher asks: signatures, refusals, conversion, the cache."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib.metadata import entry_points

import networkx as nx
import pytest

from dromos.graph import Graph
from dromos.networkx_backend.backend import interface
from dromos.networkx_backend.convert import convert_from_nx, convert_to_nx
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.info import FUNCTIONS, get_info
from dromos.networkx_backend.registry import REGISTRY, Worth
from tests.networkx_backend.support import CLASSES

registered = pytest.mark.skipif(
    not entry_points(group="networkx.backends", name="dromos"), reason="Dromos was installed without its entry points"
)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_signatures_are_those_of_networkx(name):
    theirs = inspect.signature(nx.utils.backends._registered_algorithms[name].orig_func).parameters.values()
    ours = REGISTRY[name].signature.parameters.values()
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


def test_the_functions_announced_are_those_registered():
    assert set(FUNCTIONS) == set(REGISTRY)
    assert len(FUNCTIONS) >= 90
    assert set(get_info()["functions"]) == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("single_source_dijkstra", (0,), {"weight": lambda u, v, d: 1}),
        ("single_target_shortest_path", (0,), {}),
        ("shortest_path", (), {"source": 0, "target": 3}),
        ("bfs_edges", (0,), {"reverse": True}),
        ("bfs_edges", (0,), {"sort_neighbors": sorted}),
        ("edge_betweenness_centrality", (), {"weight": "weight"}),
        ("diameter", (), {"usebounds": True}),
        ("single_source_shortest_path", (0,), {"cutoff": "far"}),
        ("pagerank", (), {"no_such_argument": 1}),
        ("transitivity", (), {}),
    ],
)
def test_arguments_left_to_networkx(name, args, kwargs):
    graph = nx.cycle_graph(5, create_using=nx.DiGraph)
    assert isinstance(interface.can_run(name, (graph, *args), kwargs), str)


def test_graphs_that_read_in_their_own_way_are_left_to_networkx():
    class Complement(nx.Graph):
        def neighbors(self, n):
            return iter(set(self) - set(super().neighbors(n)) - {n})

    class Named(nx.Graph):
        title = "mine"

    assert isinstance(interface.can_run("core_number", (Complement([(0, 1)]),), {}), str)
    assert interface.can_run("core_number", (Named([(0, 1)]),), {}) is True


def test_weights_that_are_no_plain_numbers_are_left_to_networkx():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight="heavy")
    converted = convert_from_nx(graph, edge_attrs={"weight": 1})
    for name in ("pagerank", "minimum_spanning_edges", "all_pairs_dijkstra_path_length"):
        with pytest.raises(NotImplementedError):
            REGISTRY[name].run(converted)


@pytest.mark.parametrize("kind", sorted(CLASSES))
def test_conversion_keeps_everything(kind):
    graph = CLASSES[kind](name="mine")
    graph.add_node("z", color="red")
    graph.add_edges_from([("b", "a", {"weight": 2}), ("a", "c", {}), ("c", "c", {"tag": "loop"}), ("a", "b", {})])
    graph.add_edge("b", "a", weight=5)
    back = convert_to_nx(convert_from_nx(graph, preserve_all_attrs=True))
    assert type(back) is type(graph)
    assert (back.graph, list(back.nodes(data=True))) == (graph.graph, list(graph.nodes(data=True)))
    assert back._adj == graph._adj
    assert [list(row) for row in back._adj.values()] == [list(row) for row in graph._adj.values()]
    if not back.is_directed() and not back.is_multigraph():
        assert back["a"]["b"] is back["b"]["a"]


def test_conversion_of_some_attributes():
    graph = nx.path_graph(3)
    graph.add_edge(0, 1, weight=7, other="left out")
    graph.add_node(2, color="blue", other="left out")
    back = convert_to_nx(convert_from_nx(graph, edge_attrs={"weight": 1}, node_attrs={"color": None}))
    assert list(back.edges(data=True)) == [(0, 1, {"weight": 7}), (1, 2, {"weight": 1})]
    assert list(back.nodes(data="color")) == [(0, None), (1, None), (2, "blue")]


def test_views_are_converted_in_their_own_order():
    graph = nx.path_graph(100)
    few = graph.subgraph([7, 3, 5, 4])
    assert convert_from_nx(few).nodes == list(few)
    assert convert_to_nx(convert_from_nx(few)).adj == few.adj
    assert convert_from_nx(graph.to_directed().reverse(copy=False)).num_edges == 198


def test_views_of_some_parallel_edges():
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 3)])
    view = graph.edge_subgraph([(0, 1, 1), (2, 3, 0)])
    assert convert_from_nx(view).num_edges == view.number_of_edges() == 2
    assert Graph.from_networkx(view).num_edges == 2


def test_small_graphs_are_not_worth_converting():
    small, large = nx.path_graph(10), nx.empty_graph(Worth.ITERATIVE)
    assert isinstance(interface.should_run("pagerank", (small,), {}), str)
    assert interface.should_run("pagerank", (large,), {}) is True
    assert isinstance(interface.should_run("is_connected", (large,), {}), str)
    assert interface.should_run("is_connected", (nx.empty_graph(Worth.LINEAR),), {}) is True
    assert isinstance(interface.should_run("has_path", (large, 0, 1), {}), str)
    large.__networkx_cache__["backends"] = {"dromos": {(False, False): convert_from_nx(large)}}
    assert interface.should_run("has_path", (large, 0, 1), {}) is True


@pytest.mark.parametrize("change", [lambda g: g.add_edge(4, 9), lambda g: g.remove_node(5), lambda g: g.add_edge(1, 5)])
def test_graphs_changed_while_their_order_is_read(change):
    def read(topological_sort, convert):
        graph, found = nx.DiGraph([(0, 1), (0, 2), (1, 3), (2, 4), (4, 5)]), []
        try:
            for node in topological_sort(convert(graph)):
                found.append(node)
                if node == 1:
                    change(graph)
        except Exception as error:
            return found, type(error), str(error)
        return found

    theirs = nx.topological_sort.orig_func
    assert read(REGISTRY["topological_sort"].run, convert_from_nx) == read(theirs, lambda graph: graph)


def test_functions_that_are_not_there():
    assert isinstance(interface.can_run("is_planar", (nx.path_graph(3),), {}), str)
    assert not hasattr(interface, "is_planar")
    assert "pagerank" in dir(interface)


@registered
def test_dispatch_by_keyword_and_the_cache():
    graph = nx.path_graph(4)
    with nx.config(warnings_to_ignore={"cache"}):
        assert nx.shortest_path_length(graph, 0, backend="dromos") == {0: 0, 1: 1, 2: 2, 3: 3}
        (kept,) = graph.__networkx_cache__["backends"]["dromos"].values()
        assert isinstance(kept, BackendGraph)
        nx.degree_centrality(graph, backend="dromos")
        assert list(graph.__networkx_cache__["backends"]["dromos"].values()) == [kept]
        graph.add_edge(0, 3)
        assert not graph.__networkx_cache__
        assert nx.shortest_path_length(graph, 0, backend="dromos") == {0: 0, 1: 1, 3: 1, 2: 2}
        graph.remove_node(3)
        assert nx.number_connected_components(graph, backend="dromos") == 1
        nx.set_edge_attributes(graph, 4, "weight")
        assert nx.dijkstra_path_length(graph, 0, 2, backend="dromos") == 8


@registered
def test_dispatch_of_what_is_refused():
    with pytest.raises(NotImplementedError, match="dromos"):
        nx.shortest_path(nx.path_graph(3), 0, 2, backend="dromos")
    with pytest.raises(nx.NodeNotFound):
        nx.single_source_dijkstra(nx.path_graph(3), 9, backend="dromos")
    with pytest.raises(nx.NetworkXNotImplemented):
        nx.connected_components(nx.DiGraph(), backend="dromos")


@registered
def test_dispatch_of_a_backend_graph():
    converted = convert_from_nx(nx.path_graph(3), preserve_all_attrs=True)
    assert nx.diameter(converted) == 2
    with nx.config(fallback_to_nx=True):
        assert nx.is_planar(converted)


_AUTOMATIC = """
import networkx as nx
G = nx.fast_gnp_random_graph(1500, 0.004, seed=1)
nx.config.warnings_to_ignore.add("cache")
nx.pagerank(G)
assert list(G.__networkx_cache__["backends"]) == ["dromos"], G.__networkx_cache__
small = nx.path_graph(20)
nx.pagerank(small)
assert "backends" not in small.__networkx_cache__
nx.config.backends.dromos.min_nodes = 1
nx.pagerank(small)
assert "dromos" in small.__networkx_cache__["backends"]
"""


@registered
def test_dispatch_by_the_environment():
    environment = {**os.environ, "NETWORKX_BACKEND_PRIORITY": "dromos"}
    subprocess.run([sys.executable, "-c", _AUTOMATIC], env=environment, check=True, timeout=300)
