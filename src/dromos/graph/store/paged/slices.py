"""Resident pages as slices of the graph."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dromos.dtypes import Array
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.plan import run_edges
from dromos.graph.store.paged.rows import PagedRows, Request

__all__ = ["PagedSlice", "slice_of"]


@dataclass(frozen=True, eq=False)
class PagedSlice(GraphSlice):
    """A slice over pages, some of which may be missing; their arcs read as arcs to vertex 0."""

    first_page: int = field(kw_only=True)
    """The number of the first page of :attr:`pages`."""
    pages: Array = field(kw_only=True)
    """Which pages are there (a mask)."""
    page_arcs: int = field(kw_only=True)

    def runs(self) -> Array:
        """The arcs that are there: where each run of them begins and ends among all arcs of the graph.

        >>> offsets, pages = np.array([8, 11, 19]), np.array([True, False, True])
        >>> PagedSlice(3, 5, offsets, np.zeros(11, np.int32), None, first_page=2, pages=pages, page_arcs=4).runs()
        array([[ 8, 12],
               [16, 19]])
        """
        edges = (run_edges(self.pages) + self.first_page) * self.page_arcs
        found: Array = np.clip(edges, int(self.offsets[0]), int(self.offsets[-1]))
        return found


def slice_of(rows: PagedRows, offsets: Array, wanted: Array, window: Request, cut: int = 0) -> PagedSlice:
    """The rows of a window, from its first wanted page to its last.

    A row that continues in another window is cut there if that part is wanted too; that window brings the rest. If it
    is not wanted, the row is not read at all: its offsets are used as they are, or it is left out where pages are in a
    slot, which has no memory for the rest of it. Rows are always cut where the page ``cut`` begins.
    """
    inside = np.flatnonzero(wanted[window.first : window.last])
    first_page, last_page = window.first + int(inside[0]), window.first + int(inside[-1]) + 1
    begin, end = first_page * rows.page_arcs, min(last_page * rows.page_arcs, rows.num_arcs)
    kind = offsets.dtype.type
    first = int(np.searchsorted(offsets, kind(begin), side="right")) - 1
    last = int(np.searchsorted(offsets, kind(end), side="left"))
    if begin > int(offsets[first]) and first_page != cut and not wanted[first_page - 1]:
        first += rows.slot is not None
        begin = int(offsets[first])
    if end < int(offsets[last]) and last_page != cut and not wanted[last_page]:
        last = max(last - (rows.slot is not None), first)
        end = int(offsets[last])
    own = offsets[first : last + 1]
    if int(own[0]) != begin or int(own[-1]) != end:
        own = own.copy()
        own[0], own[-1] = begin, end  # no other row is cut
    targets, *weights = rows.columns(begin, end)
    return PagedSlice(
        first, last, own, targets, weights[0] if weights else None,
        first_page=first_page, pages=wanted[first_page:last_page], page_arcs=rows.page_arcs,
    )  # fmt: skip
