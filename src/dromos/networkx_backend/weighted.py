"""Shortest paths by weight: ``networkx.algorithms.shortest_paths.weighted``, Dijkstra's family."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, function_weight, implements, refuse_any
from dromos.networkx_backend.unweighted import odd_cutoff
from dromos.networkx_backend.values import EdgeValues, plain

__all__ = ["Settled", "dijkstra_lengths", "dijkstra_paths", "nonnegative", "settled_from"]

Lengths = dict[Any, Any]
Paths = dict[Any, list[Any]]


def _once_only(bound: Bound) -> str | None:
    sources = bound["sources"]
    return "sources can be read only once" if isinstance(sources, Iterator) else None


_REFUSE = function_weight("weight")
_REFUSE_CUTOFF = refuse_any(_REFUSE, odd_cutoff)
_REFUSE_SOURCES = refuse_any(_REFUSE_CUTOFF, _once_only)


class Settled(NamedTuple):
    """Dijkstra's search: nodes in the order in which they became final, their distances, and every node's parent."""

    order: Array
    distance: Array
    parent: Array
    whole: bool
    num_sources: int

    def lengths(self, graph: BackendGraph) -> Lengths:
        """Distances in NetworkX's form: a source's is the integer 0 whatever the weights are."""
        found = plain(self.distance[self.order], self.whole)
        found[: self.num_sources] = [0] * self.num_sources
        return dict(zip(graph.names(self.order), found, strict=True))


def nonnegative(graph: BackendGraph, weight: Any) -> tuple[EdgeValues, Array]:
    """The weights, and the least of parallel edges; refused if one is negative."""
    values = graph.values(weight)
    lengths = values.least
    if len(lengths) and lengths.min() < 0:
        raise NotImplementedError("some weights are negative")
    return values, lengths


def settled_from(
    graph: BackendGraph, sources: Iterable[Any], weight: Any, cutoff: float | None = None, target: Any = None
) -> Settled:
    """Search from the nearest of ``sources`` up to ``cutoff``, or until ``target`` is reached."""
    from dromos.networkx_backend.kernels.weighted import CONTRADICTION, dijkstra

    values, lengths = nonnegative(graph, weight)
    n, starts = len(graph), np.array(list(dict.fromkeys(graph.index[source] for source in sources)), np.int64)
    order, distance, parent = np.empty(n, np.int64), np.full(n, np.inf), np.full(n, -1, np.int64)
    limit = np.inf if cutoff is None else float(cutoff)
    goal = graph.index.get(target, -1) if target is not None and target in graph else -1
    count = dijkstra(graph.offsets, graph.targets, lengths, starts, limit, goal, order, distance, parent)
    if count == CONTRADICTION:
        raise ValueError("Contradictory paths found:", "negative weights?")
    return Settled(order[:count], distance, parent, values.whole, len(starts))


def dijkstra_lengths(graph: BackendGraph, sources: Iterable[Any], weight: Any, cutoff: float | None = None) -> Lengths:
    """The distances from the nearest of ``sources``, in the order in which Dijkstra's algorithm settles the nodes."""
    return settled_from(graph, sources, weight, cutoff).lengths(graph)


def dijkstra_paths(
    graph: BackendGraph, sources: Iterable[Any], weight: Any, cutoff: float | None = None
) -> tuple[Lengths, Paths]:
    """As :func:`dijkstra_lengths`, with the path to each node."""
    settled = settled_from(graph, sources, weight, cutoff)
    lengths = settled.lengths(graph)
    names, parents = list(lengths), settled.parent[settled.order].tolist()
    paths: Paths = {node: [node] for node in sources}
    for node, parent in zip(names[settled.num_sources :], parents[settled.num_sources :], strict=True):
        paths[node] = [*paths[graph.nodes[parent]], node]
    return lengths, paths


def _require(graph: BackendGraph, sources: Any) -> None:
    if not sources:
        raise ValueError("sources must not be empty")
    for source in sources:
        if source not in graph:
            raise nx.NodeNotFound(f"Node {source} not found in graph")


def _to_target(graph: BackendGraph, sources: Any, target: Any, weight: Any, cutoff: float | None) -> Any:
    """The distance of ``target`` and the path to it."""
    settled = settled_from(graph, sources, weight, cutoff, target)
    number = graph.index[target] if target in graph else -1
    if not len(settled.order) or settled.order[-1] != number:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    path = [number]
    while (before := int(settled.parent[path[-1]])) >= 0:
        path.append(before)
    return plain(settled.distance[[number]], settled.whole)[0], graph.names(np.array(path[::-1]))


@implements(worth=Worth.ITERATIVE, refuse=refuse_any(_REFUSE_SOURCES))
def multi_source_dijkstra(
    G: BackendGraph, sources: Any, target: Any = None, cutoff: float | None = None, weight: Any = "weight"
) -> Any:
    _require(G, sources)
    if target in sources:
        return 0, [target]
    if target is None:
        return dijkstra_paths(G, sources, weight, cutoff)
    return _to_target(G, sources, target, weight, cutoff)


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE_SOURCES)
def multi_source_dijkstra_path(
    G: BackendGraph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> Paths:
    _require(G, sources)
    return dijkstra_paths(G, sources, weight, cutoff)[1]


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE_SOURCES)
def multi_source_dijkstra_path_length(
    G: BackendGraph, sources: Any, cutoff: float | None = None, weight: Any = "weight"
) -> Lengths:
    _require(G, sources)
    return dijkstra_lengths(G, sources, weight, cutoff)


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE_CUTOFF)
def single_source_dijkstra(
    G: BackendGraph, source: Any, target: Any = None, cutoff: float | None = None, weight: Any = "weight"
) -> Any:
    return multi_source_dijkstra(G, {source}, target=target, cutoff=cutoff, weight=weight)


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE_CUTOFF)
def single_source_dijkstra_path(
    G: BackendGraph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> Paths:
    return multi_source_dijkstra_path(G, {source}, cutoff=cutoff, weight=weight)


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE_CUTOFF)
def single_source_dijkstra_path_length(
    G: BackendGraph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> Lengths:
    return multi_source_dijkstra_path_length(G, {source}, cutoff=cutoff, weight=weight)


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE)
def dijkstra_path(G: BackendGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    return single_source_dijkstra(G, source, target=target, weight=weight)[1]


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE)
def dijkstra_path_length(G: BackendGraph, source: Any, target: Any, weight: Any = "weight") -> Any:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    if source == target:
        return 0
    try:
        return _to_target(G, [source], target, weight, None)[0]
    except nx.NetworkXNoPath as error:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}") from error


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE_CUTOFF)
def dijkstra_predecessor_and_distance(
    G: BackendGraph, source: Any, cutoff: float | None = None, weight: Any = "weight"
) -> tuple[Paths, Lengths]:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    settled = settled_from(G, [source], weight, cutoff)
    arcs = np.concatenate([np.arange(G.offsets[u], G.offsets[u + 1]) for u in settled.order])  # in NetworkX's order
    length = settled.distance[G.sources[arcs]] + G.values(weight).least[arcs]
    within = np.isfinite(settled.distance[G.targets[arcs]]) & (length <= (np.inf if cutoff is None else cutoff))
    arcs, length = arcs[within], length[within]
    before: Paths = {source: []}
    before.update((node, []) for node in G.names(G.targets[arcs]) if node != source)
    arcs = arcs[length == settled.distance[G.targets[arcs]]]
    for node, after in zip(G.names(G.sources[arcs]), G.names(G.targets[arcs]), strict=True):
        before[after].append(node)
    return before, settled.lengths(G)


@implements(worth=Worth.ALL_PAIRS, refuse=_REFUSE_CUTOFF)
def all_pairs_dijkstra(
    G: BackendGraph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, tuple[Lengths, Paths]]]:
    nonnegative(G, weight)  # refuse now, not when the first result is requested
    return ((node, dijkstra_paths(G, [node], weight, cutoff)) for node in G)


@implements(worth=Worth.ALL_PAIRS, refuse=_REFUSE_CUTOFF)
def all_pairs_dijkstra_path_length(
    G: BackendGraph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Lengths]]:
    nonnegative(G, weight)
    return ((node, dijkstra_lengths(G, [node], weight, cutoff)) for node in G)


@implements(worth=Worth.ALL_PAIRS, refuse=_REFUSE_CUTOFF)
def all_pairs_dijkstra_path(
    G: BackendGraph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Any, Paths]]:
    nonnegative(G, weight)
    return ((node, dijkstra_paths(G, [node], weight, cutoff)[1]) for node in G)
