"""Rows that a traversal will read again, kept in memory without the pages around them.

A pull over a whole graph settles most vertices. The others mostly have short rows, in nearly every page: the next pull
would read all pages again for a thousandth of their bytes. While such a pull has its pages in memory, the rows of
unsettled vertices are copied; if all of them fit, no later pull reads anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.memory import SparseMemory
from dromos.parallel import run_team

__all__ = ["RowShelf"]

_SMALL_COPY: Final = 1 << 16  # arcs that one thread copies
_SMALL_SPAN: Final = 1 << 15  # vertices whose offsets one thread makes
_SPAN: Final = 1 << 18  # vertices of a returned slice: its offsets are made on demand


class RowShelf:
    """The rows of all vertices that were unsettled after a pull, if they fit in ``capacity`` bytes.

    Only for programs whose vertices, once settled, never want a message again: then the vertices of any later pull are
    among those on the shelf.

    >>> shelf = RowShelf(1_000, np.dtype(np.uint32))
    >>> shelf.begin()
    >>> shelf.take(GraphSlice(0, 3, np.array([0, 2, 3, 5]), np.arange(5, dtype=np.int32), None), np.array([0, 2]))
    >>> shelf.end()
    >>> shelf.complete, [(piece.row(0).tolist(), piece.row(2).tolist()) for piece in shelf.slices()]
    (True, [([0, 1], [3, 4])])
    """

    def __init__(self, capacity: int, offset_dtype: np.dtype[Any]) -> None:
        self.capacity, self._offset_dtype = capacity, offset_dtype
        self.complete = False
        """Whether every vertex that is still unsettled has its row here."""
        self.too_small = capacity <= 0
        """Whether it ever lacked room for the rows of a pull."""
        self._open = False
        self._columns: list[_Column] = []
        """The vertices, the end of each row among all, the targets, and any weights."""

    def prepare(self, id_dtype: np.dtype[Any], columns: Sequence[Array]) -> None:
        """Compile the kernels for rows of ``columns``, before the budget is used up."""
        nobody, offsets = np.empty(0, id_dtype), np.zeros(1, self._offset_dtype)
        _, begins, starts = _rows_with_arcs(GraphSlice(0, 0, offsets, columns[0][:0], None), nobody)
        for column in columns:
            _copy_rows(column[:0], begins, starts, np.empty(0, column.dtype))
        _spread(np.zeros(1, id_dtype), offsets, 0, 1, self._offset_dtype)

    def begin(self) -> None:
        """Start a pull over the rows of all unsettled vertices."""
        self._columns.clear()
        self.complete, self._open = False, self.capacity > 0

    def take(self, piece: GraphSlice, vertices: Array) -> None:
        """Copy the rows of ``vertices`` (ascending), or the parts of them that the slice holds."""
        if not self._open or not len(vertices):
            return
        vertices, begins, starts = _rows_with_arcs(piece, vertices)
        if not len(vertices):
            return
        ends = starts[1:]
        arcs = [piece.targets] if piece.weights is None else [piece.targets, piece.weights]
        if not self._columns:
            dtypes = [vertices.dtype, self._offset_dtype, *(column.dtype for column in arcs)]
            self._columns = [_Column(self.capacity, dtype) for dtype in dtypes]
        ids, all_ends, *kept = self._columns
        size = ids.bytes_with(len(vertices)) + all_ends.bytes_with(len(ends))
        if size + sum(column.bytes_with(int(ends[-1])) for column in kept) > self.capacity:
            self._columns.clear()
            self._open, self.too_small = False, True
            return
        before = len(kept[0].values)
        for column, room in zip(arcs, kept, strict=True):
            _copy_rows(column, begins, starts, room.more(int(ends[-1])))
        ids.more(len(vertices))[:] = vertices
        all_ends.more(len(ends))[:] = ends + before

    def end(self) -> None:
        """End the pull."""
        self.complete, self._open = self._open or self.complete, False

    def slices(self) -> Iterator[GraphSlice]:
        """All rows; vertices between them that are not on the shelf have empty rows."""
        if not self._columns:
            return
        ids, ends, *columns = (column.values for column in self._columns)
        first = 0
        while first < len(ids):
            low = int(ids[first])
            bound = low + _SPAN  # of the type of the ids: a search for another type would convert all of them
            last = len(ids) if bound > int(ids[-1]) else int(np.searchsorted(ids, ids.dtype.type(bound)))
            high = int(ids[last - 1]) + 1
            begin, end = int(ends[first - 1]) if first else 0, int(ends[last - 1])
            own = [column[begin:end] for column in columns]
            offsets = _spread(ids[first:last], ends[first:last] - begin, low, high, self._offset_dtype)
            yield GraphSlice(low, high, offsets, own[0], own[1] if len(own) > 1 else None)
            first = last


class _Column:
    """A growing array whose memory is reserved up front and used as values come: joining them needs no second copy."""

    def __init__(self, capacity: int, dtype: np.dtype[Any]) -> None:
        memory = SparseMemory(capacity)
        self._values = memory.bytes[: capacity // dtype.itemsize * dtype.itemsize].view(dtype)
        self._count = 0

    @property
    def values(self) -> Array:
        """All values written so far."""
        return self._values[: self._count]

    def bytes_with(self, more: int) -> int:
        """The total bytes after ``more`` further values."""
        return (self._count + more) * self._values.itemsize

    def more(self, count: int) -> Array:
        """Room for ``count`` further values, to be written by the caller."""
        self._count += count
        return self._values[self._count - count : self._count]


def _spread(ids: Array, ends: Array, low: int, high: int, dtype: np.dtype[Any]) -> Array:
    """The offsets of ``low..high``, where row ``ids[i]`` ends at ``ends[i]`` and the rows between are empty.

    A row that was cut appears as two consecutive parts.
    """
    from dromos.places.stream import feed_kernels as kernels

    offsets = np.empty(high - low + 1, dtype=dtype)
    threads = 1 if high - low < _SMALL_SPAN else None
    run_team(kernels.spread_offsets, read_only(ids), read_only(ends), np.int64(low), offsets, threads=threads)
    return offsets


def _rows_with_arcs(piece: GraphSlice, vertices: Array) -> tuple[Array, Array, Array]:
    """Those of ``vertices`` whose rows have arcs, where the rows begin, and where they begin after packing."""
    from dromos.places.stream import feed_kernels as kernels

    ids, count = np.empty_like(vertices), np.zeros(1, dtype=np.int64)
    begins, starts = np.empty(len(vertices), dtype=np.int64), np.empty(len(vertices) + 1, dtype=np.int64)
    run_team(
        kernels.rows_with_arcs, read_only(vertices), np.int64(piece.start), read_only(piece.offsets), ids, begins,
        starts, count, threads=1,
    )  # fmt: skip
    rows = int(count[0])
    return ids[:rows], begins[:rows], starts[: rows + 1]


def _copy_rows(column: Array, begins: Array, starts: Array, found: Array) -> None:
    """Copy the arcs of all rows to ``found``, one row after the other; row i begins at ``begins[i]`` of ``column``."""
    from dromos.engines.cpu import copy_kernels as kernels

    threads = 1 if len(found) < _SMALL_COPY else None
    run_team(kernels.gather_rows, read_only(begins), read_only(starts), read_only(column), found, threads=threads)
