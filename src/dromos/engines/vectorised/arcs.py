"""The arcs of chosen rows of a slice, in blocks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.graph.slices import GraphSlice

__all__ = ["BLOCK", "Arcs", "Rows", "arcs_of", "places_of", "rows_of"]

BLOCK = 1 << 17
"""Arcs that are processed together: temporary arrays grow with this, not with the graph."""


class Arcs(NamedTuple):
    """Arcs as columns: the vertex whose row each is in, the vertex at its other end, and its place in the slice."""

    rows: Array
    ends: Array
    places: Any
    """Indices into the arrays of the slice: an array, or a range if the arcs are contiguous."""


def arcs_of(piece: GraphSlice, rows: Array | None, block: int | None = None) -> Iterator[Arcs]:
    """The arcs of ``rows`` (ascending ids in the slice; None: all) in blocks; a long row may span several.

    >>> piece = GraphSlice(4, 7, np.array([9, 11, 11, 14]), np.array([1, 2, 3, 4, 5]), None)
    >>> [(arcs.rows.tolist(), arcs.ends.tolist()) for arcs in arcs_of(piece, np.array([4, 6]), block=3)]
    [([4, 4, 6], [1, 2, 3]), ([6, 6], [4, 5])]
    """
    block = BLOCK if block is None else block
    everyone = rows is None
    if rows is None:
        rows = np.arange(piece.start, piece.stop)
    at = rows - piece.start
    base = int(piece.offsets[0])
    begin = (piece.offsets[at] - base).astype(np.int64)
    ends = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(piece.offsets[at + 1] - base - begin, out=ends[1:])
    total = int(ends[-1])
    for low in range(0, total, block):
        high = min(low + block, total)
        first = int(np.searchsorted(ends, low, side="right")) - 1
        last = int(np.searchsorted(ends, high, side="left"))
        bounds: Array = np.clip(ends[first : last + 1], low, high)
        counts = bounds[1:] - bounds[:-1]
        owners = np.repeat(rows[first:last], counts)
        places: Any = slice(low, high)
        if not everyone:
            places = np.repeat(begin[first:last] - ends[first:last], counts)
            places += np.arange(low, high)
        # NumPy converts indices of any other type at every lookup
        yield Arcs(owners, piece.targets[places].astype(np.intp, copy=False), places)


class Rows(NamedTuple):
    """Nonempty rows: their vertices, where each begins among ``ends``, and the vertices at the other ends."""

    ids: Array
    starts: Array
    ends: Array


def rows_of(piece: GraphSlice, block: int | None = None) -> Iterator[Rows]:
    """All rows of a slice in blocks of about equal numbers of arcs; a row is never split.

    >>> piece = GraphSlice(4, 7, np.array([9, 11, 11, 14]), np.array([1, 2, 3, 4, 5]), None)
    >>> [(rows.ids.tolist(), rows.starts.tolist()) for rows in rows_of(piece, block=5)]
    [([4, 6], [0, 2])]
    """
    offsets = (piece.offsets - piece.offsets[0]).astype(np.int64, copy=False)
    filled = np.flatnonzero(offsets[1:] > offsets[:-1])
    begins, total = offsets[filled], int(offsets[-1])
    at = 0
    while at < len(filled):
        low = int(begins[at])
        stop = max(at + 1, int(np.searchsorted(begins, low + (BLOCK if block is None else block))))
        high = int(begins[stop]) if stop < len(filled) else total
        yield Rows(filled[at:stop] + piece.start, begins[at:stop] - low, piece.targets[low:high])
        at = stop


def places_of(offsets: Array, rows: Array) -> Array:
    """The indices of the arcs of ``rows``, row by row.

    >>> places_of(np.array([0, 2, 3, 6]), np.array([2, 0])).tolist()
    [3, 4, 5, 0, 1]
    """
    begin = offsets[rows].astype(np.int64)
    counts = offsets[rows + 1].astype(np.int64) - begin
    ends = np.cumsum(counts)
    places = np.arange(int(ends[-1]) if len(ends) else 0)
    places += np.repeat(begin - ends + counts, counts)
    return places
