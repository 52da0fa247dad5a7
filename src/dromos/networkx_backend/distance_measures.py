"""Distances of the whole graph: ``networkx.algorithms.distance_measures``, ``efficiency_measures``, ``wiener``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from dromos.networkx_backend.centrality import distances_in_order
from dromos.networkx_backend.components import labels, require_nodes
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, function_weight, implements, refuse_any
from dromos.networkx_backend.sums import sums_from_all
from dromos.networkx_backend.values import plain
from dromos.networkx_backend.weighted import nonnegative

__all__: list[str] = []


def _given_paths(bound: Bound) -> str | None:
    return None if bound["sp"] is None else "distances are given"


def _bounds(bound: Bound) -> str | None:
    return "usebounds is NetworkX's own way" if bound["usebounds"] is not False else None


_REFUSE = refuse_any(function_weight("weight"), _bounds)


@implements(worth=Worth.ALL_PAIRS, refuse=refuse_any(function_weight("weight"), _given_paths))
def eccentricity(G: BackendGraph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    numbers = np.array(G.nbunch(v), np.int64)
    farthest = _farthest(G, numbers) if weight is None else _farthest_by_weight(G, numbers, weight)
    return farthest[0] if v in G else dict(zip(G.names(numbers), farthest, strict=True))


def _not_connected(graph: BackendGraph) -> nx.NetworkXError:
    kind = "digraph is not strongly connected" if graph.directed else "graph is not connected"
    return nx.NetworkXError(f"Found infinite path length because the {kind}")


def _farthest(graph: BackendGraph, numbers: Any) -> list[Any]:
    sums = sums_from_all(graph, numbers)
    if (sums.reached < len(graph) - 1).any():
        raise _not_connected(graph)
    depth: list[Any] = sums.depth.tolist()
    return depth


def _farthest_by_weight(graph: BackendGraph, numbers: Any, weight: Any) -> list[Any]:
    values, lengths = nonnegative(graph, weight)
    found: list[Any] = []
    for number in numbers.tolist():
        distances = distances_in_order(graph.rows, lengths, number)
        if len(distances) < len(graph):
            raise _not_connected(graph)
        found.append(max(0, plain(distances[-1:], values.whole)[0]))  # a node's distance to itself is the int 0
    return found


def _eccentricities(graph: BackendGraph, given: Any, weight: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = eccentricity(graph, weight=weight) if given is None else given
    return found


@implements(worth=Worth.ALL_PAIRS, refuse=_REFUSE)
def diameter(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return max(_eccentricities(G, e, weight).values())


@implements(worth=Worth.ALL_PAIRS, refuse=_REFUSE)
def radius(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return min(_eccentricities(G, e, weight).values())


@implements(worth=Worth.ALL_PAIRS, refuse=_REFUSE)
def periphery(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    found = _eccentricities(G, e, weight)
    greatest = max(found.values())
    return [node for node, value in found.items() if value == greatest]


@implements(worth=Worth.ALL_PAIRS, refuse=_REFUSE)
def center(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> list[Any]:
    if e is None and weight is None and not G.directed and not len(G):
        raise nx.NetworkXPointlessConcept("G has no nodes.")
    found = _eccentricities(G, e, weight)
    least = min(found.values())
    return [node for node, value in found.items() if value == least]


def _attribute(bound: Bound) -> str | None:
    return None if bound["attr"] is None and bound["weight"] is None else "by weight, or written to an attribute"


@implements(worth=Worth.ALL_PAIRS, refuse=refuse_any(_given_paths, _attribute))
def barycenter(G: BackendGraph, weight: Any = None, attr: Any = None, sp: Any = None) -> list[Any]:
    if not G.directed:
        if not len(G):
            raise nx.NetworkXPointlessConcept("G has no nodes.")
        if G.num_edges == len(G) - 1:
            raise NotImplementedError("NetworkX orders the barycenter of a tree in another way")
    sums = sums_from_all(G)
    if (sums.reached < len(G) - 1).any():
        raise nx.NetworkXNoPath(
            f"Input graph {G} is disconnected, so every induced subgraph has infinite barycentricity."
        )
    return G.names(np.flatnonzero(sums.distance_sum == sums.distance_sum.min(initial=2**62)))


@implements(worth=Worth.ALL_PAIRS)
def global_efficiency(G: BackendGraph) -> float:
    pairs = len(G) * (len(G) - 1)
    return float(sums_from_all(G).inverse_sum.sum()) / pairs if pairs else 0


@implements(worth=Worth.ALL_PAIRS)
def local_efficiency(G: BackendGraph) -> float:
    from dromos.networkx_backend.kernels.distances import efficiency_of_neighbours

    efficiency = np.zeros(len(G))
    efficiency_of_neighbours(G.offsets, G.targets, efficiency)
    return (float(efficiency.sum()) if len(G) else 0) / len(G)  # without nodes NetworkX divides integers


def _by_weight(bound: Bound) -> str | None:
    return None if bound["weight"] is None else "by weight"


@implements(worth=Worth.ALL_PAIRS, refuse=_by_weight)
def wiener_index(G: BackendGraph, weight: Any = None) -> Any:
    require_nodes(G)
    if labels(G, "strong" if G.directed else "weak")[0] > 1:
        return float("inf")
    total = int(sums_from_all(G).distance_sum.sum())
    return total if G.directed else total / 2
