"""Spanning trees and matchings that take edges in turn: ``networkx.algorithms.tree.mst``, ``matching``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.centrality import edges_once
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, implements, refuse_any
from dromos.networkx_backend.subgraphs import other_class

__all__: list[str] = []


def _other_algorithm(bound: Bound) -> str | None:
    if bound["algorithm"] != "kruskal":
        return "only Kruskal's algorithm is here"
    return "parallel edges" if bound["G"].is_multigraph() else None


def _kruskal(graph: BackendGraph, weight: Any, sign: int) -> Array:
    """The arcs of the spanning forest in the order in which Kruskal's algorithm takes them."""
    from dromos.networkx_backend.kernels.orders import spanning_forest

    once = edges_once(graph)
    by_weight = once[np.argsort(sign * graph.values(weight).each[once], kind="stable")]
    chosen = spanning_forest(
        graph.sources[by_weight].astype(np.int64), graph.targets[by_weight].astype(np.int64), len(graph)
    )  # fmt: skip
    taken: Array = by_weight[chosen]
    return taken


def _edges(graph: BackendGraph, arcs: Array, data: bool) -> Iterator[Any]:
    ends = zip(graph.names(graph.sources[arcs]), graph.names(graph.targets[arcs]), strict=True)
    if not data:
        return ends
    if graph.edge_data is None:
        raise NotImplementedError("the graph was converted without its attributes")
    attributes = map(graph.edge_data.__getitem__, arcs.tolist())
    return ((u, v, one) for (u, v), one in zip(ends, attributes, strict=True))


@implements(worth=Worth.ITERATIVE, refuse=_other_algorithm)
def minimum_spanning_edges(
    G: BackendGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    return _edges(G, _kruskal(G, weight, 1), data)


@implements(worth=Worth.ITERATIVE, refuse=_other_algorithm)
def maximum_spanning_edges(
    G: BackendGraph,
    algorithm: str = "kruskal",
    weight: Any = "weight",
    keys: bool = True,
    data: bool = True,
    ignore_nan: bool = False,
) -> Iterator[Any]:
    return _edges(G, _kruskal(G, weight, -1), data)


def _tree(graph: BackendGraph, weight: Any, sign: int) -> Any:
    if graph.directed:
        raise nx.NetworkXNotImplemented("not implemented for directed type")
    if graph.node_data is None:
        raise NotImplementedError("the graph was converted without its attributes")
    tree = nx.Graph()
    tree.graph.update(graph.graph)
    tree.add_nodes_from(zip(graph.nodes, graph.node_data, strict=True))
    tree.add_edges_from(_edges(graph, _kruskal(graph, weight, sign), True))
    return tree


@implements(worth=Worth.ITERATIVE, refuse=refuse_any(_other_algorithm, other_class))
def minimum_spanning_tree(
    G: BackendGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    return _tree(G, weight, 1)


@implements(worth=Worth.ITERATIVE, refuse=refuse_any(_other_algorithm, other_class))
def maximum_spanning_tree(
    G: BackendGraph, weight: Any = "weight", algorithm: str = "kruskal", ignore_nan: bool = False
) -> Any:
    return _tree(G, weight, -1)


@implements(worth=Worth.ITERATIVE)
def maximal_matching(G: BackendGraph) -> set[tuple[Any, Any]]:
    from dromos.networkx_backend.kernels.orders import matched

    once = edges_once(G)
    chosen = once[matched(G.sources[once].astype(np.int64), G.targets[once].astype(np.int64), len(G))]
    return set(zip(G.names(G.sources[chosen]), G.names(G.targets[chosen]), strict=True))
