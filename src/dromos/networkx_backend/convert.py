"""Conversion between NetworkX graphs and the backend's."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from dromos.dtypes import id_dtype
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.values import attribute_column

__all__ = ["convert_from_nx", "convert_to_nx"]


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: Mapping[Any, Any] | None = None,
    node_attrs: Mapping[Any, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    preserve_all_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> BackendGraph:
    """The backend's copy of a NetworkX graph, with the requested attributes.

    Args:
            graph: any NetworkX graph, or one of the backend's, which is returned as it is.
            edge_attrs: names of edge attributes to keep, with the value for edges that lack them.
            node_attrs: the same for nodes.
            preserve_edge_attrs, preserve_node_attrs, preserve_graph_attrs, preserve_all_attrs: keep all of them.
            name, graph_name: the function and its argument that the graph is for; not used here.

    >>> import networkx as nx
    >>> convert_from_nx(nx.path_graph(3)).targets.tolist()
    [1, 0, 2, 1]
    """
    if isinstance(graph, BackendGraph):
        return graph
    adjacency, nodes = graph._adj, list(graph)
    count, multigraph = len(nodes), graph.is_multigraph()
    rows = list(adjacency.values())
    if type(adjacency) is not dict:  # views may iterate in an order of their own, and miscount what they leave out
        rows = [dict(adjacency[node].items()) for node in nodes]
    offsets = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, rows), np.int64, count), out=offsets[1:])
    converted = BackendGraph(nodes, offsets, np.empty(0), directed=graph.is_directed())
    converted.original = weakref.ref(graph)
    neighbours: Iterable[Any] = chain.from_iterable(rows)
    if not converted.nodes_are_numbers:
        neighbours = map(converted.index.__getitem__, neighbours)
    converted.targets = np.fromiter(neighbours, id_dtype(count), int(offsets[-1]))
    if multigraph:
        keyed = chain.from_iterable(row.values() for row in rows)
        converted.multiplicity = np.fromiter(map(len, keyed), np.int64, int(offsets[-1]))
    if preserve_edge_attrs or preserve_all_attrs:
        converted.edge_data = _edge_data(rows, multigraph)
    elif edge_attrs:
        data = _edge_data(rows, multigraph)
        for key, default in edge_attrs.items():
            converted.edge_columns[key, default] = attribute_column(data, key, default, multigraph=multigraph)
    if preserve_node_attrs or preserve_all_attrs:
        converted.node_data = [graph._node[node] for node in nodes]
    elif node_attrs:
        for key, default in node_attrs.items():
            converted.node_columns[key] = [graph._node[node].get(key, default) for node in nodes]
    if preserve_graph_attrs or preserve_all_attrs:
        converted.graph = dict(graph.graph)
    return converted


def _edge_data(rows: list[Any], multigraph: bool) -> list[Any]:
    data = list(chain.from_iterable(row.values() for row in rows))
    if multigraph and any(type(keyed) is not dict for keyed in data):
        return [dict(keyed) for keyed in data]
    return data


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """A result in NetworkX's form: a backend graph becomes a NetworkX graph; all else is unchanged.

    >>> import networkx as nx
    >>> list(convert_to_nx(convert_from_nx(nx.path_graph(3))).edges)
    [(0, 1), (1, 2)]
    """
    if not isinstance(result, BackendGraph):
        return result
    import networkx as nx

    graph = (nx.MultiDiGraph if result.is_multigraph() else nx.DiGraph)()  # takes an adjacency as it is
    if not result.directed:
        graph = (nx.MultiGraph if result.is_multigraph() else nx.Graph)()
    graph.graph.update(result.graph)
    names: list[Any] = list(result.node_columns)
    node_data = result.node_data or [
        dict(zip(names, values, strict=True)) for values in zip(*result.node_columns.values(), strict=True)
    ]
    graph.add_nodes_from(zip(result.nodes, node_data, strict=True) if node_data else result.nodes)
    edge_data = result.edge_data or _data_of_columns(result)
    position = 0
    for number, node in enumerate(result.nodes):
        for target in result.names(result.targets[result.offsets[number] : result.offsets[number + 1]]):
            _add_arc(graph, node, target, edge_data[position])
            position += 1
    return graph


def _data_of_columns(graph: BackendGraph) -> list[Any]:
    """Attribute dictionaries made of the converted attributes."""
    edges = len(graph.targets) if graph.multiplicity is None else int(graph.multiplicity.sum())
    names = [key for key, _ in graph.edge_columns]
    data: list[Any] = [
        dict(zip(names, values, strict=True)) for values in zip(*graph.edge_columns.values(), strict=True)
    ] or [{} for _ in range(edges)]
    if graph.multiplicity is None:
        return data
    ends = np.cumsum(graph.multiplicity).tolist()
    return [
        dict(enumerate(data[end - size : end])) for end, size in zip(ends, graph.multiplicity.tolist(), strict=True)
    ]


def _add_arc(graph: Any, source: Any, target: Any, data: Any) -> None:
    """Add one arc after those that its source has already, so that the order of the adjacency is kept.

    Both directions of an undirected edge share their attributes, as in NetworkX.
    """
    other_way = None if graph.is_directed() else graph._adj[target].get(source)
    if other_way is None:
        other_way = {key: dict(one) for key, one in data.items()} if graph.is_multigraph() else dict(data)
    graph._adj[source][target] = other_way
    if graph.is_directed():
        graph._pred[target][source] = other_way
