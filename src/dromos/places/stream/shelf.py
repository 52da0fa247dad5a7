"""Rows that a traversal will look at again, kept in memory without the pages around them.

A pull over a whole graph settles most vertices. Those that are left have short rows, mostly, in nearly every page: the
next pull would read all pages again for a thousandth of their bytes. While such a pull has its pages in memory, the
rows of who is still unsettled are copied; if all of them have room, no later pull reads anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph.slices import GraphSlice
from dromos.parallel import run_team

__all__ = ["RowShelf"]

_BLOCK_ARCS: Final = 1 << 16  # arcs that are gathered together: temporary arrays grow with this
_SMALL_SPAN: Final = 1 << 15  # vertices of which one thread makes the offsets
_SPAN: Final = 1 << 18  # vertices of a slice that is given back: its offsets are made when it is asked for


class RowShelf:
    """The rows of all vertices that were unsettled after a pull, if they fit ``capacity`` bytes.

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
        self._open = False
        self._used = 0
        self._parts: list[tuple[Array, Array, list[Array]]] = []

    def prepare(self, id_dtype: np.dtype[Any]) -> None:
        """Compile what :meth:`slices` needs, before the budget is used up."""
        _spread(np.zeros(1, id_dtype), np.zeros(1, np.int64), 0, 1, self._offset_dtype)

    def begin(self) -> None:
        """A pull over the rows of all unsettled vertices begins."""
        self._clear()
        self.complete, self._open = False, self.capacity > 0

    def take(self, piece: GraphSlice, vertices: Array) -> None:
        """Copy the rows of ``vertices`` (ascending), or the parts of them that the slice holds."""
        if not self._open or not len(vertices):
            return
        at = vertices - piece.start
        begin, lengths = piece.offsets[at].astype(np.int64), np.diff(piece.offsets)[at]
        some = np.flatnonzero(lengths)
        vertices, begin, lengths = vertices[some], begin[some] - int(piece.offsets[0]), lengths[some].astype(np.int64)
        columns = [piece.targets] if piece.weights is None else [piece.targets, piece.weights]
        width = sum(column.itemsize for column in columns)
        # ids, lengths and arcs; and once more, since they are joined at the end
        self._used += 2 * (len(vertices) * (vertices.itemsize + 8) + int(lengths.sum()) * width)
        if self._used > self.capacity:
            self._clear()
            self._open = False
            return
        self._parts.append((vertices, lengths, [_gathered(column, begin, lengths) for column in columns]))

    def end(self) -> None:
        """The pull is over."""
        if not self._open:
            return
        self._open, self.complete = False, True
        if len(self._parts) > 1:
            ids, lengths, columns = zip(*self._parts, strict=True)
            joined = [np.concatenate(column) for column in zip(*columns, strict=True)]
            self._parts = [(np.concatenate(ids), np.concatenate(lengths), joined)]
        for part in self._parts:
            np.cumsum(part[1], out=part[1])  # from now on not the lengths of rows, but where each ends

    def slices(self) -> Iterator[GraphSlice]:
        """All rows; a vertex between them that is not here has an empty one."""
        if not self._parts:
            return
        ((ids, ends, columns),) = self._parts
        first = 0
        while first < len(ids):
            low = int(ids[first])
            last = int(np.searchsorted(ids, low + _SPAN))
            high = int(ids[last - 1]) + 1
            begin, end = int(ends[first - 1]) if first else 0, int(ends[last - 1])
            own = [column[begin:end] for column in columns]
            offsets = _spread(ids[first:last], ends[first:last] - begin, low, high, self._offset_dtype)
            yield GraphSlice(low, high, offsets, own[0], own[1] if len(own) > 1 else None)
            first = last

    def _clear(self) -> None:
        self._used, self._parts = 0, []


def _spread(ids: Array, ends: Array, low: int, high: int, dtype: np.dtype[Any]) -> Array:
    """The offsets of ``low..high``, where row ``ids[i]`` ends at ``ends[i]`` and the rows between are empty.

    A row that was cut stands there in two parts, one after the other.
    """
    from dromos.places.stream import feed_kernels as kernels

    offsets = np.empty(high - low + 1, dtype=dtype)
    threads = 1 if high - low < _SMALL_SPAN else None
    run_team(kernels.spread_offsets, read_only(ids), read_only(ends), np.int64(low), offsets, threads=threads)
    return offsets


def _gathered(column: Array, begin: Array, lengths: Array) -> Array:
    """The arcs ``begin[i] .. begin[i] + lengths[i]`` of all rows, one after the other."""
    ends = np.cumsum(lengths)
    found = np.empty(int(ends[-1]) if len(ends) else 0, dtype=column.dtype)
    first = 0
    while first < len(lengths):
        done = int(ends[first] - lengths[first])
        last = max(first + 1, int(np.searchsorted(ends, done + _BLOCK_ARCS, side="right")))
        if last == first + 1:  # maybe a long one
            found[done : int(ends[first])] = column[int(begin[first]) : int(begin[first] + lengths[first])]
        else:
            shift = begin[first:last] - (ends[first:last] - lengths[first:last])
            arcs = np.repeat(shift, lengths[first:last]) + np.arange(done, int(ends[last - 1]))
            found[done : int(ends[last - 1])] = column[arcs]
        first = last
    return found
