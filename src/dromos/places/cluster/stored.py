"""A rank's own rows of a graph on disk: read and checked once, kept with the graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dromos.dtypes import Array
from dromos.graph.slices import GraphSlice
from dromos.graph.store.stored import StoredGraph
from dromos.plan.path import Direction

__all__ = ["StoredFeed"]


class StoredFeed:
    """See :class:`dromos.places.feed.Feed`: the rows ``first..last`` of a store, one slice per direction.

    A rank reads only the pages that its rows lie in, so that no rank ever holds all arcs.
    """

    in_memory = False

    def __init__(self, graph: StoredGraph, first: int, last: int, *, weights: bool) -> None:
        self._graph, self._range, self._weights = graph, (first, last), weights
        self._prefixes: dict[Direction, str] = {"push": graph.out_prefix}
        if graph.in_prefix is not None:
            self._prefixes["pull"] = graph.in_prefix

    @property
    def directions(self) -> tuple[Direction, ...]:
        """See :class:`dromos.places.feed.Feed`."""
        return tuple(self._prefixes)

    def holding(self, vertices: Array | None, direction: Direction) -> Array:
        """See :class:`dromos.places.feed.Feed`."""
        offsets = self._graph.row_offsets(self._prefixes[direction])
        first, last = self._range
        empty = int(offsets[first]) == int(offsets[last]) or (vertices is not None and len(vertices) == 0)
        return np.arange(0 if empty else 1)

    def fetch(self, numbers: Array, direction: Direction) -> Iterator[GraphSlice]:
        """See :class:`dromos.places.feed.Feed`."""
        for _ in numbers:
            yield self._graph.rows_between(*self._range, self._prefixes[direction], weights=self._weights)
