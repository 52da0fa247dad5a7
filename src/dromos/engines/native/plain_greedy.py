"""Spanning forests, matchings and colorings in plain Python; :mod:`dromos.engines.native.greedy` has the compiled ones.

Choices are made one after the other in the same order, so the results are the same. The code works on lists, which
Python reads several times faster than arrays: 100,000 edges take a tenth of a second, while compiling would take three.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from dromos.dtypes import Array
from dromos.engines import Tell
from dromos.engines.native.edge_order import edges_by_ends, falling
from dromos.graph import Graph
from dromos.graph.permute import degree_order

__all__ = ["coloring", "forest", "matching"]

_PATIENCE = 4095  # choices between two calls of ``tell``
_NO_DIGITS = 65  # more than any degree has


def forest(graph: Graph, *, maximum: bool = False, tell: Tell | None = None) -> Mapping[str, Array]:
    """The edges of a spanning forest of least weight, or greatest, as columns by their ends; ties by first edge.

    >>> import dromos as dr
    >>> graph = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [5, 1, 2], directed=False)
    >>> {name: rows.tolist() for name, rows in forest(graph).items()}
    {'source': [0, 1], 'target': [2, 2], 'weight': [2, 1]}
    """
    edges = edges_by_ends(graph)
    count = len(edges.src)
    order = np.arange(count) if edges.weight is None else _by_weight(edges.weight, maximum)
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
    taken = np.sort(order[chosen])
    columns = {"source": edges.src[taken], "target": edges.dst[taken]}
    return columns if edges.weight is None else {**columns, "weight": edges.weight[taken]}


def _by_weight(weights: Array, maximum: bool) -> Array:
    """The order from the lightest on, or from the heaviest; ties keep their order."""
    return np.argsort(falling(weights) if maximum else weights, kind="stable")


def matching(graph: Graph, *, tell: Tell | None = None) -> Mapping[str, Array]:
    """``mate`` of each vertex, -1 without one; if the graph has weights, ``weight`` of each pair, at its lesser end.

    >>> import dromos as dr
    >>> matching(dr.generators.path(5))["mate"].tolist()
    [1, 0, -1, 4, 3]
    >>> matching(dr.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 5, 1], directed=False))["weight"].tolist()
    [0, 5, 0, 0]
    """
    if graph.weights is None:
        return {"mate": np.array(_matched_by_turns(graph, tell), graph.targets.dtype)}
    edges = edges_by_ends(graph)
    assert edges.weight is not None
    order = _by_weight(edges.weight, True)
    mate, chosen = [-1] * graph.num_vertices, []
    for place, (u, v) in enumerate(zip(edges.src[order].tolist(), edges.dst[order].tolist(), strict=True)):
        if tell is not None and place & _PATIENCE == _PATIENCE:
            tell(place / len(order))
        if u != v and mate[u] < 0 and mate[v] < 0:
            mate[u], mate[v] = v, u
            chosen.append(place)
    weight, taken = np.zeros(graph.num_vertices, edges.weight.dtype), order[chosen]
    weight[np.minimum(edges.src[taken], edges.dst[taken])] = edges.weight[taken]
    return {"mate": np.array(mate, graph.targets.dtype), "weight": weight}


def _matched_by_turns(graph: Graph, tell: Tell | None) -> list[int]:
    """Let vertices choose, those of the fewest neighbors first: of the free ones the first of the fewest digits."""
    targets, bounds = graph.targets.tolist(), list(pairwise(graph.offsets.tolist()))
    order = degree_order(graph.out_degree, descending=False)
    digits = [degree.bit_length() for degree in graph.out_degree.tolist()]
    mate = [-1] * graph.num_vertices
    for place, v in enumerate(order.tolist()):
        if tell is not None and place & _PATIENCE == _PATIENCE:
            tell(place / len(order))
        if mate[v] >= 0:
            continue
        begin, end = bounds[v]
        chosen, least = -1, (_NO_DIGITS, 0)
        for u in targets[begin:end]:
            if mate[u] < 0 and u != v and (digits[u], u) < least:
                chosen, least = u, (digits[u], u)
        if chosen >= 0:
            mate[v], mate[chosen] = chosen, v
    return mate


def coloring(graph: Graph, *, order: Array, by_degree: bool = False, tell: Tell | None = None) -> Mapping[str, Array]:
    """The color of each vertex of a symmetric graph: the least that is free at its turn in ``order``.

    ``by_degree``: those of the greatest degrees come first, ties in ``order``.

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
