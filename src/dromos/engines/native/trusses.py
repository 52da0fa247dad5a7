"""Truss numbers of edges.

No program can say it: the triangles of an edge are an intersection of two neighbourhoods. Memory: some 40 bytes for
each arc.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph
from dromos.graph.records import Edges
from dromos.parallel import num_threads, run_team

__all__ = ["trusses"]

_SMALL = 1 << 15
_FEW = 256  # edges that one thread peels by itself


class _Rows(NamedTuple):
    """The neighbours of each vertex, ids rising, and the edges to them."""

    offsets: Array
    targets: Array
    edge_of: Array

    def without(self, gone: Array) -> _Rows:
        """The rows without the edges that are gone."""
        left = gone[self.edge_of] == 0
        before = np.concatenate([[0], np.cumsum(left)])
        return _Rows(before[self.offsets], self.targets[left], self.edge_of[left])


def trusses(graph: Graph, *, edges: Edges, threads: int | None = None) -> Mapping[str, Array]:
    """The truss number of each of the ``edges`` of a simple undirected graph: 2 where it has no triangle.

    >>> import dromos as dr
    >>> graph = dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> trusses(graph, edges=graph.edges())["truss"].tolist()
    [3, 3, 3, 2]
    """
    from dromos.engines.native import trusses_kernels as kernels

    count = len(edges.src)
    rank = np.empty(graph.num_vertices, graph.targets.dtype)
    rank[np.argsort(graph.out_degree, kind="stable")] = np.arange(graph.num_vertices)
    a, b = rank[edges.src], rank[edges.dst]
    by_degree = Graph.from_edges(a, b, num_vertices=graph.num_vertices, directed=False)
    offsets, targets = by_degree.offsets, by_degree.targets
    sources = np.repeat(np.arange(graph.num_vertices, dtype=targets.dtype), by_degree.out_degree)
    upper = sources < targets
    higher = offsets[1:] - np.bincount(sources[upper], minlength=graph.num_vertices)
    edge_of = np.empty(len(targets), np.int64)
    edge_of[upper] = np.arange(count)
    lower = np.flatnonzero(~upper)
    edge_of[lower[np.argsort(targets[lower], kind="stable")]] = np.arange(count)  # by lesser end, then by greater
    src, dst = sources[upper], targets[upper]
    team = 1 if len(targets) < _SMALL else num_threads(threads)
    support, stop = np.zeros(count, np.int64), np.zeros(1, np.int64)
    run_team(
        kernels.count_support, *map(read_only, (offsets, targets, edge_of)), higher, support,
        np.zeros(team * graph.num_vertices, np.int64), np.zeros(1, np.int64), stop, threads=team, stop=stop,
    )  # fmt: skip
    _peel(_Rows(*map(read_only, (offsets, targets, edge_of))), src, dst, support, team)
    # back to the order of the graph's own edges
    least, most = np.minimum(a, b), np.maximum(a, b)
    truss = np.empty(count, np.int64)
    truss[np.lexsort((most, least))] = support + 2
    return {"truss": truss}


def _peel(rows: _Rows, src: Array, dst: Array, support: Array, team: int) -> None:
    """Lower ``support`` to the truss number less two: the edges with the fewest triangles go, level by level."""
    from dromos.engines.native import trusses_kernels as kernels

    gone = (support == 0).view(np.uint8) * np.uint8(2)
    left = np.flatnonzero(support)
    current, following = np.empty(len(left), np.int64), np.empty(len(left), np.int64)
    count, cursor, stop = (np.zeros(1, np.int64) for _ in range(3))
    while len(left):
        if len(rows.targets) > 4 * len(left):  # half of the arcs or more are of edges that are gone
            rows = rows.without(gone)
        level = int(support[left].min())
        at_level = left[support[left] == level]
        size = len(at_level)
        current[:size] = at_level
        while size:
            gone[current[:size]] = 1
            count[0] = cursor[0] = 0
            run_team(
                kernels.peel, *rows, src, dst, support, gone, current, size, level, following, count, cursor, stop,
                threads=1 if size < _FEW else team, stop=stop,
            )  # fmt: skip
            gone[current[:size]] = 2
            current, following, size = following, current, int(count[0])
        left = left[gone[left] == 0]
