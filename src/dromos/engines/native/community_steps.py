"""The steps of Louvain and Leiden as kernels: on one thread for small levels, on a team for large ones.

The results do not depend on the number of threads.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dromos.dtypes import Array, as_words, read_only
from dromos.engines.native.community_climbs import pieces
from dromos.engines.native.community_levels import BLOCK, Level, Rise, batch_of, hubs_before, is_large
from dromos.parallel import run_team

__all__ = ["CompiledSteps"]

_APART = 32  # entries between data of two threads: two cache lines, since neighbors are fetched in pairs
_LARGE_GROUP = 512  # a group with more than one in so many of all arcs is a separate item of work


class CompiledSteps:
    """The steps on ``threads`` threads; once ``stop`` is set they end early with KeyboardInterrupt.

    ``rises``: whether compiling the kernel of :meth:`rise` is worth it; otherwise it does nothing.
    """

    def __init__(self, stop: Array, threads: int = 1, *, rises: bool = True) -> None:
        self._stop = stop
        self._threads = threads
        self._rises = rises
        self._drawn: tuple[int, int, Array] | None = None

    def on(self, threads: int) -> CompiledSteps:
        """The same steps on so many threads."""
        return CompiledSteps(self._stop, threads, rises=self._rises)

    def _run(self, kernel: Any, *args: Any) -> int:
        """Run a kernel and return its result, a number."""
        found = kernel(*args, self._stop)
        self._require_whole()
        return int(found or 0)

    def _run_team(self, kernel: Any, *args: Any, threads: int) -> None:
        run_team(kernel, *args, self._stop, threads=threads)  # the flag is set by the thread that waits for this one
        self._require_whole()

    def _require_whole(self) -> None:
        if self._stop[0]:  # the kernel's results are incomplete
            raise KeyboardInterrupt

    def move(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """See :class:`Steps`."""
        if is_large(level):
            return self._move_in_batches(level, scale, community, self._shuffled(level, seed))
        from dromos.engines.native import communities_move_kernels as kernels

        n, ids = level.size, level.targets.dtype
        count = self._run(
            kernels.move, *level, scale, np.uint64(seed), community, np.empty(n, ids), np.empty(2 * n),
            np.empty(n, ids), np.empty(n, np.uint8), np.empty(n), np.empty(n + 1, np.int64), np.empty(n + 1, ids),
        )  # fmt: skip
        return community, count

    def _move_in_batches(self, level: Level, scale: float, community: Array, order: Array) -> tuple[Array, int]:
        from dromos.engines.native import communities_batch_kernels as kernels
        from dromos.jit import LINE, team_memory

        n, ids, threads = level.size, level.targets.dtype, self._threads
        total = np.bincount(community, weights=level.strength, minlength=n)
        size = np.bincount(community, minlength=n)
        empty = np.flatnonzero(size == 0)
        free = np.zeros(n + 1, np.int64)
        free[: len(empty)], free[n] = empty, len(empty)
        order, hubs = hubs_before(level, order)
        places = np.empty(n, ids)
        places[order] = np.arange(n, dtype=ids)
        flags = np.zeros(n + 8, np.uint8)
        flags[:n] = 1
        batch = batch_of(level)
        most = batch + 1  # for a batch: its hubs and its others are rounded separately
        choices, olds, movers, left, joined = (np.empty(most, ids) for _ in range(5))
        edges, masses = np.empty(most), np.empty(most)
        self._run_team(
            kernels.move_in_batches, *level, scale, float(level.strength.sum()), community, total, size.astype(ids),
            order, places, hubs, np.full(hubs, -1), flags, np.empty(n, ids), batch, choices, edges, olds, masses,
            movers, left, joined, free, np.empty(threads * (2 * n + _APART)), np.empty(threads * (n + _APART), ids),
            np.zeros(kernels.CURSORS * LINE, np.int64), team_memory(threads), threads=threads,
        )  # fmt: skip
        return self.numbered(community)

    def refine(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """See :class:`Steps`."""
        n, ids, threads = level.size, level.targets.dtype, self._threads
        label, table = np.empty(2 * n, ids), np.empty(4 * n)
        if threads == 1 or not is_large(level):
            from dromos.engines.native import communities_refine_kernels as kernels

            part = np.empty(n, ids)
            count = self._run(
                kernels.refine, *level, scale, np.uint64(seed), community, np.empty(n, ids), np.empty(n), label, table,
                np.empty(n + 1, ids), part,
            )  # fmt: skip
            return part, count
        from dromos.engines.native import communities_team_kernels as team_kernels
        from dromos.jit import LINE, team_memory

        total = np.bincount(community, weights=level.strength, minlength=n)
        starts, order = self._by_group(community, int(community.max()) + 1, self._shuffled(level, seed))
        arcs = np.bincount(community, weights=np.diff(level.offsets))
        self._run_team(
            team_kernels.refine, *level, scale, community, total, order, starts, *_large_groups(arcs), label, table,
            np.empty(threads * (n + _APART), ids), np.zeros(team_kernels.CURSORS * LINE, np.int64),
            team_memory(threads), threads=threads,
        )  # fmt: skip
        return self.numbered(label[1::2].copy())

    def aggregate(self, level: Level, group: Array, groups: int) -> Level:
        """See :class:`Steps`."""
        arcs, ids = len(level.targets), level.targets.dtype
        targets, weights = np.empty(arcs, ids), np.empty(arcs, level.weights.dtype)
        if self._threads > 1 and is_large(level):
            return self._aggregate_on_team(level, group, groups, targets, weights)
        from dromos.engines.native import communities_aggregate_kernels as kernels

        offsets, strength = np.empty(groups + 1, np.int64), np.empty(groups)
        used = self._run(
            kernels.aggregate, *level, group, np.empty(groups + 1, np.int64), np.empty(level.size, ids), offsets,
            targets, weights, strength, *_sums(groups), np.empty(groups + 1, ids),
        )  # fmt: skip
        if used < arcs // 2:  # a copy releases memory; it is not worth the time if little is left over
            return Level.of(offsets, targets[:used].copy(), weights[:used].copy(), strength)
        return Level.of(offsets, targets[:used], weights[:used], strength)

    def _aggregate_on_team(self, level: Level, group: Array, groups: int, targets: Array, weights: Array) -> Level:
        """Aggregate into rows with room for all arcs of their vertices, then compact them."""
        from dromos.engines.cpu.copy_kernels import gather_rows
        from dromos.engines.native import communities_team_kernels as kernels
        from dromos.jit import LINE

        threads = self._threads
        starts, order = self._by_group(group, groups, np.arange(level.size, dtype=group.dtype))
        arcs = np.bincount(group, weights=np.diff(level.offsets), minlength=groups)
        bounds, ends = np.zeros(groups + 1, np.int64), np.empty(groups, np.int64)
        np.cumsum(arcs, out=bounds[1:])
        self._run_team(
            kernels.aggregate, level.offsets, level.targets, level.weights, group, starts, order, *_large_groups(arcs),
            bounds, ends, targets, weights, *_sums(threads * (groups + _APART)),
            np.empty(threads * (groups + _APART), group.dtype), np.zeros(kernels.CURSORS * LINE, np.int64),
            threads=threads,
        )  # fmt: skip
        offsets = np.zeros(groups + 1, np.int64)
        np.cumsum(ends - bounds[:-1], out=offsets[1:])
        rows, sums = np.empty(offsets[-1], targets.dtype), np.empty(offsets[-1], weights.dtype)
        for values, into in ((targets, rows), (weights, sums)):
            run_team(gather_rows, bounds[:-1], offsets, read_only(as_words(values)), as_words(into), threads=threads)
        return Level.of(offsets, rows, sums, np.bincount(group, weights=level.strength, minlength=groups))

    def rise(self, level: Level, scale: float, community: Array, seeds: Array) -> Rise:
        """See :class:`Steps`."""
        n, arcs, ids = level.size, len(level.targets), level.targets.dtype
        if not self._rises or len(level.weights) < arcs:  # no room for the arcs of the next level
            return Rise([], level, community, is_top=False)
        from dromos.engines.native import communities_rise_kernels as kernels

        rows = (np.empty(n + 1, np.int64), np.empty(arcs, ids), np.empty(arcs, level.weights.dtype), np.empty(n))
        given = tuple(array.copy() for array in level)
        parts, ends = np.empty(4 * n, ids), np.empty(len(seeds) // 2, np.int64)
        found = np.zeros(kernels.ENTRIES, np.int64)
        community = community.copy()
        self._run(
            kernels.rise, *given, scale, seeds, community, np.empty(n, ids), np.empty(4 * n + 1, ids),
            np.empty(n + 1, np.int64), *_sums(5 * n), np.empty(n, np.uint8), *rows, parts, ends, found,
        )  # fmt: skip
        size, arcs, levels, is_top = found.tolist()
        offsets, targets, weights, strength = given
        top = Level.of(offsets[: size + 1], targets[:arcs], weights[:arcs], strength[:size])
        bounds = [0, *ends[:levels].tolist()]
        return Rise([parts[a:b] for a, b in pairwise(bounds)], top, community[:size], bool(is_top))

    def within(self, level: Level, group: Array) -> float:
        """The weight of the arcs within groups, including self-loops."""
        from dromos.engines.native import communities_aggregate_kernels as kernels

        found = np.zeros(-(-level.size // BLOCK))
        given = (level.offsets, level.targets, level.weights, group, found, np.zeros(1, np.int64))
        if is_large(level):
            self._run_team(kernels.within, *given, threads=self._threads)
        else:  # so that a first call on a small graph loads nothing for teams
            self._run(kernels.within, 0, 1, *given)
        return float(found.sum())

    def pieces(self, level: Level, community: Array) -> Array:
        """See :class:`Steps`."""
        return pieces(level, community)

    def numbered(self, group: Array) -> tuple[Array, int]:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_group_kernels

        kernels: Any = communities_group_kernels
        found = np.empty_like(group)
        count = kernels.number(group, np.empty(int(group.max(initial=-1)) + 1, group.dtype), found)
        return found, int(count)

    def cut(self, fine: Array, coarse: Array) -> Array:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_group_kernels

        kernels: Any = communities_group_kernels
        groups, found = int(coarse.max()) + 1, np.empty_like(coarse)
        kernels.cut(
            fine, coarse, np.empty(int(fine.max()) + 2, np.int64), np.empty_like(coarse), np.empty(groups, fine.dtype),
            np.empty(groups, coarse.dtype), found,
        )  # fmt: skip
        return found

    def _by_group(self, group: Array, count: int, order: Array) -> tuple[Array, Array]:
        """Where groups begin, and the vertices of an order by group."""
        from dromos.engines.native import communities_group_kernels

        kernels: Any = communities_group_kernels
        starts, found = np.zeros(count + 1, np.int64), np.empty(len(group), group.dtype)
        np.cumsum(np.bincount(group, minlength=count), out=starts[1:])
        kernels.sort_by_group(order, group, starts.copy(), found)
        return starts, found

    def _shuffled(self, level: Level, seed: int) -> Array:
        """A random order of a level's vertices; the last one is cached, for moving and refining with the same seed."""
        if self._drawn is None or self._drawn[:2] != (seed, level.size):
            from dromos.engines.native import communities_group_kernels

            kernels: Any = communities_group_kernels
            order = np.empty(level.size, level.targets.dtype)
            kernels.shuffle(order, np.uint64(seed))
            self._drawn = seed, level.size, order
        return self._drawn[2]


def _sums(size: int) -> tuple[Array, Array]:
    """Sums of weights, and a view of them as integers."""
    sums = np.zeros(size)
    return sums, sums.view(np.int64)


def _large_groups(arcs: Array) -> tuple[Array, Array]:
    """Which groups are large, as flags and as a list."""
    large = arcs * _LARGE_GROUP > arcs.sum()
    return large.view(np.uint8), np.flatnonzero(large)
