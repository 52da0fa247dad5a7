"""Centralities by distance and degree: ``networkx.algorithms.centrality``."""

# mypy: allow-untyped-calls
from __future__ import annotations

import math
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph, Rows
from dromos.networkx_backend.registry import Bound, Worth, function_weight, implements, refuse_any
from dromos.networkx_backend.sums import MANY, sums_from_all
from dromos.networkx_backend.weighted import nonnegative

__all__ = ["distances_in_order", "edges_once", "through_nodes"]


def _by_degree(graph: BackendGraph, degree: Array) -> dict[Any, Any]:
    if len(graph) <= 1:
        return dict.fromkeys(graph, 1)
    return graph.by_node(degree * (1.0 / (len(graph) - 1.0)))


@implements()
def degree_centrality(G: BackendGraph) -> dict[Any, float]:
    return _by_degree(G, G.degree)


@implements()
def in_degree_centrality(G: BackendGraph) -> dict[Any, float]:
    return _by_degree(G, G.in_degree)


@implements()
def out_degree_centrality(G: BackendGraph) -> dict[Any, float]:
    return _by_degree(G, G.out_degree)


def _unknown_node(bound: Bound) -> str | None:
    node = bound["u"]
    return None if node is None or node in bound["G"] else "the node is not in the graph"


@implements(worth=Worth.ALL_PAIRS, refuse=refuse_any(function_weight("distance"), _unknown_node))
def closeness_centrality(G: BackendGraph, u: Any = None, distance: Any = None, wf_improved: bool = True) -> Any:
    nodes = np.arange(len(G)) if u is None else G.numbers([u])
    if distance is None:
        sums = sums_from_all(G, nodes, reverse=True)
        reached, total = sums.reached.tolist(), sums.distance_sum.tolist()
    else:
        reached, total = _weighted_sums(G, distance, nodes)
    others = len(G) - 1
    found = [
        0.0 if total_of <= 0 or not others else _closeness(float(count), total_of, others, wf_improved)
        for count, total_of in zip(reached, total, strict=True)
    ]
    return found[0] if u is not None else dict(zip(G.nodes, found, strict=True))


def _closeness(reached: float, total: float, others: int, wf_improved: bool) -> float:
    return reached / total * (reached / others) if wf_improved else reached / total


def _weighted_sums(graph: BackendGraph, weight: Any, nodes: Array) -> tuple[list[int], list[Any]]:
    """For each of ``nodes``: how many others have a path to it, and the sum of their distances."""
    rows, lengths = graph.reversed_rows, graph.reversed_values(nonnegative(graph, weight)[1])
    reached: list[int] = []
    total: list[Any] = []
    for node in nodes:
        distances = distances_in_order(rows, lengths, int(node))
        reached.append(len(distances) - 1)
        total.append(sum(distances.tolist()))
    return reached, total


def distances_in_order(rows: Rows, lengths: Array, start: int) -> Array:
    """Distances from ``start`` to all reachable nodes, ascending."""
    from dromos.networkx_backend.kernels.weighted import dijkstra

    n = len(rows.offsets) - 1
    order, distance, parent = np.empty(n, np.int64), np.full(n, np.inf), np.full(n, -1, np.int64)
    starts = np.array([start], np.int64)
    count = dijkstra(rows.offsets, rows.targets, lengths, starts, np.inf, -1, order, distance, parent)
    return distance[order[:count]]


@implements(worth=Worth.ALL_PAIRS, refuse=function_weight("distance"))
def harmonic_centrality(G: BackendGraph, nbunch: Any = None, distance: Any = None, sources: Any = None) -> Any:
    wanted = set(G.nbunch(nbunch))
    chosen = set(G.nbunch(sources))
    if distance is not None or (nbunch is not None and sources is not None) or len(chosen) < len(G):
        raise NotImplementedError("harmonic centrality by weight or from some sources only")
    numbers = np.array(sorted(wanted), np.int64)
    inverse = sums_from_all(G, numbers, reverse=True).inverse_sum
    found = dict(zip(numbers.tolist(), inverse.tolist(), strict=True))
    names = set(G.nodes) if nbunch is None else set(G.names(np.array(G.nbunch(nbunch), np.int64)))
    return {node: found[G.index[node]] or 0 for node in names}


def _one_sample(bound: Bound) -> str | None:
    k = bound["k"]
    return None if k is None or (isinstance(k, int) and 0 < k <= len(bound["G"])) else "k is no number of nodes"


def _by_weight(bound: Bound) -> str | None:
    return None if bound["weight"] is None else "shortest paths are by weight"


@implements(worth=Worth.ALL_PAIRS, refuse=refuse_any(function_weight("weight"), _one_sample))
def betweenness_centrality(
    G: BackendGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> dict[Any, float]:
    drawn = None if k is None or k == len(G) else G.numbers(seed.sample(G.nodes, k))
    scale = _Scale(len(G), normalized, G.directed, endpoints, None if drawn is None else len(drawn))
    sources = np.arange(len(G)) if drawn is None else drawn
    total = through_nodes(G, sources, endpoints) if weight is None else _by_paths(G, weight, sources, endpoints)
    factor = np.full(len(G), scale.others)
    if drawn is not None:
        factor[drawn] = scale.sources
    return G.by_node(total * factor)


@implements(worth=Worth.ALL_PAIRS, refuse=refuse_any(_by_weight, _one_sample))
def edge_betweenness_centrality(
    G: BackendGraph, k: int | None = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> dict[Any, float]:
    if G.is_multigraph():
        raise NotImplementedError("the keys of a multigraph's edges are not kept")
    sources = np.arange(len(G)) if k is None else G.numbers(seed.sample(G.nodes, k))
    once = edges_once(G)
    by_edge = _dependencies(G, sources, False)[1]
    scale = _Scale(len(G), normalized, G.directed, True, None if k is None else k)
    ends = zip(G.names(G.sources[once]), G.names(G.targets[once]), strict=True)
    return dict(zip(ends, (by_edge * scale.others).tolist(), strict=True))


def _by_paths(graph: BackendGraph, weight: Any, sources: Array, endpoints: bool) -> Array:
    """As :func:`through_nodes`, for shortest paths by weight."""
    from dromos.engines.native.weighted_betweenness import dependencies_of

    lengths = nonnegative(graph, weight)[1]
    if len(lengths) and lengths.min() == 0:
        raise NotImplementedError("some weights are zero")
    return dependencies_of(graph.offsets, graph.targets, lengths, sources, endpoints)


class _Scale:
    """NetworkX's factors: for nodes that were sources of a sample, and for all others."""

    def __init__(self, n: int, normalized: bool, directed: bool, endpoints: bool, drawn: int | None) -> None:
        ends = n if endpoints else n - 1
        count = ends if drawn is None else drawn
        both = 1 if directed else 2
        self.sources = self.others = 1.0
        if ends < 2:
            return
        self.sources = self.others = 1 / (count * (ends - 1)) if normalized else ends / (count * both)
        if drawn is not None and not endpoints:
            alone = drawn == 1
            whole = (drawn - 1) * (ends - 1) if normalized else (drawn - 1) * both
            self.sources = math.nan if alone else (1 if normalized else ends) / whole


def edges_once(graph: BackendGraph) -> Array:
    """The arcs that stand for edges, in NetworkX's order: of both directions, the one from the earlier node."""
    return np.arange(len(graph.targets)) if graph.directed else np.flatnonzero(graph.sources <= graph.targets)


def _edge_numbers(graph: BackendGraph) -> Array:
    """The number of each arc's edge, in NetworkX's order of edges."""
    n, once = len(graph), edges_once(graph)
    if graph.directed:
        return once
    low = np.minimum(graph.sources, graph.targets).astype(np.int64)
    key = low * n + np.maximum(graph.sources, graph.targets)
    order = np.argsort(key[once])
    found: Array = order[np.searchsorted(key[once], key, sorter=order)]
    return found


def _dependencies(graph: BackendGraph, sources: Array, endpoints: bool) -> tuple[Array, Array]:
    from dromos.networkx_backend.kernels.distances import dependencies

    numbers = _edge_numbers(graph)
    by_node, by_edge = np.zeros(len(graph)), np.zeros(int(numbers.max(initial=-1)) + 1)
    dependencies(graph.offsets, graph.targets, numbers, sources, endpoints, by_node, by_edge)
    return by_node, by_edge


def through_nodes(graph: BackendGraph, sources: Array, endpoints: bool, many: int = MANY) -> Array:
    """The number of shortest paths through each node, as fractions, summed over ``sources``."""
    if len(sources) * len(graph.targets) < many:
        return _dependencies(graph, sources, endpoints)[0]
    from dromos.algorithms import betweenness

    drawn = None if len(sources) == len(graph) else sources.tolist()
    result = betweenness(graph.dromos, sources=drawn, normalized=False, endpoints=endpoints)
    scale = _Scale(len(graph), False, graph.directed, endpoints, None if drawn is None else len(drawn))
    factor = np.full(len(graph), scale.others)
    if drawn is not None:
        factor[drawn] = scale.sources
    total: Array = result["centrality"] / factor
    return total


def _odd_load(bound: Bound) -> str | None:
    if bound["weight"] is not None:
        return "loads by weight are left to NetworkX"
    cutoff = bound["cutoff"]
    if cutoff is not None and not (isinstance(cutoff, int) and cutoff > 0):
        return "the cutoff is not a whole number above 0"
    if set(map(type, bound["G"])) not in ({int}, {str}, set()):
        return "NetworkX sorts the nodes, and these may have no order"
    return None


@implements(worth=Worth.ALL_PAIRS, refuse=_odd_load)
def newman_betweenness_centrality(  # NetworkX's internal name for load_centrality
    G: BackendGraph, v: Any = None, cutoff: Any = None, normalized: bool = True, weight: Any = None
) -> Any:
    from dromos.networkx_backend.kernels.distances import add_loads

    load, count = np.zeros(len(G)), len(G)
    add_loads(G.offsets, G.targets, np.arange(count), count if cutoff is None else cutoff, load)
    if normalized and count > 2:
        load *= 1.0 / ((count - 1) * (count - 2))
    if v is None:
        return G.by_node(load)
    return float(load[G.index[v]]) if v in G else 0.0
