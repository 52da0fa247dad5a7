"""Shortest paths by number of edges: ``networkx.algorithms.shortest_paths.unweighted``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np

from dromos.networkx_backend.graph import BackendGraph, Rows
from dromos.networkx_backend.registry import Bound, Worth, implements, refuse_any
from dromos.networkx_backend.searching import Found, found_from

__all__ = ["lengths_from", "odd_cutoff", "paths_from"]


def odd_cutoff(bound: Bound) -> str | None:
    """Refuse a cutoff that is not a number."""
    cutoff = bound["cutoff"]
    return (
        None if cutoff is None or (isinstance(cutoff, (int, float)) and cutoff == cutoff) else "the cutoff is no number"
    )


def _directed(bound: Bound) -> str | None:
    return "the order of predecessors is not kept" if bound["G"].is_directed() else None


def _search(graph: BackendGraph, rows: Rows, start: Any, cutoff: float | None) -> Found:
    return found_from(rows, [graph.index[start]], float("inf") if cutoff is None else cutoff)


def lengths_from(graph: BackendGraph, source: Any, cutoff: float | None = None) -> dict[Any, int]:
    """The distance to every reachable node, in the order found."""
    found = _search(graph, graph.rows, source, cutoff)
    return dict(zip(graph.names(found.order), found.level[found.order].tolist(), strict=True))


def paths_from(
    graph: BackendGraph,
    source: Any,
    cutoff: float | None = None,
    join: Callable[[list[Any], list[Any]], list[Any]] = list.__add__,
) -> dict[Any, list[Any]]:
    """The first shortest path found to every reachable node."""
    found = _search(graph, graph.rows, source, cutoff)
    names, parents = graph.names(found.order), graph.names(found.parent[found.order[1:]])
    paths = {names[0]: names[:1]}
    for node, parent in zip(names[1:], parents, strict=True):
        paths[node] = join(paths[parent], [node])
    return paths


@implements(worth=Worth.LINEAR, refuse=odd_cutoff)
def single_source_shortest_path_length(G: BackendGraph, source: Any, cutoff: float | None = None) -> dict[Any, int]:
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    return lengths_from(G, source, cutoff)


@implements(refuse=refuse_any(odd_cutoff, _directed))
def single_target_shortest_path_length(G: BackendGraph, target: Any, cutoff: float | None = None) -> dict[Any, int]:
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} is not in G")
    return lengths_from(G, target, cutoff)


@implements(worth=Worth.ALL_PAIRS, refuse=odd_cutoff)
def all_pairs_shortest_path_length(
    G: BackendGraph, cutoff: float | None = None
) -> Iterator[tuple[Any, dict[Any, int]]]:
    for node in G:
        yield node, lengths_from(G, node, cutoff)


@implements(worth=Worth.LINEAR, refuse=odd_cutoff)
def single_source_shortest_path(G: BackendGraph, source: Any, cutoff: float | None = None) -> dict[Any, list[Any]]:
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    return paths_from(G, source, cutoff)


@implements(refuse=refuse_any(odd_cutoff, _directed))
def single_target_shortest_path(G: BackendGraph, target: Any, cutoff: float | None = None) -> dict[Any, list[Any]]:
    if target not in G:
        raise nx.NodeNotFound(f"Target {target} not in G")
    return paths_from(G, target, cutoff, lambda path, node: node + path)


@implements(worth=Worth.ALL_PAIRS, refuse=odd_cutoff)
def all_pairs_shortest_path(G: BackendGraph, cutoff: float | None = None) -> Iterator[tuple[Any, dict[Any, list[Any]]]]:
    for node in G:
        yield node, paths_from(G, node, cutoff)


def predecessors_from(graph: BackendGraph, source: Any, cutoff: float | None) -> tuple[dict[Any, list[Any]], Found]:
    """All nodes before each node on shortest paths, in the order in which they are found."""
    depth = max(int(np.ceil(cutoff)), 1) if cutoff else float("inf")
    found = found_from(graph.rows, [graph.index[source]], depth)
    position = np.full(len(graph), -1, np.int64)
    position[found.order] = np.arange(len(found.order))
    level_from, level_to = found.level[graph.sources], found.level[graph.targets]
    arcs = np.flatnonzero((level_from >= 0) & (level_to == level_from + 1))
    arcs = arcs[np.argsort(position[graph.sources[arcs]], kind="stable")]
    lists: dict[Any, list[Any]] = {node: [] for node in graph.names(found.order)}
    for before, node in zip(graph.names(graph.sources[arcs]), graph.names(graph.targets[arcs]), strict=True):
        lists[node].append(before)
    return lists, found


@implements(refuse=odd_cutoff)
def predecessor(
    G: BackendGraph, source: Any, target: Any = None, cutoff: float | None = None, return_seen: bool | None = None
) -> Any:
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    before, found = predecessors_from(G, source, cutoff)
    if target is not None:
        listed = before.get(target, [])
        if not return_seen:
            return listed
        return (listed, int(found.level[G.index[target]])) if target in before else ([], -1)
    if not return_seen:
        return before
    return before, dict(zip(before, found.level[found.order].tolist(), strict=True))
