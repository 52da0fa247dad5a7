"""The first pages of a graph on disk, which stay in the memory of the device that the run computes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeGuard

import numpy as np

from dromos.dtypes import Array
from dromos.engines.parts import Part
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.slices import PagedSlice, slice_of
from dromos.plan.path import Direction

__all__ = ["KeepingPart", "KeptRows", "keeps_rows"]

_WORTH_KEEPING = 2  # pages are kept once a superstep wants at least one in so many of them


class KeepingPart(Part, Protocol):
    """A part with a memory of its own, where the first arcs of a graph can stay."""

    def stream_rows(self, offsets: Mapping[Direction, Array], weights: np.dtype[Any] | None) -> int:
        """Prepare for slices of pages; return how many arcs of each direction the part can keep.

        ``offsets``: of the whole graph, the same array for both directions if they have the same rows. ``weights``:
        their type, if they are read.
        """

    def keep_rows(self, piece: PagedSlice, direction: Direction) -> None:
        """Keep all arcs of ``piece``, which follow those that are kept already."""

    def kept_rows(self, direction: Direction) -> GraphSlice:
        """The slice of all arcs that are kept."""

    def pages_wanted(self, direction: Direction, page_arcs: int, num_pages: int) -> Array | None:
        """A mask of the pages with rows of active vertices, or in a pull of those that want a message; None: all."""

    def end_rows(self) -> None:
        """Wait until nothing is copied any more."""


def keeps_rows(part: Part) -> TypeGuard[KeepingPart]:
    """Whether arcs can stay in the part's own memory."""
    return hasattr(part, "keep_rows")


class KeptRows:
    """The pages that stay with the part: none until a superstep wants many of those that have room, then all of them.

    The first pages are kept. They have the hubs' rows where a store is ordered by degree (``dromos convert --order
    degree``), and those are read most often.
    """

    def __init__(
        self, part: KeepingPart, rows: Mapping[Direction, PagedRows], offsets: Mapping[Direction, Array]
    ) -> None:
        self._part = part
        weights = next(iter(rows.values())).weights
        capacity = part.stream_rows(offsets, None if weights is None else weights.dtype)
        self._room = {direction: _whole_blocks(found, capacity) for direction, found in rows.items()}
        self._pages = dict.fromkeys(map(id, rows.values()), 0)

    def pages(self, rows: PagedRows) -> int:
        """How many of the first pages are kept."""
        return self._pages[id(rows)]

    def slices(
        self, pager: Pager, rows: PagedRows, offsets: Array, wanted: Array, direction: Direction
    ) -> Iterator[GraphSlice]:
        """Yield the slice of the kept pages if any is ``wanted`` (a mask), and clear them there."""
        kept, room = self.pages(rows), self._room[direction]
        if kept < room and _WORTH_KEEPING * np.count_nonzero(wanted[:room]) >= room:
            self._keep(pager, rows, offsets, room, direction)
            kept = room
        if wanted[:kept].any():
            yield self._part.kept_rows(direction)
            wanted[:kept] = False

    def wanted(self, rows: PagedRows, direction: Direction) -> Array:
        """The numbers of the pages that the next superstep needs."""
        found = self._part.pages_wanted(direction, rows.page_arcs, rows.num_pages)
        return np.arange(rows.num_pages) if found is None else np.flatnonzero(found)

    def close(self) -> None:
        """Wait until nothing is copied to the part any more."""
        self._part.end_rows()

    def _keep(self, pager: Pager, rows: PagedRows, offsets: Array, room: int, direction: Direction) -> None:
        pages = np.zeros(rows.num_pages, dtype=bool)
        pages[:room] = True
        for window in pager.windows(rows, pages):
            self._part.keep_rows(slice_of(rows, offsets, pages, window, cut=room), direction)
        pager.evict(rows, 0, room)
        self._pages[id(rows)] = room


def _whole_blocks(rows: PagedRows, arcs: int) -> int:
    """How many pages of ``rows`` have at most so many arcs; whole blocks, since these are checked together."""
    if arcs >= rows.num_arcs:
        return rows.num_pages
    return arcs // (rows.page_arcs * rows.block_pages) * rows.block_pages
