"""Parts of a graph that share its arrays: contiguous slices, and subsets of vertices chosen by degree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["GraphSlice", "VertexSubset", "degree_subset", "equal_edge_bounds", "row_ranges", "slice_of", "slices"]


@dataclass(frozen=True, eq=False)
class GraphSlice:
    """The rows of the vertices ``start..stop``: what a kernel is given, whether they lie in memory, a page or a rank.

    ``offsets`` are those of the whole graph, so the row of vertex ``start + i`` is
    ``targets[offsets[i] - offsets[0] : offsets[i + 1] - offsets[0]]``. All arrays are views.
    """

    start: int
    stop: int
    offsets: Array
    targets: Array
    weights: Array | None
    lacks_arcs: bool = False
    """Whether any row may lack arcs, which are elsewhere; else the first and the last one alone."""

    @property
    def num_vertices(self) -> int:
        """How many rows the slice holds."""
        return self.stop - self.start

    @property
    def num_arcs(self) -> int:
        """How many arcs the rows of the slice hold."""
        return len(self.targets)

    @property
    def weighted(self) -> bool:
        """Whether the arcs have weights."""
        return self.weights is not None

    @property
    def sources(self) -> Array:
        """The source of every arc.

        >>> GraphSlice(4, 6, np.array([9, 10, 12]), np.array([1, 2, 3]), None).sources.tolist()
        [4, 5, 5]
        """
        return np.repeat(np.arange(self.start, self.stop), np.diff(self.offsets))

    def arc_blocks(self, size: int, ids: np.dtype[np.generic]) -> Iterator[tuple[Array, Array]]:
        """Sources (as numbers of the type ``ids``) and targets of the arcs, ``size`` at a time.

        >>> piece = GraphSlice(4, 6, np.array([9, 10, 12]), np.array([1, 2, 3]), None)
        >>> [[ends.tolist() for ends in block] for block in piece.arc_blocks(2, np.dtype(np.int32))]
        [[[4, 5], [1, 2]], [[5], [3]]]
        """
        start, stop = int(self.offsets[0]), int(self.offsets[-1])
        for begin in range(start, stop, size):
            end = min(begin + size, stop)
            first = int(np.searchsorted(self.offsets, begin, side="right")) - 1
            last = int(np.searchsorted(self.offsets, end))
            own = np.clip(self.offsets[first : last + 1], begin, end)
            sources = np.repeat(np.arange(self.start + first, self.start + last, dtype=ids), np.diff(own))
            yield sources, self.targets[begin - start : end - start]

    def row(self, vertex: int) -> Array:
        """The targets of ``vertex`` (its id in the whole graph)."""
        if not self.start <= vertex < self.stop:
            raise InvalidArgumentError(f"vertex {vertex} is not in the slice {self.start}..{self.stop}")
        at = vertex - self.start
        base = self.offsets[0]
        return self.targets[self.offsets[at] - base : self.offsets[at + 1] - base]


@dataclass(frozen=True, eq=False)
class VertexSubset:
    """Chosen vertices of a graph; their rows stay where they are."""

    vertices: Array
    offsets: Array
    targets: Array
    weights: Array | None

    @property
    def num_vertices(self) -> int:
        """How many vertices were chosen."""
        return len(self.vertices)

    @property
    def num_arcs(self) -> int:
        """How many arcs start at the chosen vertices."""
        return int((self.offsets[self.vertices + 1] - self.offsets[self.vertices]).sum())

    def rows(self) -> Iterator[tuple[int, Array]]:
        """Each chosen vertex with a view of its targets."""
        for vertex in self.vertices.tolist():
            yield vertex, self.targets[self.offsets[vertex] : self.offsets[vertex + 1]]


def equal_edge_bounds(offsets: Array, count: int) -> Array:
    """Bounds of ``count`` contiguous vertex ranges with about the same number of arcs in each.

    >>> equal_edge_bounds(np.array([0, 4, 5, 6, 7, 8]), 2).tolist()
    [0, 1, 5]
    """
    if count < 1:
        raise InvalidArgumentError(f"a graph is cut into 1 slice or more, not {count}")
    first, arcs = int(offsets[0]), int(offsets[-1]) - int(offsets[0])
    cuts = first + (arcs * np.arange(1, count, dtype=np.int64)) // count
    if arcs == 0:
        return np.linspace(0, len(offsets) - 1, count + 1).astype(np.int64)
    bounds = np.empty(count + 1, dtype=np.int64)
    bounds[0], bounds[-1] = 0, len(offsets) - 1
    bounds[1:-1] = np.searchsorted(offsets, cuts)
    return bounds


def row_ranges(offsets: Array, arcs: int, rows: int) -> Iterator[tuple[int, int]]:
    """Ranges of at most so many rows and arcs each (a row that is longer stands alone).

    >>> list(row_ranges(np.array([0, 2, 3, 4]), 2, 9))
    [(0, 1), (1, 3)]
    """
    first, count = 0, len(offsets) - 1
    while first < count:
        reach = int(np.searchsorted(offsets, offsets[first] + arcs, side="right")) - 1
        last = min(max(first + 1, reach), first + rows, count)
        yield first, last
        first = last


def slices(graph: Graph, count: int) -> list[GraphSlice]:
    """Cut the graph into ``count`` contiguous ranges of vertices with about equally many arcs, as views.

    >>> from dromos import Graph
    >>> [s.num_arcs for s in Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 0]).slices(2)]
    [2, 2]
    """
    bounds = equal_edge_bounds(graph.offsets, count).tolist()
    return [graph.slice(start, stop) for start, stop in pairwise(bounds)]


def slice_of(graph: Graph, start: int, stop: int) -> GraphSlice:
    """The rows of the vertices ``start..stop``, as views."""
    if not 0 <= start <= stop <= graph.num_vertices:
        raise InvalidArgumentError(f"{start}..{stop} is not a range of vertices within 0..{graph.num_vertices}")
    begin, end = graph.offsets[start], graph.offsets[stop]
    weights = None if graph.weights is None else graph.weights[begin:end]
    return GraphSlice(start, stop, graph.offsets[start : stop + 1], graph.targets[begin:end], weights)


def degree_subset(graph: Graph, low: int = 0, high: int | None = None) -> VertexSubset:
    """The vertices whose out-degree is at least ``low`` and below ``high``; their rows are not copied.

    >>> from dromos import Graph
    >>> Graph.from_edges([0, 0, 1], [1, 2, 2]).degree_subset(1).vertices.tolist()
    [0, 1]
    """
    chosen = graph.out_degree >= low
    if high is not None:
        chosen &= graph.out_degree < high
    return VertexSubset(np.flatnonzero(chosen), graph.offsets, graph.targets, graph.weights)
