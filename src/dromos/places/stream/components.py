"""Weakly connected components of a graph on disk: one pass over its pages, and one forest in memory.

Trees are joined along the rows of each window of pages, as Afforest does in one memory. Every page is read once
(twice if a round begins within it). In a symmetric graph, a row whose vertex is in the largest tree can be skipped:
each of its arcs is seen from its other end, or both ends are in that tree. So vertices are processed in two rounds:
first those of a sixteenth of the arcs, then, of the others, only pages that hold rows of vertices outside that tree.
More rounds, each with as many arcs as all before it, read as many bytes on R-MAT and uniform graphs, and wait for each
other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array, read_only
from dromos.graph.slices import GraphSlice
from dromos.parallel import num_threads, run_team
from dromos.places.stream.feed import PageFeed

__all__ = ["BYTES_PER_VERTEX", "components"]

BYTES_PER_VERTEX: Final = 24
"""The forest with ids of 8 bytes, and a list of vertices while pages are chosen."""
_FIRST_ROUND: Final = 16  # the share of the arcs, as a divisor
_SMALL: Final = 1 << 15
_SAMPLES: Final = 1024
_NOBODY: Final = -1

Step: TypeAlias = tuple[int, int, str, float, int, tuple[tuple[str, float], ...]]


def components(
    feed: PageFeed, offsets: Array, dtype: np.dtype[np.generic], *, symmetric: bool, threads: int | None
) -> tuple[Array, list[Step]]:
    """The least id of each vertex's component, and the steps: rounds, vertices, why, seconds, bytes read, parts."""
    n = len(offsets) - 1
    parent = np.arange(n, dtype=dtype)
    giant, steps = _NOBODY, list[Step]()
    for first, last in _rounds(offsets) if symmetric else [(0, n)]:
        clock, before, parts = Stopwatch(), feed.pager.bytes_read, feed.seconds_by_part()
        wanted = np.ones(last - first, dtype=bool)
        if giant != _NOBODY:
            _flatten(parent, threads)
            giant = int(parent[giant])
            np.not_equal(parent[first:last], giant, out=wanted)
        rows = first + np.flatnonzero(wanted)
        for piece in feed.fetch(feed.holding(rows, "push"), "push"):
            _link(parent, piece, first, wanted, giant, threads)
            if symmetric and giant == _NOBODY:
                giant = _largest(parent, piece)
            elif giant != _NOBODY:
                giant = _root(parent, giant)
        said = "trees are joined along the rows on disk"
        seconds = clock.seconds()
        told = feed.seconds_by_part(parts).told(seconds)
        steps.append((1, len(rows), said, seconds, feed.pager.bytes_read - before, told))
    _flatten(parent, threads)
    return parent, steps


def _rounds(offsets: Array) -> Iterator[tuple[int, int]]:
    """Two ranges of vertices: a sixteenth of the arcs, or at least one vertex, and the rest."""
    n, limit = len(offsets) - 1, offsets.dtype.type(int(offsets[-1]) // _FIRST_ROUND)
    last = max(1, int(np.searchsorted(offsets, limit)))
    if n:
        yield 0, last
    if last < n:
        yield last, n


def _largest(parent: Array, piece: GraphSlice) -> int:
    """The root of the tree that most of the arcs of a slice lead to."""
    if not piece.num_arcs:
        return _NOBODY
    sample = piece.targets[:: max(1, piece.num_arcs // _SAMPLES)]
    roots = parent[sample]
    while not np.array_equal(above := parent[roots], roots):
        roots = above
    found, counts = np.unique(roots, return_counts=True)
    return int(found[np.argmax(counts)])


def _root(parent: Array, vertex: int) -> int:
    while int(parent[vertex]) != vertex:
        vertex = int(parent[vertex])
    return vertex


def _link(parent: Array, piece: GraphSlice, first: int, wanted: Array, giant: int, threads: int | None) -> None:
    from dromos.engines.native import components_kernels as kernels

    small = piece.num_arcs < _SMALL
    cursor, stop = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    run_team(
        kernels.link_arcs, np.int64(piece.start), read_only(piece.offsets), read_only(piece.targets), parent,
        np.int64(first), read_only(wanted.view(np.uint8)), np.int64(giant), cursor, stop,
        threads=1 if small else num_threads(threads), stop=None if small else stop,
    )  # fmt: skip


def _flatten(parent: Array, threads: int | None) -> None:
    from dromos.engines.native import components_kernels as kernels

    small = len(parent) < _SMALL
    cursor, stop = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    run_team(
        kernels.flatten, parent, cursor, stop, threads=1 if small else num_threads(threads),
        stop=None if small else stop,
    )  # fmt: skip
