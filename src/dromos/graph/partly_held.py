"""A renumbered graph of which the host holds only some arcs: a device has the others; the host makes them on demand."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np

from dromos.dtypes import Array, as_words, read_only
from dromos.graph.build import CsrArrays, team_size
from dromos.graph.graph import Graph
from dromos.graph.permute import permuted_rows
from dromos.graph.records import Flags
from dromos.graph.slices import GraphSlice
from dromos.parallel import run_team

__all__ = ["AbsentSlice", "PartlyHeldGraph", "arrays_within"]

_NO_WORDS: Final = np.empty(0, np.uint8)


class PartlyHeldGraph(Graph):
    """Vertex ``i`` is the vertex ``old_ids[i]`` of ``given``; arrays have room for all arcs, and some are filled.

    Accessing :attr:`targets` or :attr:`weights` first fills in the others, from the given rows.
    """

    __slots__ = ("_arrays", "_given", "_is_held", "_lock", "_new_ids", "_old_ids", "_ranges")

    _arrays: tuple[Array, Array | None]
    _given: CsrArrays
    _is_held: Array
    _lock: Any
    _new_ids: Array
    _old_ids: Array
    _ranges: list[tuple[int, int]]

    @classmethod
    def of(
        cls,
        given: CsrArrays,
        names: tuple[Array, Array],
        rows: CsrArrays,
        ranges: Sequence[tuple[int, int]],
        flags: Flags,
    ) -> PartlyHeldGraph:
        """The graph of ``rows``, in which the rows of the vertices in ``ranges`` are filled.

        ``given``: all rows under the old ids. This graph keeps the rows, but not their graph object, which may itself
        keep this one. ``names``: the old id of each vertex, and the inverse.
        """
        graph = cls._make(rows.offsets, rows.targets.view(), _view(rows.weights), flags=flags, check=_nothing)
        assert isinstance(graph, PartlyHeldGraph)
        graph._given, graph._arrays, graph._ranges = given, (rows.targets, rows.weights), list(ranges)
        graph._old_ids, graph._new_ids = names
        graph._lock = threading.Lock()
        graph._is_held = np.zeros(graph.num_vertices, np.bool_)
        for first, last in ranges:
            graph._is_held[first:last] = True
        return graph

    @property
    def offsets(self) -> Array:
        """The row offsets; available for all rows."""
        return self._offsets

    @property
    def is_whole(self) -> bool:
        """Whether all arcs are held."""
        return self._check is None

    def holds(self, first: int, last: int) -> bool:
        """Whether the rows ``first..last`` were filled from the beginning, or all rows have been made since."""
        if self.is_whole or self._offsets[first] == self._offsets[last]:
            return True
        return any(begin <= first and last <= end for begin, end in self._ranges)

    def hold(self, vertices: Array) -> GraphSlice:
        """All rows, with those of ``vertices`` filled; in any order within a row, unless the whole graph is held."""
        from dromos.graph.gather_kernels import rename_rows

        targets, weights = self._arrays
        with self._lock:
            missing = vertices[~self._is_held[vertices]]
            if len(missing) and not self.is_whole:
                arcs = int((self._offsets[missing + 1] - self._offsets[missing]).sum())
                words = [_words(self._given.weights), _words(weights)]
                run_team(
                    rename_rows, read_only(missing), read_only(self._old_ids), read_only(self._new_ids),
                    read_only(self._given.offsets), self._offsets, read_only(self._given.targets), targets,
                    read_only(words[0]), words[1], threads=team_size(arcs),
                )  # fmt: skip
                self._is_held[missing] = True
            return GraphSlice(0, self.num_vertices, self._offsets, self._targets, self._weights)

    def arrays_within(self, first: int, last: int) -> tuple[Array, Array | None]:
        """Targets and weights of all arcs, valid for the rows ``first..last``."""
        if not self.holds(first, last):
            self._run_check()
        return self._targets, self._weights

    def _run_check(self) -> None:
        with self._lock:
            if self._check is None:
                return
            offsets, targets, weights = self._given
            given = Graph._make(offsets, targets, weights, flags=Flags())
            made = permuted_rows(given, self._old_ids, self._new_ids)
            # new arrays, since another thread may be reading rows of the old ones, in another order
            self._targets = read_only(made.targets)
            self._weights = None if made.weights is None else read_only(made.weights)
            self._check = None

    def _row_is_right(self, vertex: int) -> bool:
        return self.is_whole

    def __reduce__(self) -> tuple[Any, ...]:
        self._run_check()
        return super().__reduce__()


class AbsentSlice(GraphSlice):
    """Rows of a graph that the host does not hold; they are made on first access."""

    def __init__(self, graph: PartlyHeldGraph, start: int, stop: int, offsets: Array) -> None:
        for name, value in (("start", start), ("stop", stop), ("offsets", offsets), ("_graph", graph)):
            object.__setattr__(self, name, value)

    @property
    def targets(self) -> Array:
        """The targets; makes them on first access."""
        return self._graph.targets[self._arcs]  # type: ignore[attr-defined, no-any-return]

    @property
    def weights(self) -> Array | None:
        """The weights; makes them on first access."""
        weights = self._graph.weights  # type: ignore[attr-defined]
        return None if weights is None else weights[self._arcs]

    @property
    def weighted(self) -> bool:
        """Whether the arcs have weights; makes nothing."""
        return self._graph._weights is not None  # type: ignore[attr-defined]

    @property
    def num_arcs(self) -> int:
        """The number of arcs; makes nothing."""
        return int(self.offsets[-1]) - int(self.offsets[0])

    @property
    def _arcs(self) -> slice:
        return slice(int(self.offsets[0]), int(self.offsets[-1]))


class _HasArcs(Protocol):
    @property
    def targets(self) -> Array: ...
    @property
    def weights(self) -> Array | None: ...


def arrays_within(graph: _HasArcs, first: int, last: int) -> tuple[Array, Array | None]:
    """Targets and weights of all arcs, valid for the rows ``first..last``.

    >>> import dromos as dr
    >>> arrays_within(dr.generators.path(3), 0, 1)[0].tolist()
    [1, 0, 2, 1]
    """
    if isinstance(graph, PartlyHeldGraph):
        return graph.arrays_within(first, last)
    return graph.targets, graph.weights


def _nothing() -> None:
    """Placeholder for pending work, which :meth:`PartlyHeldGraph._run_check` does."""


def _view(values: Array | None) -> Array | None:
    return None if values is None else values.view()


def _words(values: Array | None) -> Array:
    return _NO_WORDS if values is None else as_words(values)
