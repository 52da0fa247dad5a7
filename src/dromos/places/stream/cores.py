"""Core numbers of a graph on disk: passes over the pages lower a bound of each vertex, until all bounds are right.

Peeling looks at the vertices in the order of their core numbers, which lie anywhere on the disk: hundreds of supersteps
that each read a few rows of most pages. Bounds can be lowered in any order. They begin with the degrees; a pass goes
over the pages that have a row whose bound may be too high, and uses the bounds that it has lowered already. On R-MAT
graphs it takes some 25 passes, of which only the first ones read all pages. Lü, Zhou, Zhang and Stanley, "The H-index
of a network node and its relation to degree and coreness", 2016; Wen, Qin, Zhang, Lin and Yu, "I/O efficient core graph
decomposition at web scale", 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Final, TypeAlias

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array, read_only
from dromos.engines.cpu.memory import huge_zeros
from dromos.graph.store.paged.slices import PagedSlice
from dromos.parallel import num_threads, run_team
from dromos.places.stream.degrees import degree_blocks, longest_row
from dromos.places.stream.feed import PageFeed
from dromos.places.stream.whole_rows import whole_rows

__all__ = ["core_bytes", "cores"]

_VERTEX_BYTES: Final = 24  # a bound, a count and a mark; a list of vertices while pages are chosen; the answer
_SMALL: Final = 1 << 15

Step: TypeAlias = tuple[int, int, str, float, int, tuple[tuple[str, float], ...]]


def core_bytes(offsets: Array, id_bytes: int, threads: int | None) -> int:
    """The bytes for :func:`cores`: per vertex, the numbers of each thread, and the pieces of the longest row."""
    most, longest = _most_bound(offsets), longest_row(offsets)
    return _VERTEX_BYTES * (len(offsets) - 1) + 4 * num_threads(threads) * (most + 1) + 2 * id_bytes * longest


def _most_bound(offsets: Array) -> int:
    """A bound of all core numbers: the greatest k such that more than k vertices have at least k neighbors.

    >>> _most_bound(np.array([0, 3, 5, 7, 8]))
    2
    """
    most = isqrt(int(offsets[-1]))  # a core with k + 1 vertices has k * (k + 1) arcs
    having = np.zeros(most + 1, np.int64)
    for _, degrees in degree_blocks(offsets):
        having += np.bincount(np.minimum(degrees, most), minlength=most + 1)
    at_least = np.cumsum(having[::-1])[::-1]
    return int(np.flatnonzero(at_least > np.arange(most + 1)).max(initial=0))


def cores(
    feed: PageFeed, offsets: Array, *, threads: int | None, progress: Callable[[int, int], None] | None = None
) -> tuple[Array, list[Step]]:
    """The core number of each vertex of an undirected simple graph, and the steps: passes, vertices, why, seconds,
    bytes read, parts."""
    search = _Search(feed, offsets, threads)
    steps = list[Step]()
    vertices = search.marked()
    while len(vertices):
        clock, before, parts = Stopwatch(), feed.pager.bytes_read, feed.seconds_by_part()
        size = len(vertices)
        pages = feed.holding(vertices, "push")
        del vertices  # as large as a field
        search.go_over(pages)
        vertices = search.marked()
        seconds = clock.seconds()
        told = feed.seconds_by_part(parts).told(seconds)
        said = "bounds are lowered along the rows on disk"
        steps.append((1, size, said, seconds, feed.pager.bytes_read - before, told))
        if progress is not None:
            progress(len(steps), 0)
    return search.bounds.astype(np.int64), steps


class _Search:
    """The bounds of all vertices, and which of them may be too high."""

    def __init__(self, feed: PageFeed, offsets: Array, threads: int | None) -> None:
        self._feed, self._offsets, self._threads = feed, offsets, num_threads(threads)
        n, most = len(offsets) - 1, _most_bound(offsets)
        self._state, self._marks = huge_zeros(2 * n, np.int32), huge_zeros(n, np.uint8)  # bounds and counts in turn
        for block, degrees in degree_blocks(offsets):
            self.bounds[block], self._marks[block] = np.minimum(degrees, most), degrees > 0
        self._numbers = np.zeros(self._threads * (most + 1), np.int32)

    @property
    def bounds(self) -> Array:
        """A view of the bounds."""
        return self._state[::2]

    def marked(self) -> Array:
        """The vertices whose bounds may be too high, ascending."""
        return np.flatnonzero(self._marks)

    def go_over(self, pages: Array) -> None:
        """Process the marked rows on these pages."""
        for piece, first, last in whole_rows(self._feed.fetch(pages, "push"), self._offsets):
            self._lower(piece, first, last)

    def _lower(self, piece: PagedSlice, first: int, last: int) -> None:
        from dromos.places.stream import core_kernels as kernels

        small = piece.num_arcs < _SMALL
        cursor, stop = np.zeros(1, np.int64), np.zeros(1, np.int64)
        run_team(
            kernels.lower_bounds, np.int64(piece.start), read_only(piece.offsets), read_only(piece.targets),
            np.int64(first), np.int64(last), read_only(piece.pages.view(np.uint8)), np.int64(piece.first_page),
            np.int64(piece.page_arcs.bit_length() - 1), self._state, self._marks, self._numbers, cursor, stop,
            threads=1 if small else self._threads, stop=None if small else stop,
        )  # fmt: skip
