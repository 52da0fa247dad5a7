"""Where the slices of a part come from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike
from dromos.graph.partly_held import AbsentSlice, PartlyHeldGraph, arrays_within
from dromos.graph.slices import GraphSlice
from dromos.plan.path import Direction

__all__ = ["Feed", "MemoryFeed", "holding"]


class Feed(Protocol):
    """The slices of one part: out-rows of its vertices for a push, in-rows for a pull."""

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions it has slices for; a store without the transpose has no in-rows."""

    @property
    def in_memory(self) -> bool:
        """Whether fetching a slice costs nothing."""

    def holding(self, vertices: Array | None, direction: Direction) -> Array:
        """The numbers of the slices with rows of any of ``vertices`` (ascending ids; None: of all), ascending."""

    def fetch(self, numbers: Array, direction: Direction) -> Iterator[GraphSlice]:
        """Yield those slices, in any order; reading the next ones may overlap with processing one."""


def holding(first: Array, last: Array, vertices: Array | None) -> Array:
    """Which of the slices ``first[i]..last[i]`` (both ascending, and both in it) hold any of ``vertices``.

    >>> holding(np.array([0, 2, 2, 3]), np.array([1, 2, 2, 5]), np.array([2, 4])).tolist()
    [1, 2, 3]
    """
    if vertices is None:
        return np.arange(len(first))
    if len(vertices) < len(first):  # search from the smaller side
        begin = np.searchsorted(last, vertices, side="left")
        end = np.searchsorted(first, vertices, side="right")
        change = np.zeros(len(first) + 1, dtype=np.int64)
        np.add.at(change, begin, 1)
        np.subtract.at(change, end, 1)
        return np.flatnonzero(np.cumsum(change[:-1]))
    return np.flatnonzero(np.searchsorted(vertices, first, "left") < np.searchsorted(vertices, last, "right"))


class MemoryFeed:
    """The rows ``first..last`` of a graph in memory, cut into ``count`` slices of equal numbers of arcs.

    The cuts do not respect rows, so a slice may begin or end within one, as the large pages of a store do.

    >>> from dromos.graph import Graph
    >>> feed = MemoryFeed(Graph.from_edges([0, 0, 0, 2], [1, 2, 3, 0]), 0, 4, 2)
    >>> [(piece.start, piece.stop, piece.targets.tolist()) for piece in feed.fetch(feed.holding(None, "push"), "push")]
    [(0, 1, [1, 2]), (0, 3, [3, 0])]
    """

    directions: tuple[Direction, ...] = ("push", "pull")
    in_memory = True

    def __init__(self, graph: GraphLike, first: int, last: int, count: int) -> None:
        self._graph, self._first, self._last, self._count = graph, first, last, count
        self._cuts: dict[Direction, _Cuts] = {}

    @property
    def rows_serve_both(self) -> bool:
        """Whether the rows of a pull are those of a push."""
        # a directed graph would have to be sorted to find out
        return not getattr(self._graph, "directed", True) and self._graph.transpose is self._graph

    def holding(self, vertices: Array | None, direction: Direction) -> Array:
        """See :class:`Feed`."""
        cuts = self._cut(direction)
        return holding(cuts.first, cuts.last, vertices)

    def fetch(self, numbers: Array, direction: Direction) -> Iterator[GraphSlice]:
        """See :class:`Feed`."""
        cuts = self._cut(direction)
        for number in numbers.tolist():
            yield cuts.slice(number)

    def _cut(self, direction: Direction) -> _Cuts:
        if direction not in self._cuts:
            rows = self._graph if direction == "push" else self._graph.transpose
            self._cuts[direction] = _Cuts(rows, self._first, self._last, self._count)
        return self._cuts[direction]


class _Cuts:
    """The slices of some rows of a graph in one direction: those that have arcs."""

    def __init__(self, graph: GraphLike, first: int, last: int, count: int) -> None:
        self._graph = graph
        begin, end = int(graph.offsets[first]), int(graph.offsets[last])
        cuts = np.unique(begin + (end - begin) * np.arange(count + 1, dtype=np.int64) // count)
        self._begin, self._end = cuts[:-1], cuts[1:]
        rows = graph.offsets[: last + 1]
        self.first = np.searchsorted(rows, self._begin, side="right") - 1
        self.last = np.searchsorted(rows, self._end, side="left") - 1

    def slice(self, number: int) -> GraphSlice:
        begin, end = int(self._begin[number]), int(self._end[number])
        first, last = int(self.first[number]), int(self.last[number])
        graph = self._graph
        offsets = graph.offsets[first : last + 2]
        if offsets[0] != begin or offsets[-1] != end:  # it begins or ends within a row
            offsets = np.clip(offsets, begin, end)
        elif isinstance(graph, PartlyHeldGraph) and not graph.holds(first, last + 1):
            return AbsentSlice(graph, first, last + 1, offsets)
        targets, weights = arrays_within(graph, first, last + 1)
        weights = None if weights is None else weights[begin:end]
        return GraphSlice(first, last + 1, offsets, targets[begin:end], weights)
