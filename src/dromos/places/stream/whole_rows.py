"""Whole rows of a graph on disk, whose slices may begin and end within rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from dromos.dtypes import Array
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.slices import PagedSlice

__all__ = ["whole_rows"]


def whole_rows(slices: Iterable[GraphSlice], offsets: Array) -> Iterator[tuple[PagedSlice, int, int]]:
    """Each slice with the range of its rows that are not cut; a row that is comes by in a slice of its own, as a copy.

    ``offsets``: those of the whole graph. Slices come in the order of their arcs.
    """
    pieces: list[Array] = []  # of the row that is cut
    for piece in slices:
        assert isinstance(piece, PagedSlice)
        first, last = piece.start, piece.stop - 1
        begins_before = int(piece.offsets[0]) != int(offsets[first])
        goes_on = int(piece.offsets[-1]) != int(offsets[last + 1])
        if begins_before:
            pieces.append(_row(piece, 0))
            if not (goes_on and first == last):
                yield _alone(first, offsets, np.concatenate(pieces)), 0, 1
        if goes_on and not (begins_before and first == last):
            pieces = [_row(piece, last - first)]
        begin, end = int(begins_before), piece.num_vertices - goes_on
        if begin < end:
            yield piece, begin, end


def _row(piece: PagedSlice, row: int) -> Array:
    begin, end = (int(piece.offsets[at]) - int(piece.offsets[0]) for at in (row, row + 1))
    return piece.targets[begin:end].copy()


def _alone(vertex: int, offsets: Array, targets: Array) -> PagedSlice:
    return PagedSlice(
        vertex, vertex + 1, offsets[vertex : vertex + 2], targets, None,
        first_page=0, pages=np.empty(0, bool), page_arcs=1,
    )  # fmt: skip
