"""The rows of some vertices of a stored graph, copied into memory without the pages around them."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import OFFSET, Array
from dromos.errors import ResourceError
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.summary import human_bytes
from dromos.sizes import available_memory

__all__ = ["are_joined", "copied_rows", "rows_between", "selected_rows", "targets_at"]

_COPIED = 1 << 15  # arcs


def selected_rows(pager: Pager, rows: PagedRows, offsets: Array, vertices: Array) -> tuple[Array, list[Array]]:
    """Targets (and weights) of ``vertices`` (ids, in any order), and offsets in which all other rows are empty.

    Raises an error if the rows exceed the free memory.
    """
    chosen = np.unique(vertices).astype(np.int64)
    begin = offsets[chosen].astype(np.int64)
    end = offsets[chosen + 1].astype(np.int64)
    own = np.zeros(len(offsets), dtype=OFFSET)
    own[chosen + 1] = end - begin
    np.cumsum(own, out=own)
    needed = int(own[-1]) * rows.arc_bytes
    if needed > (free := available_memory()):
        raise ResourceError(
            f"the rows of these {len(chosen):,} vertices take {human_bytes(needed)}, and {human_bytes(free)} of memory "
            "are free; give fewer vertices",
            needed=needed,
        )
    return own, copied_rows(pager, rows, begin, end)


def copied_rows(pager: Pager, rows: PagedRows, begin: Array, end: Array) -> list[Array]:
    """The targets (and weights) of the arcs ``begin[i]..end[i]``, row after row; no two rows overlap."""
    lengths = end - begin
    starts = np.cumsum(lengths) - lengths
    some = lengths > 0
    begin, end, starts = begin[some], end[some], starts[some]
    columns = [rows.targets] if rows.weights is None else [rows.targets, rows.weights]
    found = [np.empty(int(lengths.sum()), dtype=column.dtype) for column in columns]
    for window in pager.windows(rows, _pages(begin, end, rows)):
        low, high = window.first * rows.page_arcs, window.last * rows.page_arcs
        first, last = int(np.searchsorted(end, low, side="right")), int(np.searchsorted(begin, high))
        from_, to = np.maximum(begin[first:last], low), np.minimum(end[first:last], high)  # a window may cut a row
        into = starts[first:last] + from_ - begin[first:last]
        for column, values in zip(columns, found, strict=True):
            _copy(column, values, from_, to - from_, into)
    return found


def _copy(column: Array, values: Array, from_: Array, lengths: Array, into: Array) -> None:
    """Copy pieces of a column: many short ones at a time, so that temporary arrays stay small."""
    ends, first = np.cumsum(lengths), 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + _COPIED, side="right")), first + 1)
        if last == first + 1:
            at, to, size = int(from_[first]), int(into[first]), int(lengths[first])
            values[to : to + size] = column[at : at + size]
        else:
            some = lengths[first:last]
            here = np.arange(before, int(ends[last - 1])) - np.repeat(ends[first:last] - some, some)
            values[here + np.repeat(into[first:last], some)] = column[here + np.repeat(from_[first:last], some)]
        first = last


def are_joined(pager: Pager, rows: PagedRows, begin: Array, end: Array, targets: Array) -> Array:
    """Whether each of ``targets`` is among the arcs ``begin[i]..end[i]``, sorted by id; ``begin`` ascends.

    The rows are searched in their pages, without a copy.
    """
    found = np.zeros(len(targets), dtype=bool)
    some = np.flatnonzero(end > begin)
    begin, end, targets = begin[some], end[some], targets[some]
    for window in pager.windows(rows, _pages(begin, end, rows)):
        edge, beyond = window.first * rows.page_arcs, window.last * rows.page_arcs
        first, last = int(np.searchsorted(end, edge, side="right")), int(np.searchsorted(begin, beyond))
        low, stop = np.maximum(begin[first:last], edge), np.minimum(end[first:last], beyond)  # a window may cut a row
        wanted, high = targets[first:last], stop
        while (low < high).any():
            middle = (low + high) >> 1
            after = (rows.targets[np.minimum(middle, stop - 1)] < wanted) & (low < high)
            low, high = np.where(after, middle + 1, low), np.where(after, high, np.minimum(middle, high))
        found[some[first:last]] |= (low < stop) & (rows.targets[np.minimum(low, stop - 1)] == wanted)
    return found


def targets_at(pager: Pager, rows: PagedRows, arcs: Array) -> Array:
    """The targets of single arcs, given by their positions in any order."""
    order = np.argsort(arcs, kind="stable")
    places = arcs[order]
    wanted = np.zeros(rows.num_pages, dtype=bool)
    wanted[places // rows.page_arcs] = True
    found = np.empty(len(arcs), dtype=rows.targets.dtype)
    for window in pager.windows(rows, wanted):
        first, last = np.searchsorted(places, [window.first * rows.page_arcs, window.last * rows.page_arcs]).tolist()
        found[order[first:last]] = rows.targets[places[first:last]]
    return found


def rows_between(pager: Pager, rows: PagedRows, offsets: Array, first: int, last: int) -> GraphSlice:
    """The rows ``first..last``, copied out of their pages."""
    begin, end = int(offsets[first]), int(offsets[last])
    wanted = np.zeros(rows.num_pages, dtype=bool)
    wanted[begin // rows.page_arcs : -(-end // rows.page_arcs)] = end > begin
    columns = [rows.targets] if rows.weights is None else [rows.targets, rows.weights]
    own = [np.empty(end - begin, dtype=column.dtype) for column in columns]
    for window in pager.windows(rows, wanted):
        low, high = max(begin, window.first * rows.page_arcs), min(end, window.last * rows.page_arcs)
        for column, values in zip(columns, own, strict=True):
            values[low - begin : high - begin] = column[low:high]
    return GraphSlice(first, last, offsets[first : last + 1], own[0], own[1] if len(own) > 1 else None)


def _pages(begin: Array, end: Array, rows: PagedRows) -> Array:
    """A mask of the pages with any of the arcs ``begin[i]..end[i]``; no range is empty."""
    changes = np.zeros(rows.num_pages + 1, dtype=np.int64)
    np.add.at(changes, begin // rows.page_arcs, 1)
    np.add.at(changes, (end - 1) // rows.page_arcs + 1, -1)
    wanted: Array = np.cumsum(changes[:-1]) > 0
    return wanted
