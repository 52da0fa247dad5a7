"""Shortest paths of either kind: ``networkx.algorithms.shortest_paths.generic``."""

from __future__ import annotations

from typing import Any

import networkx as nx

from dromos.networkx_backend import bellman_ford, unweighted, weighted
from dromos.networkx_backend.components import labels
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, function_weight, implements, refuse_any
from dromos.networkx_backend.searching import found_from
from dromos.networkx_backend.sums import Sums, sums_from_all

__all__: list[str] = []

_REFUSE_WEIGHT = function_weight("weight")


def _reversed_order(bound: Bound) -> str | None:
    """Refuse searches towards a target: they follow predecessors, whose order is not kept."""
    to_one = bound["source"] is None and bound["target"] is not None
    return "the order of predecessors is not kept" if to_one and bound["G"].is_directed() else None


def _one_pair(bound: Bound) -> str | None:
    """Refuse a single pair: NetworkX searches from both ends, and may find another path of the same length."""
    pair = bound["source"] is not None and bound["target"] is not None
    by_bellman_ford = bound["weight"] is not None and bound["method"] == "bellman-ford"
    return "NetworkX searches from both ends" if pair and not by_bellman_ford else None


def _require_method(method: str) -> None:
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


def _no_path(graph: BackendGraph, source: Any, target: Any) -> int:
    """The number of edges between two nodes."""
    if source not in graph:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    if target not in graph:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    level = int(found_from(graph.rows, [graph.index[source]]).level[graph.index[target]])
    if level < 0:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return level


@implements()
def has_path(G: BackendGraph, source: Any, target: Any) -> bool:
    try:
        _no_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


@implements(refuse=refuse_any(_REFUSE_WEIGHT, _reversed_order))
def shortest_path_length(
    G: BackendGraph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    _require_method(method)
    kind = "unweighted" if weight is None else method
    if source is not None and target is not None:
        if kind == "unweighted":
            return _no_path(G, source, target)
        if kind == "dijkstra":
            return weighted.dijkstra_path_length(G, source, target, weight)
        return bellman_ford.bellman_ford_path_length(G, source, target, weight)
    if source is None and target is None:
        if kind == "unweighted":
            return unweighted.all_pairs_shortest_path_length(G)
        if kind == "dijkstra":
            return weighted.all_pairs_dijkstra_path_length(G, weight=weight)
        return bellman_ford.all_pairs_bellman_ford_path_length(G, weight=weight)
    start = target if source is None else source
    if kind == "unweighted":
        return unweighted.single_source_shortest_path_length(G, start)
    if kind == "dijkstra":
        return weighted.single_source_dijkstra_path_length(G, start, weight=weight)
    return bellman_ford.single_source_bellman_ford_path_length(G, start, weight=weight)


@implements(refuse=refuse_any(_REFUSE_WEIGHT, _reversed_order, _one_pair))
def shortest_path(
    G: BackendGraph, source: Any = None, target: Any = None, weight: Any = None, method: str = "dijkstra"
) -> Any:
    _require_method(method)
    kind = "unweighted" if weight is None else method
    if source is not None and target is not None:
        return bellman_ford.bellman_ford_path(G, source, target, weight)
    if source is None and target is None:
        if kind == "unweighted":
            return unweighted.all_pairs_shortest_path(G)
        if kind == "dijkstra":
            return weighted.all_pairs_dijkstra_path(G, weight=weight)
        return bellman_ford.all_pairs_bellman_ford_path(G, weight=weight)
    start = target if source is None else source
    if kind == "unweighted":
        paths = unweighted.single_source_shortest_path(G, start)
    elif kind == "dijkstra":
        paths = weighted.single_source_dijkstra_path(G, start, weight=weight)
    else:
        paths = bellman_ford.single_source_bellman_ford_path(G, start, weight=weight)
    return paths if source is not None else {node: path[::-1] for node, path in paths.items()}


def _other_method(bound: Bound) -> str | None:
    if bound["method"] in ("floyd-warshall", "floyd-warshall-numpy", "bellman-ford"):
        return f"method={bound['method']!r} adds up in another order"
    return None


@implements(worth=Worth.ALL_PAIRS, refuse=refuse_any(_REFUSE_WEIGHT, _other_method))
def average_shortest_path_length(G: BackendGraph, weight: Any = None, method: str | None = None) -> Any:
    if method is None:
        method = "unweighted" if weight is None else "dijkstra"
    if method not in ("unweighted", "dijkstra"):
        raise ValueError(f"method not supported: {method}")
    n = len(G)
    if n == 0:
        message = "the null graph has no paths, thus there is no average shortest path length"
        raise nx.NetworkXPointlessConcept(message)
    if n == 1:
        return 0
    if G.directed and labels(G, "strong")[0] > 1:
        raise nx.NetworkXError("Graph is not strongly connected.")
    if not G.directed and labels(G)[0] > 1:
        raise nx.NetworkXError("Graph is not connected.")
    if method == "unweighted":
        sums: Sums = sums_from_all(G)
        return int(sums.distance_sum.sum()) / (n * (n - 1))
    total = sum(length for node in G for length in weighted.dijkstra_lengths(G, [node], weight).values())
    return total / (n * (n - 1))
