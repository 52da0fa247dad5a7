"""Connected components: ``networkx.algorithms.components``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Worth, implements
from dromos.networkx_backend.searching import found_from

__all__: list[str] = []


def labels(graph: BackendGraph, connection: Literal["weak", "strong"] = "weak") -> tuple[int, Array]:
    """The number of components, and the component of every node."""
    from scipy.sparse.csgraph import connected_components as find

    count, label = find(graph.matrix(), directed=graph.directed, connection=connection)
    return int(count), label


def in_order(label: Array) -> list[Array]:
    """The numbers of each component's nodes; components in the order of their first nodes."""
    order = np.argsort(label, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(order) else []
    return sorted(parts, key=lambda part: int(part[0]))


def _sets(graph: BackendGraph) -> Iterator[set[Any]]:
    for part in in_order(labels(graph)[1]):
        yield set(graph.names(part))


def require_nodes(graph: BackendGraph) -> None:
    """Raise NetworkX's error for a graph without nodes."""
    if not len(graph):
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")


@implements(worth=Worth.LINEAR)
def connected_components(G: BackendGraph) -> Iterator[set[Any]]:
    yield from _sets(G)


@implements(worth=Worth.LINEAR)
def number_connected_components(G: BackendGraph) -> int:
    return labels(G)[0]


@implements(worth=Worth.LINEAR)
def is_connected(G: BackendGraph) -> bool:
    require_nodes(G)
    return labels(G)[0] == 1


@implements()
def node_connected_component(G: BackendGraph, n: Any) -> set[Any]:
    return set(G.names(found_from(G.rows, [G.index[n]]).order))


@implements(worth=Worth.LINEAR)
def weakly_connected_components(G: BackendGraph) -> Iterator[set[Any]]:
    yield from _sets(G)


@implements(worth=Worth.LINEAR)
def number_weakly_connected_components(G: BackendGraph) -> int:
    return labels(G)[0]


@implements(worth=Worth.LINEAR)
def is_weakly_connected(G: BackendGraph) -> bool:
    require_nodes(G)
    return labels(G)[0] == 1


@implements(worth=Worth.ITERATIVE)
def strongly_connected_components(G: BackendGraph) -> Iterator[set[Any]]:
    for part in strong_parts(G):
        yield set(G.names(part))


def strong_parts(graph: BackendGraph) -> list[Array]:
    """The numbers of each strongly connected component's nodes, in NetworkX's order."""
    from dromos.networkx_backend.kernels.components import strong_components

    members, ends = np.empty(len(graph), np.int64), np.empty(len(graph), np.int64)
    count = strong_components(graph.offsets, graph.targets, members, ends)
    return np.split(members, ends[: count - 1]) if count else []


@implements(worth=Worth.ITERATIVE)
def number_strongly_connected_components(G: BackendGraph) -> int:
    return labels(G, "strong")[0]


@implements(worth=Worth.ITERATIVE)
def is_strongly_connected(G: BackendGraph) -> bool:
    require_nodes(G)
    return labels(G, "strong")[0] == 1


def _attracting(graph: BackendGraph) -> list[Array]:
    """The strong components that no edge leaves, in NetworkX's order."""
    parts = strong_parts(graph)
    label = np.empty(len(graph), np.int64)
    for number, part in enumerate(parts):
        label[part] = number
    leaving = label[graph.sources] != label[graph.targets]
    attracting = np.ones(len(parts), bool)
    attracting[label[graph.sources[leaving]]] = False
    return [parts[number] for number in np.flatnonzero(attracting)]


@implements(worth=Worth.ITERATIVE)
def attracting_components(G: BackendGraph) -> Iterator[set[Any]]:
    for part in _attracting(G):
        yield set(G.names(part))


@implements(worth=Worth.ITERATIVE)
def number_attracting_components(G: BackendGraph) -> int:
    return len(_attracting(G))


@implements(worth=Worth.ITERATIVE)
def is_attracting_component(G: BackendGraph) -> bool:
    return len(G) > 0 and labels(G, "strong")[0] == 1
