"""Spanning forests, matchings and colours in plain Python; :mod:`dromos.engines.native.greedy` has the compiled ones.

One choice after the other in the same order, so the answers are the same. On lists, which Python reads several times
faster than arrays: 100,000 edges take a tenth of a second, where compiling would take three.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from dromos.dtypes import Array
from dromos.engines import Tell
from dromos.graph import Graph
from dromos.graph.records import Edges

__all__ = ["coloring", "forest", "matching", "row_matching"]

_PATIENCE = 4095  # choices between two calls of ``tell``


def forest(graph: Graph, *, edges: Edges, tell: Tell | None = None) -> Mapping[str, Array]:
    """Which ``edges`` of a graph are in a spanning forest of least weight; of equal ones the first.

    >>> import dromos as dr
    >>> graph = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [5, 1, 2], directed=False)
    >>> forest(graph, edges=graph.edges())["taken"].tolist()
    [False, True, True]
    """
    count = len(edges.src)
    order = np.arange(count) if edges.weight is None else np.argsort(edges.weight, kind="stable")
    root, chosen = list(range(graph.num_vertices)), []
    for place, (u, v) in enumerate(zip(edges.src[order].tolist(), edges.dst[order].tolist(), strict=True)):
        if tell is not None and place & _PATIENCE == _PATIENCE:
            tell(place / count)
        while root[u] != u:
            root[u] = u = root[root[u]]
        while root[v] != v:
            root[v] = v = root[root[v]]
        if u != v:
            root[max(u, v)] = min(u, v)
            chosen.append(place)
    taken = np.zeros(count, bool)
    taken[order[chosen]] = True
    return {"taken": taken}


def matching(graph: Graph, *, edges: Edges, order: Array, tell: Tell | None = None) -> Mapping[str, Array]:
    """The mate of each vertex, -1 without one, by taking the ``edges`` of a graph in ``order``.

    >>> import dromos as dr
    >>> path = dr.generators.path(4)
    >>> matching(path, edges=path.edges(), order=np.array([1, 0, 2]))["mate"].tolist()
    [-1, 2, 1, -1]
    """
    mate = [-1] * graph.num_vertices
    for place, (u, v) in enumerate(zip(edges.src[order].tolist(), edges.dst[order].tolist(), strict=True)):
        if tell is not None and place & _PATIENCE == _PATIENCE:
            tell(place / len(order))
        if u != v and mate[u] < 0 and mate[v] < 0:
            mate[u], mate[v] = v, u
    return {"mate": np.array(mate, graph.targets.dtype)}


def row_matching(graph: Graph, *, order: Array, tell: Tell | None = None) -> Mapping[str, Array]:
    """The mate of each vertex of a symmetric graph, -1 without one; vertices choose in ``order``.

    Each takes its first free neighbour, or one further on in its row that has at most half as many neighbours.

    >>> import dromos as dr
    >>> row_matching(dr.generators.path(4), order=np.array([1, 0, 2, 3]))["mate"].tolist()
    [1, 0, 3, 2]
    """
    targets, bounds, degree = graph.targets.tolist(), list(pairwise(graph.offsets.tolist())), graph.out_degree.tolist()
    mate = [-1] * graph.num_vertices
    for place, v in enumerate(order.tolist()):
        if tell is not None and place & _PATIENCE == _PATIENCE:
            tell(place / len(order))
        if mate[v] >= 0:
            continue
        begin, end = bounds[v]
        chosen, limit = -1, len(targets)
        for u in targets[begin:end]:
            if mate[u] < 0 and u != v and degree[u] <= limit:
                chosen, limit = u, degree[u] // 2
        if chosen >= 0:
            mate[v], mate[chosen] = chosen, v
    return {"mate": np.array(mate, graph.targets.dtype)}


def coloring(graph: Graph, *, order: Array, by_degree: bool = False, tell: Tell | None = None) -> Mapping[str, Array]:
    """The colour of each vertex of a symmetric graph, the least that is free when its turn comes in ``order``.

    ``by_degree``: those of the greatest degrees come first, equal ones in ``order``.

    >>> import dromos as dr
    >>> coloring(dr.generators.path(4), order=np.arange(4))["color"].tolist()
    [0, 1, 0, 1]
    """
    targets, bounds = graph.targets.tolist(), list(pairwise(graph.offsets.tolist()))
    color = [-1] * graph.num_vertices
    if by_degree:
        order = order[np.argsort(-graph.out_degree[order], kind="stable")]
    for place, v in enumerate(order.tolist()):
        if tell is not None and place & _PATIENCE == _PATIENCE:
            tell(place / len(order))
        begin, end = bounds[v]
        around = {color[u] for u in targets[begin:end]}
        free = 0
        while free in around:
            free += 1
        color[v] = free
    return {"color": np.array(color, np.int32)}
