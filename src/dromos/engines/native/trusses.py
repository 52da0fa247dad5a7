"""Truss numbers of edges.

No program can express it: the triangles of an edge are an intersection of two neighborhoods. Memory: some 40 bytes for
each arc.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph
from dromos.graph.permute import degree_order, inverse, permuted_rows
from dromos.graph.picking import picked
from dromos.graph.records import Edges
from dromos.parallel import num_threads, run_team

__all__ = ["trusses"]

_SMALL = 1 << 15  # arcs, or edges of a list, that one thread processes before others are awake
_FEW = 256  # edges that one thread peels by itself


class _Rows(NamedTuple):
    """The neighbors of each vertex, in ascending order, and the edges to them."""

    offsets: Array
    targets: Array
    edge_of: Array

    def without(self, gone: Array) -> _Rows:
        """The rows without the edges that are gone."""
        left = gone[self.edge_of] == 0
        before = np.zeros(len(left) + 1, np.int64)
        np.cumsum(left, out=before[1:])
        return _Rows(*map(read_only, (before[self.offsets], *picked(left, self.targets, self.edge_of))))


def trusses(graph: Graph, *, edges: Edges, threads: int | None = None) -> Mapping[str, Array]:
    """The truss number of each of the ``edges`` of a simple undirected graph: 2 if it is in no triangle.

    >>> import dromos as dr
    >>> graph = dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> trusses(graph, edges=graph.edges())["truss"].tolist()
    [3, 3, 3, 2]
    """
    from dromos.engines.native import trusses_kernels as kernels

    n, count = graph.num_vertices, len(edges.src)
    order = degree_order(graph.out_degree, descending=False)
    rank = read_only(inverse(order, graph.targets.dtype))
    offsets, targets, _ = permuted_rows(graph, order, rank)
    offsets, targets = read_only(offsets), read_only(targets)
    team = _team(len(targets), threads)
    higher, base = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    run_team(kernels.find_higher, offsets, targets, higher, threads=team)
    np.cumsum(offsets[1:] - higher, out=base[1:])
    edge_of, stop = np.empty(len(targets), np.int64), np.zeros(1, np.int64)
    src, dst = np.empty(count, targets.dtype), np.empty(count, targets.dtype)
    run_team(
        kernels.name_edges, offsets, targets, higher, base, edge_of, src, dst, np.zeros(1, np.int64), stop,
        threads=team, stop=stop,
    )  # fmt: skip
    support = np.zeros(count, np.int64)
    run_team(
        kernels.count_support, offsets, targets, read_only(edge_of), higher, support, np.zeros(team * n, np.int64),
        np.zeros(1, np.int64), stop, threads=team, stop=stop,
    )  # fmt: skip
    _peel(_Rows(offsets, targets, read_only(edge_of)), src, dst, support, threads)
    truss = np.empty(count, np.int64)
    run_team(
        kernels.tell, offsets, targets, higher, base, rank, read_only(edges.src), read_only(edges.dst), support, truss,
        threads=team,
    )  # fmt: skip
    return {"truss": truss}


def _team(items: int, threads: int | None) -> int:
    return 1 if items < _SMALL else num_threads(threads)


def _peel(rows: _Rows, src: Array, dst: Array, support: Array, threads: int | None) -> None:
    """Lower ``support`` to the truss number minus two: edges with the fewest triangles are removed, level by level."""
    from dromos.engines.native import trusses_kernels as kernels

    gone = (support == 0).view(np.uint8) * np.uint8(2)
    left = np.flatnonzero(support)
    kept, current, following = (np.empty(len(left), np.int64) for _ in range(3))
    count, cursor, stop = (np.zeros(1, np.int64) for _ in range(3))
    size, team = len(left), num_threads(threads)
    while True:
        count[0] = cursor[0] = 0
        several = _team(size, threads)
        least = np.empty(several, np.int64)
        run_team(
            kernels.sift, left, size, support, gone, kept, count, least, cursor, stop, threads=several, stop=stop
        )  # fmt: skip
        left, kept, size = kept, left, int(count[0])
        if size == 0:
            return
        if len(rows.targets) > 4 * size:  # half of the arcs or more belong to removed edges
            rows = rows.without(gone)
        level = int(least.min())
        count[0] = cursor[0] = 0
        run_team(
            kernels.take, left, size, support, level, current, count, cursor, stop, threads=several, stop=stop
        )  # fmt: skip
        while count[0]:
            now = int(count[0])
            gone[current[:now]] = 1
            count[0] = cursor[0] = 0
            run_team(
                kernels.peel, *rows, src, dst, support, gone, current, now, level, following, count, cursor, stop,
                threads=1 if now < _FEW else team, stop=stop,
            )  # fmt: skip
            gone[current[:now]] = 2
            current, following = following, current
