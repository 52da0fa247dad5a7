"""The first of the edges that are left, in some order, gathered from a graph that may be on disk; and taken in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from dromos.algorithms.verifying import expand
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.graph.records import Edges

__all__ = ["first_between", "rows_of", "taken_in_turn"]

_FEW: Final = 4  # arcs for each vertex of the graph, which may be in memory together
_ARCS: Final = 1 << 22  # of a graph in memory that are looked at together
_EDGES: Final = 1 << 16  # that are taken between two looks for those that can no longer be


def first_between(graph: Graph, free: Array, sequence: Callable[[Edges], Array], most: int) -> Edges:
    """Edges between two ``free`` vertices in their order, no more than ``most``: the first of all of them.

    ``sequence`` tells the places of edges in the order, from the first on. An edge of a symmetric graph comes once.

    >>> import dromos as dr
    >>> by_ends = lambda edges: np.lexsort((edges.dst, edges.src))
    >>> first_between(dr.generators.path(5), np.array([0, 1, 1, 1, 1], bool), by_ends, 2).dst.tolist()
    [2, 3]
    """
    kept: list[Edges] = []
    for arcs in _arcs_of(graph, free):
        wanted = free[arcs.dst] & (arcs.src < arcs.dst if graph.symmetric else arcs.src != arcs.dst)
        kept.append(rows_of(arcs, np.flatnonzero(wanted)))
        if sum(len(edges.src) for edges in kept) > 2 * most:
            kept = [_first(kept, sequence, most)]
    return _first(kept, sequence, most)


def _arcs_of(graph: Graph, free: Array) -> Iterator[Edges]:
    """The out-arcs of these vertices: of few together, from their pages alone, else as they come by with all others."""
    if graph.out_degree[free].sum() <= min(_FEW * graph.num_vertices, graph.num_arcs // 4):
        vertices = np.flatnonzero(free).astype(graph.targets.dtype)
        held = graph.with_rows_of(vertices)
        rows, arcs = expand(held, vertices)
        yield Edges(vertices[rows], held.targets[arcs], None if held.weights is None else held.weights[arcs])
        return
    pieces = graph.arc_slices() if getattr(graph, "on_disk", False) else graph.slices(1 + graph.num_arcs // _ARCS)
    for piece in pieces:
        src = piece.sources
        found = rows_of(Edges(src, piece.targets, piece.weights), np.flatnonzero(free[src]))
        yield found._replace(src=found.src.astype(found.dst.dtype))


def _first(parts: list[Edges], sequence: Callable[[Edges], Array], most: int) -> Edges:
    src, dst = (np.concatenate(columns) for columns in ([edges.src for edges in parts], [edges.dst for edges in parts]))
    weights = [edges.weight for edges in parts if edges.weight is not None]
    edges = Edges(src, dst, np.concatenate(weights) if weights else None)
    return rows_of(edges, sequence(edges)[:most])


def rows_of(edges: Edges, rows: Array) -> Edges:
    """Some of the edges, by their places.

    >>> rows_of(Edges(np.array([4, 5]), np.array([6, 7]), None), np.array([1])).src.tolist()
    [5]
    """
    return Edges(edges.src[rows], edges.dst[rows], None if edges.weight is None else edges.weight[rows])


def taken_in_turn(edges: Edges, num_vertices: int) -> Array:
    """Which edges are taken if each is that shares no end with one taken before it.

    Without a compiler: the engine may be one that needs none.

    >>> taken_in_turn(Edges(np.array([1, 0, 2, 3]), np.array([2, 1, 3, 4]), None), 5).tolist()
    [0, 3]
    """
    free, taken = np.ones(num_vertices, dtype=bool), [np.empty(0, np.int64)]
    for begin in range(0, len(edges.src), _EDGES):
        src, dst = (ends[begin : begin + _EDGES] for ends in (edges.src, edges.dst))
        rows = np.flatnonzero(free[src] & free[dst])
        used: set[int] = set()
        chosen = []
        for row, u, v in zip(rows.tolist(), src[rows].tolist(), dst[rows].tolist(), strict=True):
            if u not in used and v not in used:
                used |= {u, v}
                chosen.append(begin + row)
        taken.append(np.array(chosen, np.int64))
        free[np.fromiter(used, np.int64, len(used))] = False
    return np.concatenate(taken)
