"""Searches: ``networkx.algorithms.traversal``, and reachability from ``networkx.algorithms.dag``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, implements, refuse_any
from dromos.networkx_backend.searching import Found, entered_and_left, found_from

__all__: list[str] = []

Edges = Iterator[tuple[Any, Any]]


def _reverse(bound: Bound) -> str | None:
    return "the order of predecessors is not kept" if bound["reverse"] and bound["G"].is_directed() else None


def _sorted_neighbors(bound: Bound) -> str | None:
    return None if bound["sort_neighbors"] is None else "neighbors are sorted by a function"


def _odd_limit(bound: Bound) -> str | None:
    limit = bound["depth_limit"]
    return None if limit is None or (isinstance(limit, (int, float)) and limit == limit) else "depth_limit is no number"


_REFUSE = refuse_any(_sorted_neighbors, _odd_limit)
_REFUSE_REVERSE = refuse_any(_REFUSE, _reverse)


def _require_node(graph: BackendGraph, node: Any) -> int:
    if node not in graph:
        hash(node)  # NetworkX raises a TypeError for what cannot be a node
        raise nx.NetworkXError(f"The node {node} is not in the {'digraph' if graph.directed else 'graph'}.")
    return graph.index[node]


def _search(graph: BackendGraph, source: Any, depth_limit: float | None = None) -> Found:
    limit = float("inf") if depth_limit is None else depth_limit
    return found_from(graph.rows, [_require_node(graph, source)], limit)


def _tree_edges(graph: BackendGraph, found: Found) -> Edges:
    later = found.order[1:]
    return zip(graph.names(found.parent[later]), graph.names(later), strict=True)


@implements(refuse=_REFUSE_REVERSE)
def bfs_edges(
    G: BackendGraph, source: Any, reverse: bool = False, depth_limit: float | None = None, sort_neighbors: Any = None
) -> Edges:
    yield from _tree_edges(G, _search(G, source, depth_limit))


@implements(refuse=_REFUSE_REVERSE)
def bfs_tree(
    G: BackendGraph, source: Any, reverse: bool = False, depth_limit: float | None = None, sort_neighbors: Any = None
) -> Any:
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(_tree_edges(G, _search(G, source, depth_limit)))
    return tree


@implements(refuse=_REFUSE)
def bfs_predecessors(
    G: BackendGraph, source: Any, depth_limit: float | None = None, sort_neighbors: Any = None
) -> Edges:
    for parent, child in _tree_edges(G, _search(G, source, depth_limit)):
        yield child, parent


@implements(refuse=_REFUSE)
def bfs_successors(
    G: BackendGraph, source: Any, depth_limit: float | None = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    found = _search(G, source, depth_limit)
    later = found.order[1:]
    if not len(later):
        yield source, []
        return
    parents = found.parent[later]
    begins = np.flatnonzero(np.diff(parents, prepend=-1))
    children = np.split(later, begins[1:])
    for parent, part in zip(G.names(parents[begins]), children, strict=True):
        yield parent, G.names(part)


@implements()
def bfs_layers(G: BackendGraph, sources: Any) -> Iterator[list[Any]]:
    first = list({sources} if sources in G else set(sources))
    for source in first:
        if source not in G:
            raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = found_from(G.rows, [G.index[source] for source in first])
    for layer in _layers(found):
        yield G.names(layer)


def _layers(found: Found) -> list[Array]:
    level = found.level[found.order]
    return np.split(found.order, np.flatnonzero(np.diff(level)) + 1) if len(level) else []


def _odd_distance(bound: Bound) -> str | None:
    return None if isinstance(bound["distance"], int) else "the distance is no whole number"


@implements(refuse=_odd_distance)
def descendants_at_distance(G: BackendGraph, source: Any, distance: int) -> set[Any]:
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    found = found_from(G.rows, [G.index[source]], max(distance, 0))
    return set(G.names(found.order[found.level[found.order] == distance]))


@implements()
def descendants(G: BackendGraph, source: Any) -> set[Any]:
    return set(G.names(_search(G, source).order[1:]))


@implements()
def ancestors(G: BackendGraph, source: Any) -> set[Any]:
    return set(G.names(found_from(G.reversed_rows, [_require_node(G, source)]).order[1:]))


def _deep(graph: BackendGraph, source: Any, depth_limit: float | None) -> tuple[Array, Array, Array]:
    starts = np.arange(len(graph)) if source is None else np.array([_require_node(graph, source)], np.int64)
    return entered_and_left(graph.rows, starts, len(graph) if depth_limit is None else depth_limit)


def _deep_edges(graph: BackendGraph, source: Any, depth_limit: float | None) -> Edges:
    entered, _, parent = _deep(graph, source, depth_limit)
    entered = entered[parent[entered] != entered]
    return zip(graph.names(parent[entered]), graph.names(entered), strict=True)


@implements(refuse=_REFUSE)
def dfs_edges(
    G: BackendGraph, source: Any = None, depth_limit: float | None = None, *, sort_neighbors: Any = None
) -> Edges:
    yield from _deep_edges(G, source, depth_limit)


@implements(refuse=_REFUSE)
def dfs_tree(
    G: BackendGraph, source: Any = None, depth_limit: float | None = None, *, sort_neighbors: Any = None
) -> Any:
    tree = nx.DiGraph()
    tree.add_nodes_from(G if source is None else [source])
    tree.add_edges_from(_deep_edges(G, source, depth_limit))
    return tree


@implements(refuse=_REFUSE)
def dfs_predecessors(
    G: BackendGraph, source: Any = None, depth_limit: float | None = None, *, sort_neighbors: Any = None
) -> dict[Any, Any]:
    return {child: parent for parent, child in _deep_edges(G, source, depth_limit)}


@implements(refuse=_REFUSE)
def dfs_successors(
    G: BackendGraph, source: Any = None, depth_limit: float | None = None, *, sort_neighbors: Any = None
) -> dict[Any, list[Any]]:
    children: dict[Any, list[Any]] = {}
    for parent, child in _deep_edges(G, source, depth_limit):
        children.setdefault(parent, []).append(child)
    return children


@implements(refuse=_REFUSE)
def dfs_preorder_nodes(
    G: BackendGraph, source: Any = None, depth_limit: float | None = None, *, sort_neighbors: Any = None
) -> Iterator[Any]:
    yield from G.names(_deep(G, source, depth_limit)[0])


@implements(refuse=_REFUSE)
def dfs_postorder_nodes(
    G: BackendGraph, source: Any = None, depth_limit: float | None = None, *, sort_neighbors: Any = None
) -> Iterator[Any]:
    yield from G.names(_deep(G, source, depth_limit)[1])
