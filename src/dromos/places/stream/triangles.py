"""Triangles of a simple graph on disk, in passes over its pages, with as many rows in memory as the budget allows.

Vertices are ranked by descending degree, and a row has only members of lower rank, as in memory
(``dromos.engines.native.triangles_oriented_kernels``). The first pass counts these members and keeps the rows of hubs
as bits. Then rows of consecutive ranks are held, as many as there is room for, and a pass goes over all rows: each is
intersected with those of its members that are held. Triangles whose lower corners are hubs need no held rows. If all
rows can be held, there are three passes over the pages, otherwise one and two for each range of ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isqrt
from typing import Any, Final, TypeAlias

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array, read_only
from dromos.engines.cpu.memory import huge_zeros
from dromos.parallel import num_threads, run_team
from dromos.places.stream.degrees import longest_row
from dromos.places.stream.feed import PageFeed
from dromos.places.stream.whole_rows import whole_rows

__all__ = ["TriangleRoom", "triangle_room", "triangles"]

_VERTEX_BYTES: Final = 26  # beside two ids
_HUBS: Final = 8192
_HUB_SHARE: Final = 8  # of what is left beside the vertices, as a divisor, for the rows of hubs as bits
_SMALL: Final = 1 << 15
_WORD: Final = 64
_BLOCK: Final = 1 << 18  # vertices whose pages are looked up together

Step: TypeAlias = tuple[int, int, str, float, int, tuple[tuple[str, float], ...]]


@dataclass(frozen=True)
class TriangleRoom:
    """How the memory of :func:`triangles` is divided."""

    hubs: int
    held: int
    """The members of rows that are held at once."""
    most_lower: int
    """More than the most members of lower rank that a row has."""
    threads: int
    bytes: int
    """All of it."""


def triangle_room(memory: int, offsets: Array, id_bytes: int, threads: int | None) -> TriangleRoom:
    """The room for a graph with these row offsets, within ``memory`` bytes if they are enough.

    >>> room = triangle_room(1 << 20, np.arange(0, 101, 2), 4, 2)
    >>> room.hubs, room.held
    (64, 50)
    """
    n, arcs, team = len(offsets) - 1, int(offsets[-1]), num_threads(threads)
    most_lower = isqrt(arcs) + 2  # each has at least as many neighbors as the row is long
    fixed = n * (_VERTEX_BYTES + 2 * id_bytes) + (8 + 2 * id_bytes) * longest_row(offsets)
    fixed += team * ((n >> 3) + 8 + id_bytes * most_lower)
    rest = max(memory - fixed, 0)
    hubs = max(min(_HUBS, n + _WORD - 1, isqrt(rest // _HUB_SHARE * 8)) & -_WORD, _WORD)
    fixed += hubs * hubs // 8 + team * 8 * hubs
    held = max(min(arcs // 2, (memory - fixed) // id_bytes), most_lower)
    return TriangleRoom(hubs, held, most_lower, team, fixed + held * id_bytes)


def triangles(
    feed: PageFeed,
    offsets: Array,
    dtype: np.dtype[np.generic],
    room: TriangleRoom,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Triangles through each vertex, their number, and the steps of the trace."""
    counting = _Counting(feed, offsets, dtype, room)
    counting.look_over()
    for number, (low, begins) in enumerate(counting.ranges()):
        counting.count(low, begins, with_hubs=number == 0)
        if progress is not None:
            progress(min(low + len(begins) - 1, len(offsets) - 1), len(offsets) - 1)
    counts, total, steps = *counting.finish(), counting.steps
    return {"triangles": counts, "total": total, "steps": steps}


class _Counting:
    """Ranks, the rows of hubs, and the counts so far."""

    def __init__(self, feed: PageFeed, offsets: Array, dtype: np.dtype[np.generic], room: TriangleRoom) -> None:
        from dromos.engines.native.triangles_oriented_kernels import rank_by_degree

        self._feed, self._offsets, self._n, self._room = feed, offsets, len(offsets) - 1, room
        n, hubs, team = self._n, room.hubs, room.threads
        self._rank = huge_zeros(n, dtype)
        rank_by_degree(  # type: ignore[no-untyped-call]
            offsets, np.zeros(longest_row(offsets) + 2, np.int64), self._rank, np.empty(n, dtype)
        )
        self._lower = huge_zeros(n, np.int32)
        self._hub_rows = huge_zeros(hubs * (hubs >> 6), np.uint64)
        self._bits = huge_zeros(team * ((n + _WORD - 1) >> 6), np.uint64)
        self._lists = np.empty(team * room.most_lower, dtype)
        self._credit, self._by_rank = huge_zeros(team * hubs, np.int64), huge_zeros(n, np.int64)
        self._totals: Array | None = None
        self.steps: list[Step] = []

    def look_over(self) -> None:
        """Count the members of lower rank of all rows, and fill the rows of hubs."""
        from dromos.places.stream import triangle_kernels as kernels

        with self._step("rows are ranked, those of hubs become bits"):
            self._go_over(None, kernels.look_over, self._lower, self._hub_rows, np.int64(self._room.hubs))

    def ranges(self) -> Iterator[tuple[int, Array]]:
        """Yield the first rank of each range that is held at once, and where its rows begin and end; at least one."""
        low = min(self._room.hubs, self._n)
        while True:
            begins = np.zeros(self._n - low + 1, np.int64)
            np.cumsum(self._lower[low:], out=begins[1:])
            size = max(int(np.searchsorted(begins, self._room.held, side="right")) - 1, min(1, self._n - low))
            begins = begins[: size + 1].copy() if 2 * size < len(begins) else begins[: size + 1]
            yield low, begins
            low += size
            if low == self._n:
                return

    def count(self, low: int, begins: Array, *, with_hubs: bool) -> None:
        """Hold the rows of some ranks, and go over all rows that may have members among them."""
        from dromos.jit import LINE
        from dromos.places.stream import triangle_kernels as kernels

        if self._totals is None:
            self._totals = np.zeros(self._room.threads * LINE, np.int64)
        held = huge_zeros(int(begins[-1]), self._rank.dtype)
        high = low + len(begins) - 1
        if len(held):
            of_range = (self._rank >= low) & (self._rank < high)
            with self._step("rows of lower ranks are held", high - low):
                self._go_over(of_range, kernels.hold, read_only(begins), held, np.int64(low))
        with self._step("rows are intersected with those that are held"):
            self._go_over(
                None if with_hubs else self._rank > low, kernels.count, read_only(begins), read_only(held),
                np.int64(low), with_hubs, self._hub_rows, np.int64(self._room.hubs), self._bits, self._lists,
                self._credit, self._by_rank, self._totals,
            )  # fmt: skip

    def finish(self) -> tuple[Array, int]:
        """The triangles through each vertex, and the number of all."""
        hubs = self._credit.reshape(self._room.threads, -1).sum(axis=0)[: self._n]
        self._by_rank[: len(hubs)] += hubs
        return self._by_rank[self._rank], 0 if self._totals is None else int(self._totals.sum())

    def _go_over(self, wanted: Array | None, kernel: Any, *args: Any) -> None:
        """Run a kernel on the rows of some vertices (a mask), or of all; others may come along."""
        pages = self._feed.holding(None, "push") if wanted is None else self._pages_of(wanted)
        for piece, first, last in whole_rows(self._feed.fetch(pages, "push"), self._offsets):
            small = piece.num_arcs < _SMALL
            cursor, stop = np.zeros(1, np.int64), np.zeros(1, np.int64)
            run_team(
                kernel, np.int64(piece.start), read_only(piece.offsets), read_only(piece.targets), np.int64(first),
                np.int64(last), read_only(self._rank), *args, cursor, stop,
                threads=1 if small else self._room.threads, stop=None if small else stop,
            )  # fmt: skip

    def _pages_of(self, wanted: Array) -> Array:
        blocks = (first + np.flatnonzero(wanted[first : first + _BLOCK]) for first in range(0, self._n, _BLOCK))
        return np.unique(np.concatenate([self._feed.holding(block, "push") for block in blocks]))

    @contextmanager
    def _step(self, said: str, rows: int | None = None) -> Iterator[None]:
        clock, before, parts = Stopwatch(), self._feed.pager.bytes_read, self._feed.seconds_by_part()
        yield
        seconds = clock.seconds()
        told = self._feed.seconds_by_part(parts).told(seconds)
        size = self._n if rows is None else rows
        self.steps.append((1, size, said, seconds, self._feed.pager.bytes_read - before, told))
