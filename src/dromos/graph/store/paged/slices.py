"""Resident pages as slices of the graph."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.rows import PagedRows, Request

__all__ = ["slice_of"]


def slice_of(rows: PagedRows, offsets: Array, wanted: Array, window: Request) -> GraphSlice:
    """The rows of a window, from its first wanted page to its last.

    A row that continues in another window is cut there if that part is wanted too; that window brings the rest. If it
    is not wanted, the row is not read at all, and the offsets are used as they are.
    """
    inside = np.flatnonzero(wanted[window.first : window.last])
    first_page, last_page = window.first + int(inside[0]), window.first + int(inside[-1]) + 1
    begin, end = first_page * rows.page_arcs, min(last_page * rows.page_arcs, rows.num_arcs)
    kind = offsets.dtype.type
    first = int(np.searchsorted(offsets, kind(begin), side="right")) - 1
    last = int(np.searchsorted(offsets, kind(end), side="left"))
    if begin > int(offsets[first]) and not wanted[first_page - 1]:
        begin = int(offsets[first])
    if end < int(offsets[last]) and not wanted[last_page]:
        end = int(offsets[last])
    own = offsets[first : last + 1]
    if int(own[0]) != begin or int(own[-1]) != end:
        own = own.copy()
        own[0], own[-1] = begin, end  # no other row is cut
    weights = None if rows.weights is None else rows.weights[begin:end]
    return GraphSlice(first, last, own, rows.targets[begin:end], weights)
