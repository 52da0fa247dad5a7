"""NetworkX graphs made from parts of a backend's graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound

__all__ = ["copied", "copy_of_subgraph", "other_class"]


def other_class(bound: Bound) -> str | None:
    """Refuse subclasses of NetworkX's graphs: the result would have to be of the same class."""
    plain = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph, BackendGraph)
    return None if type(bound["G"]) in plain else "the graph is of another class"


def copy_of_subgraph(graph: BackendGraph, nodes: Iterable[Any]) -> Any:
    """The equivalent of ``G.subgraph(nodes).copy()`` for a graph without parallel edges, in the same order."""
    chosen = set(nodes)
    keep = np.zeros(len(graph), bool)
    keep[[graph.index[node] for node in chosen if node in graph]] = True
    few = 2 * len(chosen) < len(graph)  # then NetworkX iterates over the set
    order = graph.numbers(node for node in chosen if node in graph) if few else np.flatnonzero(keep)
    return copied(graph, order, keep[graph.sources] & keep[graph.targets])


def copied(graph: BackendGraph, nodes: Array, arcs: Array) -> Any:
    """A NetworkX graph of these ``nodes`` in this order and of the marked ``arcs``, with all attributes."""
    if graph.node_data is None or graph.edge_data is None:
        raise NotImplementedError("the graph was converted without its attributes")
    result = nx.DiGraph() if graph.directed else nx.Graph()
    result.graph.update(graph.graph)
    result.add_nodes_from((graph.nodes[number], graph.node_data[number].copy()) for number in nodes.tolist())
    for number in nodes.tolist():
        begin = int(graph.offsets[number])
        row = begin + np.flatnonzero(arcs[begin : graph.offsets[number + 1]])
        result.add_edges_from(
            (graph.nodes[number], graph.nodes[graph.targets[arc]], graph.edge_data[arc].copy()) for arc in row.tolist()
        )
    return result
