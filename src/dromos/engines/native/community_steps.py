"""The steps of Louvain and Leiden as kernels: on one thread for small levels, on a team for large ones.

The answers do not depend on how many threads a team has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array, as_words, read_only
from dromos.engines.native.community_levels import BLOCK, Level, batch_of, hubs_before, is_large
from dromos.engines.native.community_numbers import cut, members, numbered
from dromos.parallel import run_team

__all__ = ["CompiledSteps"]

_APART = 32  # entries between what two threads write: two cache lines, since neighbours are fetched in pairs
_MANY = 1 << 14  # vertices whose communities are numbered by a kernel; below, NumPy is as fast and needs no compiler
_LARGE_GROUP = 512  # a group with more arcs than one in so many of all is a thread's work by itself


class CompiledSteps:
    """The steps on ``threads`` threads; once ``stop`` is set they end early, by KeyboardInterrupt."""

    def __init__(self, stop: Array, threads: int = 1) -> None:
        self._stop = stop
        self._threads = threads

    def on(self, threads: int) -> CompiledSteps:
        """The same on so many threads."""
        return CompiledSteps(self._stop, threads)

    def _run(self, kernel: Any, *args: Any) -> None:
        kernel(*args, self._stop)
        self._require_whole()

    def _run_team(self, kernel: Any, *args: Any, threads: int) -> None:
        run_team(kernel, *args, self._stop, threads=threads)  # the flag is set by whoever waits for the thread of this
        self._require_whole()

    def _require_whole(self) -> None:
        if self._stop[0]:  # what the kernel left is not whole
            raise KeyboardInterrupt

    def move(self, level: Level, scale: float, community: Array, total: Array, size: Array, order: Array) -> Array:
        """See :class:`Steps`."""
        n, ids = level.size, level.targets.dtype
        empty = np.flatnonzero(size == 0)
        free = np.zeros(n + 1, np.int64)
        free[: len(empty)], free[n] = empty, len(empty)
        if is_large(level):
            self._move_in_batches(level, scale, community, total, size, order, free)
            return community
        from dromos.engines.native import communities_kernels as kernels

        table = np.zeros((n, 2))
        table[:, 1] = total
        self._run(
            kernels.move, *level, scale, community, table.ravel(), size, order, np.ones(n, np.uint8), np.empty(n), free,
            np.empty(n + 1, ids),
        )  # fmt: skip
        return community

    def _move_in_batches(
        self, level: Level, scale: float, community: Array, total: Array, size: Array, order: Array, free: Array
    ) -> None:
        from dromos.engines.native import communities_batch_kernels as kernels
        from dromos.jit import LINE, team_memory

        n, ids, threads = level.size, level.targets.dtype, self._threads
        order, hubs = hubs_before(level, order)
        places = np.empty(n, ids)
        places[order] = np.arange(n, dtype=ids)
        flags = np.zeros(n + 8, np.uint8)
        flags[:n] = 1
        batch = batch_of(level)
        most = batch + 1  # of a batch: its hubs and its others are rounded by themselves
        choices, olds, movers, left, joined = (np.empty(most, ids) for _ in range(5))
        edges, masses = np.empty(most), np.empty(most)
        self._run_team(
            kernels.move_in_batches, *level, scale, float(level.strength.sum()), community, total, size.astype(ids),
            order, places, hubs, np.full(hubs, -1), flags, np.empty(n, ids), batch, choices, edges, olds, masses,
            movers, left, joined, free, np.empty(threads * (2 * n + _APART)), np.empty(threads * (n + _APART), ids),
            np.zeros(kernels.CURSORS * LINE, np.int64), team_memory(threads), threads=threads,
        )  # fmt: skip

    def refine(self, level: Level, scale: float, community: Array, total: Array, order: Array) -> Array:
        """See :class:`Steps`."""
        n, ids, threads = level.size, level.targets.dtype, self._threads
        label, table = np.empty(2 * n, ids), np.empty(4 * n)
        if threads == 1 or not is_large(level):
            from dromos.engines.native import communities_kernels as kernels

            self._run(kernels.refine, *level, scale, community, total, order, label, table, np.empty(n + 1, ids))
            return label[1::2].copy()
        from dromos.engines.native import communities_team_kernels as team_kernels
        from dromos.jit import LINE, team_memory

        starts, order = self._by_group(community, int(community.max()) + 1, order)
        arcs = np.bincount(community, weights=np.diff(level.offsets))
        self._run_team(
            team_kernels.refine, *level, scale, community, total, order, starts, *_large_groups(arcs), label, table,
            np.empty(threads * (n + _APART), ids), np.zeros(team_kernels.CURSORS * LINE, np.int64),
            team_memory(threads), threads=threads,
        )  # fmt: skip
        return label[1::2].copy()

    def aggregate(self, level: Level, group: Array, starts: Array, order: Array) -> tuple[Array, Array, Array]:
        """See :class:`Steps`."""
        arcs, threads = len(level.targets), self._threads
        targets, weights = np.empty(arcs, level.targets.dtype), np.empty(arcs, level.weights.dtype)
        if threads > 1 and is_large(level):
            return self._aggregate_on_team(level, group, starts, order, targets, weights)
        from dromos.engines.native import communities_kernels as kernels

        offsets = np.empty(len(starts), np.int64)
        self._run(
            kernels.aggregate, level.offsets, level.targets, level.weights, group, starts, order, offsets, targets,
            weights, np.zeros(level.size), np.empty(level.size + 1, group.dtype),
        )  # fmt: skip
        used = int(offsets[-1])
        if used < arcs // 2:  # a copy gives memory back; where little is left over it is not worth its time
            return offsets, targets[:used].copy(), weights[:used].copy()
        return offsets, targets[:used], weights[:used]

    def _aggregate_on_team(
        self, level: Level, group: Array, starts: Array, order: Array, targets: Array, weights: Array
    ) -> tuple[Array, Array, Array]:
        """Rows with room for all arcs of their vertices, and then without."""
        from dromos.engines.cpu.copy_kernels import gather_rows
        from dromos.engines.native import communities_team_kernels as kernels
        from dromos.jit import LINE

        threads, parts = self._threads, len(starts) - 1
        arcs = np.bincount(group, weights=np.diff(level.offsets), minlength=parts)
        bounds, ends = np.zeros(parts + 1, np.int64), np.empty(parts, np.int64)
        np.cumsum(arcs, out=bounds[1:])
        self._run_team(
            kernels.aggregate, level.offsets, level.targets, level.weights, group, starts, order, *_large_groups(arcs),
            bounds, ends, targets, weights, np.zeros(threads * (parts + _APART)),
            np.empty(threads * (parts + _APART), group.dtype), np.zeros(kernels.CURSORS * LINE, np.int64),
            threads=threads,
        )  # fmt: skip
        offsets = np.zeros(parts + 1, np.int64)
        np.cumsum(ends - bounds[:-1], out=offsets[1:])
        rows, sums = np.empty(offsets[-1], targets.dtype), np.empty(offsets[-1], weights.dtype)
        for values, into in ((targets, rows), (weights, sums)):
            run_team(gather_rows, bounds[:-1], offsets, read_only(as_words(values)), as_words(into), threads=threads)
        return offsets, rows, sums

    def within(self, level: Level, group: Array) -> float:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_kernels as kernels

        found = np.zeros(-(-level.size // BLOCK))
        given = (level.offsets, level.targets, level.weights, group, found, np.zeros(1, np.int64))
        if is_large(level):
            self._run_team(kernels.within, *given, threads=self._threads)
        else:  # a first call on a small graph loads nothing of teams
            self._run(kernels.within, 0, 1, *given)
        return float(found.sum())

    def numbered(self, group: Array) -> tuple[Array, int]:
        """See :class:`Steps`."""
        if len(group) < _MANY:
            return numbered(group)
        from dromos.engines.native import communities_kernels

        kernels: Any = communities_kernels
        found = np.empty_like(group)
        count = kernels.number(group, np.full(int(group.max()) + 1, -1, group.dtype), found)
        return found, int(count)

    def cut(self, fine: Array, coarse: Array) -> Array:
        """See :class:`Steps`."""
        if len(fine) < _MANY:
            return cut(fine, coarse)
        from dromos.engines.native import communities_kernels

        kernels: Any = communities_kernels
        groups, found = int(coarse.max()) + 1, np.empty_like(coarse)
        kernels.number_pairs(
            self.members(fine, int(fine.max()) + 1)[1],
            fine,
            coarse,
            np.full(groups, -1, fine.dtype),
            np.empty(groups, coarse.dtype),
            found,
        )
        return self.numbered(found)[0]

    def members(self, group: Array, count: int) -> tuple[Array, Array]:
        """See :class:`Steps`."""
        if len(group) < _MANY:
            return members(group, count)
        return self._by_group(group, count, np.arange(len(group), dtype=group.dtype))

    def _by_group(self, group: Array, count: int, order: Array) -> tuple[Array, Array]:
        """Where groups begin, and the vertices of an order by group."""
        from dromos.engines.native import communities_kernels

        kernels: Any = communities_kernels
        starts, found = np.zeros(count + 1, np.int64), np.empty(len(group), group.dtype)
        np.cumsum(np.bincount(group, minlength=count), out=starts[1:])
        kernels.sort_by_group(order, group, starts.copy(), found)
        return starts, found

    def shuffled(self, n: int, seed: int, dtype: np.dtype[Any]) -> Array:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_kernels

        kernels: Any = communities_kernels
        found = np.empty(n, dtype)
        kernels.shuffle(found, np.uint64(seed))
        return found


def _large_groups(arcs: Array) -> tuple[Array, Array]:
    """Which groups are large, as flags and as a list."""
    large = arcs * _LARGE_GROUP > arcs.sum()
    return large.view(np.uint8), np.flatnonzero(large)
