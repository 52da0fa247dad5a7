"""Biconnected components, bridges and articulation points.

:func:`biconnected_components` returns one row per edge: ``source``, ``target`` and ``component``, a number from 0 on;
two edges have the same one if a cycle goes through both. ``count`` says how many there are. :func:`bridges` returns the
edges whose loss disconnects their ends; :func:`articulation_points` says by vertex, in ``member``, whose loss does.
Self-loops are left out; a parallel edge makes a cycle with its twin. A directed graph is refused, as in NetworkX.

One depth-first search finds all three. Hopcroft and Tarjan, "Efficient algorithms for graph manipulation", 1973.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.triangles import require_undirected
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = [
    "ArticulationPointsResult",
    "BiconnectedComponentsResult",
    "BridgesResult",
    "articulation_points",
    "biconnected_components",
    "bridges",
    "verify",
]

_CHECKED = 32


class BiconnectedComponentsResult(Result):
    """What :func:`biconnected_components` returns."""

    source: Array
    target: Array
    component: Array
    count: int


def biconnected_components(graph: Graph, **how: Unpack[Options]) -> BiconnectedComponentsResult:
    """Which edges are on a cycle together.

    Args:
        graph: undirected.
        how: ``device``, ``threads``; one thread of the host works, and there are no paths to choose from.

    >>> import dromos as dr
    >>> result = dr.biconnected_components(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> result.source.tolist(), result.target.tolist(), result.component.tolist()
    ([0, 0, 1, 2], [1, 2, 2, 3], [1, 1, 1, 0])
    """
    session, found = _search("biconnected_components", graph, how)
    source, target = _edges(graph)
    return session.result(
        BiconnectedComponentsResult,
        {"source": source, "target": target, "component": _components(found, source, target)},
        values={"count": found["count"]},
        vertex_fields={"source", "target"},
        index="source",
        verifier=lambda result: verify(graph, result["source"], result["target"], result["component"]),
    )


class BridgesResult(Result):
    """What :func:`bridges` returns."""

    source: Array
    target: Array
    count: int


def bridges(graph: Graph, **how: Unpack[Options]) -> BridgesResult:
    """The edges that are on no cycle: ``source`` and ``target``, and their number, ``count``.

    Args:
        graph: undirected.
        how: ``device``, ``threads``; one thread of the host works, and there are no paths to choose from.

    >>> import dromos as dr
    >>> result = dr.bridges(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> result.source.tolist(), result.target.tolist()
    ([2], [3])
    """
    session, found = _search("bridges", graph, how)
    source, target = _edges(graph)
    component = _components(found, source, target)
    alone = (np.bincount(component, minlength=1) == 1)[component]
    source, target = source[alone], target[alone]
    return session.result(
        BridgesResult,
        {"source": source, "target": target},
        values={"count": len(source)},
        vertex_fields={"source", "target"},
        index="source",
        verifier=lambda result: verify_bridges(graph, result["source"], result["target"]),
    )


class ArticulationPointsResult(Result):
    """What :func:`articulation_points` returns."""

    member: Array
    count: int


def articulation_points(graph: Graph, **how: Unpack[Options]) -> ArticulationPointsResult:
    """The vertices whose loss disconnects others: ``member``, and their number, ``count``.

    Args:
        graph: undirected.
        how: ``device``, ``threads``; one thread of the host works, and there are no paths to choose from.

    >>> import dromos as dr
    >>> dr.articulation_points(dr.generators.path(4)).member.tolist()
    [False, True, True, False]
    """
    session, found = _search("articulation_points", graph, how)
    cut = found["cut"]

    def check(result: Result) -> None:
        source, target = _edges(graph)
        component = _components(found, source, target)
        verify(graph, source, target, component)
        pairs = np.unique(np.stack([np.concatenate([source, target]), np.tile(component, 2)]), axis=1)
        held = np.bincount(pairs[0], minlength=graph.num_vertices)
        nowhere(result["member"] != (held > 1), "vertex {} lies in several components and is no member, or the reverse")

    return session.result(
        ArticulationPointsResult, {"member": cut}, values={"count": int(np.count_nonzero(cut))}, verifier=check
    )


def _search(name: str, graph: Graph, how: Options) -> tuple[Session, Any]:
    session = Session(name, graph, **how)
    require_undirected(graph, name)
    return session, session.host_native("biconnected")


def _edges(graph: Graph) -> tuple[Array, Array]:
    """The lesser and the greater end of each edge that is no loop, in the order of both."""
    edges = graph.edges()
    source, target = edges.src, edges.dst
    if graph.has_self_loops:
        real = source != target
        source, target = source[real], target[real]
    if not graph.sorted:
        order = np.lexsort((target, source))
        source, target = source[order], target[order]
    return source, target


def _components(found: Mapping[str, Array], source: Array, target: Array) -> Array:
    """The component of each edge: that of its end which was visited later."""
    number = found["number"]
    later = np.where(number[source] > number[target], source, target)
    return found["component"][later].astype(np.int64)


def verify_bridges(graph: Graph, source: Array, target: Array) -> None:
    """Without the bridges there are as many more parts; without any one of the other edges there are not more."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    n, edges = graph.num_vertices, graph.edges()
    if n == 0:
        return
    real = edges.src != edges.dst
    src, dst = edges.src[real].astype(np.int64), edges.dst[real].astype(np.int64)
    keys, copies = np.unique(src * n + dst, return_counts=True)
    place = np.searchsorted(keys, source.astype(np.int64) * n + target)
    place[place == len(keys)] = 0
    require(len(source) <= len(keys), "there are more bridges than edges")
    require(bool(np.all(keys[place] == source.astype(np.int64) * n + target)), "a bridge is no edge")
    require(bool(np.all(copies[place] == 1)), "a bridge has a parallel edge")

    def parts(kept: Array) -> int:
        ends = keys[kept] // n, keys[kept] % n
        return int(connected_components(sp.coo_array((np.ones(len(ends[0])), ends), shape=(n, n)), directed=False)[0])

    everything, rest = np.ones(len(keys), dtype=bool), np.ones(len(keys), dtype=bool)
    rest[place] = False
    whole = parts(everything)
    require(parts(rest) == whole + len(source), "not every bridge disconnects its ends")
    for edge in np.flatnonzero(rest & (copies == 1))[:_CHECKED].tolist():
        everything[edge] = False
        a, b = divmod(int(keys[edge]), n)
        require(parts(everything) == whole, f"the edge {a}-{b} is a bridge that was left out")
        everything[edge] = True


def verify(graph: Graph, source: Array, target: Array, component: Array) -> None:
    """Each edge has one component; with the vertices they form a forest; each one's edges are connected, and, for some,
    also without any one of its vertices.

    A forest of components and vertices means that no cycle goes through two components.
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    n, edges = graph.num_vertices, graph.edges()
    real = edges.src != edges.dst
    require(len(source) == np.count_nonzero(real), "there is not one row for each edge")
    ours, theirs = np.lexsort((target, source)), np.lexsort((edges.dst[real], edges.src[real]))
    require(
        bool(np.all(source[ours] == edges.src[real][theirs]) and np.all(target[ours] == edges.dst[real][theirs])),
        "a row is no edge of the graph",
    )
    if not len(source):
        return
    count = int(component.max()) + 1
    member = np.unique(np.stack([np.concatenate([source, target]), np.tile(component, 2)]), axis=1)
    size = n + count
    tree = sp.coo_array((np.ones(member.shape[1]), (member[0], n + member[1])), shape=(size, size))
    parts = connected_components(tree, directed=False)[0]
    require(member.shape[1] == size - parts, "a cycle goes through two components")
    for number in range(min(count, _CHECKED)):
        inner = component == number
        vertices, ends = np.unique(np.stack([source[inner], target[inner]]), return_inverse=True)
        ends = ends.reshape(2, -1)
        for lost in [-1, *range(min(len(vertices), _CHECKED))] if len(vertices) > 2 else [-1]:
            kept = np.all(ends != lost, axis=0)
            links = sp.coo_array((np.ones(kept.sum()), tuple(ends[:, kept])), shape=(len(vertices), len(vertices)))
            pieces = connected_components(links, directed=False)[0] - (lost >= 0)
            require(pieces == 1, f"component {number} falls apart without vertex {vertices[lost]}")
