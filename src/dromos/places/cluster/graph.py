"""A graph whose arcs lie with the ranks that own their sources; every rank knows the size of every row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dromos.dtypes import Array, id_dtype
from dromos.engines.cpu.memory import reused_empty, reused_zeros
from dromos.errors import GraphDataError
from dromos.graph import Graph
from dromos.graph.slices import GraphSlice, equal_edge_bounds
from dromos.parallel import run_team
from dromos.places.cluster.collectives import swapped
from dromos.plan.path import Direction
from dromos.program import GraphTypes

__all__ = ["RankFeed", "RankGraph"]

_SMALL_ID_BYTES = 4
_SENT_AT_ONCE = 1 << 22  # edges: a round of the exchange takes some 100 MB whatever the size of the graph


class RankGraph:
    """An undirected graph over ranks: ``offsets`` of all vertices, ``targets`` and ``weights`` of the rank's own rows.

    Rows are sorted by target. Rank ``r`` owns the vertices ``bounds[r]..bounds[r + 1]``, which have about the same
    number of arcs on every rank.
    """

    def __init__(
        self,
        comm: Any,
        bounds: Sequence[int],
        offsets: Array,
        targets: Array,
        weights: Array | None = None,
        old_ids: Array | None = None,
    ) -> None:
        self.comm, self.bounds, self.offsets = comm, list(bounds), offsets
        self.targets, self.weights = targets, weights
        self.old_ids = old_ids
        """The original ids of the vertices, if they were renumbered."""
        rank = comm.Get_rank()
        self.first, self.last = self.bounds[rank], self.bounds[rank + 1]

    @property
    def num_vertices(self) -> int:
        """Vertices of the whole graph."""
        return len(self.offsets) - 1

    @property
    def num_arcs(self) -> int:
        """Arcs of the whole graph: two per edge, and one per self-loop."""
        return int(self.offsets[-1])

    @cached_property
    def out_degree(self) -> Array:
        """The size of every row of the whole graph."""
        return np.diff(self.offsets)

    @property
    def in_degree(self) -> Array:
        """As :attr:`out_degree`: the graph is undirected."""
        return self.out_degree

    @property
    def types(self) -> GraphTypes:
        """The number types of the graph for a program."""
        return GraphTypes(self.targets.dtype, None if self.weights is None else self.weights.dtype)

    def own_sources(self) -> Array:
        """The source of each of the rank's own arcs."""
        rows = np.diff(self.offsets[self.first : self.last + 1])
        return np.repeat(np.arange(self.first, self.last, dtype=self.targets.dtype), rows)

    @classmethod
    def from_edges(
        cls,
        comm: Any,
        src: Array,
        dst: Array,
        num_vertices: int,
        weights: Array | None = None,
        *,
        deal: bool = False,
    ) -> RankGraph:
        """Build the graph from edges, each given once by any rank; arcs go to the owners of their sources.

        Edges are sent in rounds, so that memory holds the rank's edges, its arcs and one round. ``deal``: vertices are
        renumbered by falling degree and dealt out in turn, so that all ranks have about the same number of vertices and
        arcs, and hubs are adjacent; :attr:`old_ids` has their original ids.
        """
        if len(src) != len(dst) or (weights is not None and len(weights) != len(src)):
            raise GraphDataError(f"src has {len(src):,} ids and dst {len(dst):,}; an edge needs one of each")
        for ends in (src, dst):
            if len(ends) and not (int(ends.min()) >= 0 and int(ends.max()) < num_vertices):
                raise GraphDataError(f"an edge has an end outside 0..{num_vertices - 1}")
        from dromos.places.cluster import graph_kernels as kernels

        dtype, size, rank = id_dtype(num_vertices), comm.Get_size(), comm.Get_rank()
        total = comm.allreduce(len(src))
        narrow = np.dtype(np.int32 if 2 * total < 1 << 31 else np.int64)
        counted, degree = reused_zeros(num_vertices, narrow), reused_empty(num_vertices, narrow)
        run_team(kernels.count_ends, src, dst, counted, threads=1)
        comm.Allreduce(counted, degree)
        old_ids, bounds = None, []
        offsets = reused_zeros(num_vertices + 1, np.int64)
        src, dst = src.astype(dtype, copy=False), dst.astype(dtype, copy=False)
        if deal:
            bounds = [(num_vertices * rank + size - 1) // size for rank in range(size + 1)]
            new_ids, old_ids = _dealt(degree, bounds, dtype)
            src, dst = _renumbered(src, new_ids), _renumbered(dst, new_ids)
            run_team(kernels.sum_degrees, degree, old_ids, offsets, threads=1)
        else:
            np.cumsum(degree, out=offsets[1:])
        bounds = bounds or equal_edge_bounds(offsets, size).tolist()
        pieces = list(_routed(comm, bounds, src, dst, weights))
        first, last = bounds[rank], bounds[rank + 1]
        own_src, own_dst = (_joined([piece[column] for piece in pieces]) for column in (0, 1))
        own_weights = None if weights is None else _joined([piece[2] for piece in pieces])
        pieces.clear()
        assert len(own_src) == int(offsets[last] - offsets[first])
        starts = offsets[first:last] - offsets[first]
        targets, arc_weights = _sorted_rows(own_src, own_dst, own_weights, num_vertices, first, starts)
        return cls(comm, bounds, offsets, targets, arc_weights, old_ids)


class RankFeed:
    """The rank's own rows as one slice, for pushes and, since the graph is undirected, for pulls."""

    directions: tuple[Direction, ...] = ("push", "pull")
    in_memory = True

    def __init__(self, graph: RankGraph) -> None:
        self._piece = GraphSlice(
            graph.first, graph.last, graph.offsets[graph.first : graph.last + 1], graph.targets, graph.weights
        )

    def holding(self, vertices: Array | None, direction: Direction) -> Array:
        """See :class:`dromos.places.feed.Feed`."""
        empty = self._piece.num_arcs == 0 or (vertices is not None and len(vertices) == 0)
        return np.arange(0 if empty else 1)

    def fetch(self, numbers: Array, direction: Direction) -> Iterator[GraphSlice]:
        """See :class:`dromos.places.feed.Feed`."""
        for _ in numbers:
            yield self._piece


def _dealt(degree: Array, bounds: Sequence[int], dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """The new id of every vertex, by falling degree and in turn over the ranges, and the old id of every new one."""
    from dromos.places.cluster import graph_kernels as kernels

    # the first ranges are the longer ones, so those that get a vertex in the last turn have room for it
    lengths = np.diff(bounds)
    starts = np.asarray(bounds[:-1])[np.argsort(-lengths, kind="stable")]
    new_ids, old_ids = reused_empty(len(degree), dtype), reused_empty(len(degree), dtype)
    places = np.zeros(int(degree.max(initial=0)) + 2, dtype=np.int64)
    run_team(kernels.deal_by_degree, degree, places, starts, new_ids, old_ids, threads=1)
    return new_ids, old_ids


def _renumbered(ends: Array, new_ids: Array) -> Array:
    from dromos.places.cluster import graph_kernels as kernels

    renumbered = reused_empty(len(ends), new_ids.dtype)
    run_team(kernels.renumber, ends, new_ids, renumbered, threads=1)
    return renumbered


def _routed(
    comm: Any, bounds: Sequence[int], src: Array, dst: Array, weights: Array | None
) -> Iterator[tuple[Array, ...]]:
    """Both arcs of every edge, on the rank that owns the arc's source; one piece per round."""
    from dromos.places.cluster import graph_kernels as kernels

    rounds = comm.allreduce(-(-len(src) // _SENT_AT_ONCE), op=_max())
    ends = np.asarray(bounds, dtype=np.int64)
    none = np.empty(0, dtype=np.int8)
    for number in range(max(rounds, 1)):
        part = slice(number * _SENT_AT_ONCE, (number + 1) * _SENT_AT_ONCE)
        here, there, given = src[part], dst[part], none if weights is None else weights[part]
        counts = np.zeros(len(bounds) - 1, dtype=np.int64)
        run_team(kernels.count_arcs, here, there, ends, counts, threads=1)
        total = int(counts.sum())
        sources, targets = reused_empty(total, src.dtype), reused_empty(total, src.dtype)
        arc_weights = np.empty(total if weights is not None else 0, given.dtype)
        cursors = np.cumsum(counts) - counts
        run_team(kernels.place_arcs, here, there, given, ends, cursors, sources, targets, arc_weights, threads=1)
        columns = [sources, targets] if weights is None else [sources, targets, arc_weights]
        yield tuple(swapped(comm, column, counts) for column in columns)


def _sorted_rows(
    sources: Array, targets: Array, weights: Array | None, num_vertices: int, first: int, starts: Array
) -> tuple[Array, Array | None]:
    """The targets and weights of the rows that begin at ``starts``, each row sorted by target.

    Arcs are sorted by the lower and then by the upper bits of their targets, and then distributed to their rows, which
    keeps that order: nothing is compared, and the rows of a rank are few enough for a cache.
    """
    if targets.dtype.itemsize > _SMALL_ID_BYTES:  # a row and a target do not fit in one word
        rows = Graph.from_edges(sources, targets, weights, num_vertices=num_vertices, threads=1)
        return rows.targets, rows.weights
    from dromos.places.cluster import graph_kernels as kernels

    bits = (num_vertices - 1).bit_length()
    width = (bits + 1) // 2
    low, high = np.zeros((1 << width) + 1, np.int64), np.zeros((1 << (bits - width)) + 1, np.int64)
    run_team(kernels.count_digits, width, targets, low, high, threads=1)
    given = np.empty(0, dtype=np.int8) if weights is None else weights
    (arcs, moved), (by_target, own) = (
        (reused_empty(len(targets), np.int64), reused_empty(len(given), given.dtype)) for _ in range(2)
    )
    run_team(kernels.sort_by_low, first, width, sources, targets, given, low, arcs, moved, threads=1)
    run_team(kernels.sort_by_high, width, arcs, moved, high, by_target, own, threads=1)
    row_targets = reused_empty(len(targets), targets.dtype)
    run_team(kernels.fill_rows, by_target, own, starts, row_targets, moved, threads=1)
    return row_targets, None if weights is None else moved


def _joined(pieces: list[Array]) -> Array:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _max() -> Any:
    from mpi4py import MPI

    return MPI.MAX
