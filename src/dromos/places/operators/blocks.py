"""Whole rows of ranges of vertices, gathered from slices that may begin and end within rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.errors import InvalidArgumentError
from dromos.graph.slices import GraphSlice
from dromos.places.feed import Feed
from dromos.plan.path import Direction

__all__ = ["Blocks", "Rows"]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of the vertices ``first..last``, in the order of the ids; targets of a row are unordered."""

    first: int
    last: int
    offsets: Array
    targets: Array
    weights: Array | None = None

    @cached_property
    def longest(self) -> int:
        """The number of arcs of the longest row."""
        return int(np.diff(self.offsets).max(initial=0))

    @property
    def sources(self) -> Array:
        """The source of every arc."""
        return np.repeat(np.arange(self.first, self.last), np.diff(self.offsets))


class Blocks:
    """A graph's rows in blocks of about ``size`` arcs, each of at least one vertex, from the feeds of its parts.

    >>> import dromos as dr
    >>> from dromos.places.feed import MemoryFeed
    >>> graph = dr.Graph.from_edges([0, 0, 0, 2], [1, 2, 3, 0])
    >>> blocks = Blocks(graph, [MemoryFeed(graph, 0, 4, 3)], graph.targets.dtype, size=3)
    >>> [(rows.first, rows.last, rows.targets.tolist()) for rows in blocks.rows()]
    [(0, 2, [1, 2, 3]), (2, 4, [0])]
    """

    def __init__(
        self,
        shape: GraphShape,
        feeds: Sequence[Feed],
        dtype: np.dtype[np.generic],
        *,
        size: int,
        held: int | None = None,
        threads: int | None = None,
        directions: tuple[Direction, ...] = ("push",),
        weighted: bool = False,
        why_not: str = "",
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """``held``: arcs that an operator may keep beside a block; ``weighted``: rows come with the weights of arcs, as
        64-bit numbers; ``why_not``: why a direction is missing; ``progress`` is told how many vertices or arcs a pass
        has come to, and how many there are."""
        missing = [way for way in directions if not all(way in feed.directions for feed in feeds)]
        if missing:
            raise InvalidArgumentError(f"this needs the in-edges, and {why_not or 'the graph does not have them'}")
        self.shape, self.feeds, self.dtype, self.threads = shape, feeds, dtype, threads
        self.size, self.held, self.directions = max(size, 1), max(size if held is None else held, 1), directions
        self.weighted, self._progress = weighted, progress
        self.process, self.processes = 0, 1
        self.degree: Array = np.zeros(shape.num_vertices, np.int64)
        """The number of arcs of each vertex, over all directions."""
        for way in directions:
            self.degree += shape.out_degree if way == "push" else shape.in_degree

    def bounds(self) -> list[tuple[int, int]]:
        """The ranges of vertices of all blocks."""
        return self.bounds_within(0, self.shape.num_vertices)

    def bounds_within(self, first: int, last: int) -> list[tuple[int, int]]:
        """The ranges of vertices of the blocks of ``first..last``."""
        ends, found, begin = np.cumsum(self.degree[first:last]), [], 0
        while begin < len(ends):
            before = int(ends[begin - 1]) if begin else 0
            end = max(int(np.searchsorted(ends, before + self.size, side="right")), begin + 1)
            found.append((first + begin, first + end))
            begin = end
        return found

    # ---- several processes share the work, each with its own blocks ------------------------------------------------

    def of_everybody(self, own: Iterable[Rows]) -> Iterator[Rows]:
        """The blocks that each process makes, in every process."""
        yield from own

    def share(self, values: Array, bounds: Sequence[int] | None = None) -> None:
        """Exchange the rows of ``values``: send those of the own vertices, and receive the others.

        ``bounds`` are by default those of the vertices: where each process's begin, and where the last end.
        """

    def ranges(self) -> list[int]:
        """Where the vertices of each process begin, and where the last end."""
        return [0, self.shape.num_vertices]

    def add_up(self, values: Array) -> None:
        """Replace ``values`` with the sum over all processes."""

    def collect(self, values: Array) -> Array:
        """The concatenated values of all processes."""
        return values

    def deal(self, values: Array, sizes: Sequence[int]) -> Array:
        """Send each process its ``sizes[p]`` of the values, which are in that order; return what this one receives."""
        return values

    def slices(self) -> Iterator[GraphSlice]:
        """All out-slices in the order of their arcs: for operators that need no whole rows."""
        done = 0
        for feed in self.feeds:
            for piece in feed.fetch(feed.holding(None, "push"), "push"):
                assert int(piece.offsets[0]) >= done, "feeds have no reason to bring later rows first"
                done = int(piece.offsets[-1])
                yield piece
                if self._progress is not None:
                    self._progress(done, self.shape.num_arcs)

    def rows(self) -> Iterator[Rows]:
        """Yield all blocks in order."""
        for first, last in self.bounds():
            yield self.gather(first, last)

    def gather(self, first: int, last: int) -> Rows:
        """The whole rows of the vertices ``first..last``; in a row one direction comes after the other."""
        offsets = np.concatenate([[0], np.cumsum(self.degree[first:last])])
        targets, filled = np.empty(int(offsets[-1]), self.dtype), offsets[:-1].copy()
        weights = np.empty(len(targets)) if self.weighted else None
        wanted = np.arange(first, last)
        for direction in self.directions:
            for feed in self.feeds:
                for piece in feed.fetch(feed.holding(wanted, direction), direction):
                    low, high = max(first, piece.start), min(last, piece.stop)
                    if low >= high:
                        continue
                    cuts = piece.offsets[low - piece.start : high - piece.start + 1].astype(np.int64)
                    inside = cuts - int(piece.offsets[0])
                    lengths, at = np.diff(cuts), filled[low - first : high - first]
                    spots = np.repeat(at - (cuts[:-1] - cuts[0]), lengths) + np.arange(cuts[-1] - cuts[0])
                    targets[spots] = piece.targets[inside[0] : inside[-1]]
                    if weights is not None and piece.weights is not None:
                        weights[spots] = piece.weights[inside[0] : inside[-1]]
                    at += lengths
        if self._progress is not None:
            self._progress(last, self.shape.num_vertices)
        return Rows(first, last, offsets, targets, weights)
