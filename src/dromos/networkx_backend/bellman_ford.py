"""Shortest paths with negative weights: ``networkx.algorithms.shortest_paths.weighted``, the Bellman-Ford family."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Worth, function_weight, implements
from dromos.networkx_backend.values import plain

__all__ = ["lengths_from", "paths_from"]

Lengths = dict[Any, Any]
Paths = dict[Any, list[Any]]
_REFUSE = function_weight("weight")


class _Relaxed(NamedTuple):
    """The search: nodes in the order found, distances, and linked lists of predecessors."""

    order: Array
    distance: Array
    whole: bool
    first: Array
    nodes: Array
    following: Array


def _relaxed(graph: BackendGraph, source: Any, weight: Any) -> _Relaxed:
    from dromos.networkx_backend.kernels.weighted import NEGATIVE_CYCLE, bellman_ford

    if source not in graph:
        raise nx.NodeNotFound(f"Source {source} not in G")
    values, n = graph.values(weight), len(graph)
    order, distance, first = np.empty(n, np.int64), np.full(n, np.inf), np.full(n, -1, np.int64)
    start = graph.index[source]
    count, nodes, following = bellman_ford(
        graph.offsets, graph.targets, values.least, start, order, distance, first
    )  # fmt: skip
    if count == NEGATIVE_CYCLE:
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    return _Relaxed(order[:count], distance, values.whole, first, nodes, following)


def _lengths(graph: BackendGraph, found: _Relaxed) -> Lengths:
    listed = plain(found.distance[found.order], found.whole)
    listed[0] = 0
    return dict(zip(graph.names(found.order), listed, strict=True))


def _predecessors(graph: BackendGraph, found: _Relaxed) -> Paths:
    nodes, following = found.nodes.tolist(), found.following.tolist()
    lists: Paths = {}
    for number, entry in zip(found.order.tolist(), found.first[found.order].tolist(), strict=True):
        before = lists[graph.nodes[number]] = []
        while entry >= 0:
            before.append(graph.nodes[nodes[entry]])
            entry = following[entry]
    return lists


def lengths_from(graph: BackendGraph, source: Any, weight: Any) -> Lengths:
    """Distances in the order in which nodes are found."""
    return _lengths(graph, _relaxed(graph, source, weight))


def paths_from(graph: BackendGraph, source: Any, weight: Any, target: Any = None) -> tuple[Lengths, Paths]:
    """Distances, and the first path that NetworkX builds to every node (or to ``target`` only)."""
    from networkx.algorithms.shortest_paths.generic import _build_paths_from_predecessors

    found = _relaxed(graph, source, weight)
    lengths, before = _lengths(graph, found), _predecessors(graph, found)
    paths: Paths = {source: [source]}
    for node in before if target is None else [target]:
        first = before[node][0] if before.get(node) else None
        if first in paths and node not in paths[first] and node != source:
            paths[node] = [*paths[first], node]
        else:
            paths[node] = next(_build_paths_from_predecessors({source}, node, before))
    return lengths, paths


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE)
def bellman_ford_predecessor_and_distance(
    G: BackendGraph, source: Any, target: Any = None, weight: Any = "weight", heuristic: bool = False
) -> tuple[Paths, Lengths]:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    values = G.values(weight)
    if (values.least[G.is_loop] < 0).any():
        raise nx.NetworkXUnbounded("Negative cycle detected.")
    if len(G) == 1:
        return {source: []}, {source: 0}
    found = _relaxed(G, source, weight)
    return _predecessors(G, found), _lengths(G, found)


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE)
def bellman_ford_path(G: BackendGraph, source: Any, target: Any, weight: Any = "weight") -> list[Any]:
    path: list[Any] = single_source_bellman_ford(G, source, target=target, weight=weight)[1]
    return path


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE)
def bellman_ford_path_length(G: BackendGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} not found in graph")
        return 0
    try:
        return lengths_from(G, source, weight)[target]
    except KeyError as error:
        raise nx.NetworkXNoPath(f"node {target} not reachable from {source}") from error


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE)
def single_source_bellman_ford_path(G: BackendGraph, source: Any, weight: Any = "weight") -> Paths:
    return paths_from(G, source, weight)[1]


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE)
def single_source_bellman_ford_path_length(G: BackendGraph, source: Any, weight: Any = "weight") -> Lengths:
    return lengths_from(G, source, weight)


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE)
def single_source_bellman_ford(G: BackendGraph, source: Any, target: Any = None, weight: Any = "weight") -> Any:
    if source == target:
        if source not in G:
            raise nx.NodeNotFound(f"Node {source} is not found in the graph")
        return 0, [source]
    lengths, paths = paths_from(G, source, weight, target)
    return (lengths, paths) if target is None else (lengths[target], paths[target])


@implements(worth=Worth.ALL_PAIRS, refuse=_REFUSE)
def all_pairs_bellman_ford_path_length(G: BackendGraph, weight: Any = "weight") -> Iterator[tuple[Any, Lengths]]:
    G.values(weight)  # refuse now, not when the first result is requested
    return ((node, lengths_from(G, node, weight)) for node in G)


@implements(worth=Worth.ALL_PAIRS, refuse=_REFUSE)
def all_pairs_bellman_ford_path(G: BackendGraph, weight: Any = "weight") -> Iterator[tuple[Any, Paths]]:
    G.values(weight)
    return ((node, paths_from(G, node, weight)[1]) for node in G)
