"""In-rows in the form that a pull gathers from fastest, in place of their pages.

A program that gathers along all arcs in every superstep reads the same pages again and again. So the rows are sorted
into blocks and tiles, as for a graph in memory (:mod:`dromos.engines.cpu.arc_blocks`), if a run may have enough
supersteps to repay it. There are three cases:

- If all rows fit in the cache, they are sorted there in the second superstep, and the pages are freed one after the
  other: arcs in blocks take no more bytes.
- Otherwise the sorted rows go to a file in the first superstep (:mod:`dromos.places.stream.spilled_rows`).
- If there can be no file, the cached rows are sorted, if they are many, and the others are read in pages as before.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.arc_blocks import LEAST_PULLS, MOST_ROWS, grouping_bytes, may_be_worth_blocks
from dromos.engines.cpu.sorted_slice import LEAST_PER_ROW, SortedSlice, sort_rows
from dromos.engines.cpu.source_order import BY_ID, SourceOrder, better_order, classes_of, may_gain, tiles_of_sources
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.pager import Pager, Room
from dromos.graph.store.paged.plan import run_edges
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.section import Request
from dromos.graph.store.paged.slices import slice_of
from dromos.places.stream.compiler_pages import release_compiler_pages
from dromos.places.stream.scratch_file import ScratchFile, open_scratch
from dromos.places.stream.spilled_rows import SpilledRows

__all__ = ["LEAST_SHARE", "LEAST_SPILLED", "SORTING_PULL", "SortedRows", "window_bytes"]

_log = logging.getLogger(__name__)

_PIECE: Final = 1 << 20  # rows whose lengths are read together
SORTING_PULL: Final = 4  # in a run of which nothing is known
LEAST_SHARE: Final = 0.5  # of all arcs: sorting fewer gains little compared with the time of reading
LEAST_SPILLED = 1 << 12  # arcs of a tile of a block, on average
_ARC_BYTES: Final = 4
# Memory for sorting, in windows: one of pages, and one sorted and written; then two of the latter.
_WINDOWS: Final = 2.0
_WINDOWS_IN_ORDER: Final = 2 + 2 / LEAST_PER_ROW  # with numbers of rows
PLACE_BYTES = 4  # per vertex: its position in that order
_MOST_BYTES: Final = 64 << 20  # of a window


class SortedRows:
    """The in-rows of a graph, sorted after some pulls; for programs whose pulls read all rows.

    Args:
        num_vertices: of the graph.
        value_bytes: the bytes that each vertex offers.
        threads: of the kernels.
        out_offsets: where the out-rows begin; None: not known, and sources are in tiles by id.
        folder: for a file of rows that do not fit in memory; None: no file.
    """

    def __init__(
        self, num_vertices: int, value_bytes: int, threads: int, out_offsets: Array | None, folder: Path | None = None
    ) -> None:
        self._num_vertices, self._value_bytes, self._threads = num_vertices, value_bytes, threads
        self._out_offsets, self._folder = out_offsets, folder
        self._pulls, self._sorted = 0, False
        self._most: float | None = None  # supersteps of the run
        self.piece: SortedSlice | None = None
        """The first rows, once they are sorted in memory."""
        self.spilled: SpilledRows | None = None
        """All rows, once they are sorted in a file."""
        self._sorting: SpilledRows | None = None  # the rows in that file while some are still missing
        self._room: Room | None = None  # the pager's original room, while rows are in a file

    def expect(self, supersteps: int | None) -> None:
        """Set before the first pull how many supersteps there are at most; None: any number."""
        if not self._pulls:
            self._most = math.inf if supersteps is None else supersteps

    def slices(self, pager: Pager, rows: PagedRows, offsets: Array) -> Iterator[GraphSlice]:
        """The slices of one pull."""
        self._pulls += 1
        if self._is_time_to_sort(pager, rows):
            file, size = self._scratch(pager, rows)
            if file is not None:
                self._sorted = True
                yield from self._spill(pager, rows, offsets, file, size)
                return
            self._sort_cached(pager, rows, offsets)
            self._sorted = self.piece is not None
        if self.spilled is not None:
            yield from self._from_file(self.spilled, pager, rows, offsets)
            return
        page = 0
        if self.piece is not None:
            yield self.piece
            page = self._first_page(rows, offsets, self.piece.stop)
        wanted = np.arange(rows.num_pages) >= page
        for window in pager.windows(rows, wanted, in_place=False):
            yield self._without_sorted(slice_of(rows, offsets, wanted, window))

    def _is_time_to_sort(self, pager: Pager, rows: PagedRows) -> bool:
        if self._sorted or rows.targets.itemsize != 4:
            return False
        if self._most is None:
            return self._pulls == SORTING_PULL
        fits = rows.num_pages * rows.page_bytes <= pager.room.cache  # then all are there in the second pull
        return self._most >= LEAST_PULLS and (self._pulls == 2 or (self._pulls == 1 and not fits))

    def _from_file(self, spilled: SpilledRows, pager: Pager, rows: PagedRows, offsets: Array) -> Iterator[GraphSlice]:
        """All rows; those that the file does not return as they were written are read from the store."""
        left, every = np.ones(rows.num_pages, dtype=bool), np.ones(rows.num_pages, dtype=bool)
        for piece, pages in spilled.slices():
            yield piece
            left[pages.first : pages.last] = False
        if not left.any():
            return
        _log.warning("the sorted rows on disk differ from what was written; reading the store instead")
        self.release(pager)
        for window in pager.windows(rows, left, in_place=False):
            first, last = run_edges(left[window.first : window.last])[0].tolist()  # the rest of the window came before
            # rows are cut at its ends, as they were when they were sorted
            yield slice_of(rows, offsets, every, Request(window.first + first, window.first + last))

    def release(self, pager: Pager) -> None:
        """Release the file and its memory: the pager has all of its room again.

        This holds also after an error or Ctrl-C has ended the run while rows were being sorted.
        """
        for rows in (self.spilled, self._sorting):
            if rows is not None:
                rows.close()
        if self._room is not None:
            pager.room = self._room
        self.spilled = self._sorting = self._room = None

    def _scratch(self, pager: Pager, rows: PagedRows) -> tuple[ScratchFile | None, int]:
        """A file for all rows, if sorting them there is worthwhile, and the bytes of a window of pages."""
        if self._folder is None or pager.first_cached(rows) == rows.num_pages:
            return None, 0
        room = pager.room.buffers + pager.room.cache
        size = window_bytes(
            room, self._num_vertices, rows.num_arcs, self._value_bytes, self._threads, ordered=self._may_order
        )
        if size < max(rows.block_pages * rows.page_bytes, 1):
            return None, 0
        return open_scratch(self._folder, rows.arc_bytes * rows.num_arcs), size

    def _spill(
        self, pager: Pager, rows: PagedRows, offsets: Array, file: ScratchFile, size: int
    ) -> Iterator[GraphSlice]:
        """The slices of this pull, sorted and written to ``file`` on the way."""
        room = int(size * (_WINDOWS_IN_ORDER if self._may_order else _WINDOWS))
        spilled = SpilledRows(pager, file, room, self._num_vertices, self._threads, self._order_for)
        self._sorting = spilled
        pager.evict(rows, 0, rows.num_pages)
        self._room, pager.room = pager.room, Room(pager.buffers_for(size, ahead=0), 0)
        wanted, fails = np.ones(rows.num_pages, dtype=bool), False
        # sorting takes several times as long as reading, so nothing is read ahead
        for window in pager.windows(rows, wanted, ahead=0, in_place=False):
            piece: GraphSlice = slice_of(rows, offsets, wanted, window)
            if not fails:
                try:
                    piece = spilled.append(piece, window)
                except OSError as error:
                    fails = _told(error)
            yield piece
        try:
            if not fails:
                spilled.finish()
        except OSError as error:
            fails = _told(error)
        release_compiler_pages()  # of the kernels that sort and gather
        if fails:
            self.release(pager)
        else:
            self.spilled, self._sorting, pager.room = spilled, None, Room(0, 0)

    def _sort_cached(self, pager: Pager, rows: PagedRows, offsets: Array) -> None:
        """Sort the rows that are cached from the first one on, if that is worthwhile."""
        cached = min(pager.first_cached(rows) * rows.page_arcs, rows.num_arcs)
        count = int(np.searchsorted(offsets, offsets.dtype.type(cached), side="right")) - 1
        if int(offsets[count]) < max(1, LEAST_SHARE * rows.num_arcs):
            return
        own, spare, order = offsets[: count + 1], pager.spare, BY_ID
        table_bytes = self._num_vertices * self._value_bytes
        if not may_be_worth_blocks(count, int(own[-1]), table_bytes) or _longest(own) * rows.arc_bytes > spare:
            return
        # else some go by id; positions and numbers of all vertices
        taken = 2 * PLACE_BYTES * self._num_vertices
        if int(own[-1]) == rows.num_arcs and self._may_order and spare > taken + PLACE_BYTES * self._num_vertices:
            order = self._order_for(GraphSlice(0, count, own, rows.targets[: rows.num_arcs], None))
            spare -= 0 if order is BY_ID else taken
        given_back = 0

        def give_back(row: int) -> None:
            nonlocal given_back
            page = self._first_page(rows, offsets, row)
            pager.evict(rows, given_back, page)
            given_back = page

        self.piece = sort_rows(
            own, rows.targets[: int(own[-1])], self._num_vertices, self._threads,
            spare=spare, after=give_back, order=order,
        )  # fmt: skip
        if self.piece is not None and self.piece.blocks is not None:
            blocks = self.piece.blocks
            pager.occupy(blocks.nbytes + self._threads * blocks.rows * self._value_bytes)

    @cached_property
    def _may_order(self) -> bool:
        """Whether sources may be in another order than that of ids, which takes memory."""
        offsets = self._out_offsets
        return offsets is not None and may_gain(offsets, classes_of(offsets, self._threads))

    def _order_for(self, piece: GraphSlice) -> SourceOrder:
        """The order of sources in tiles, derived from these rows."""
        if self._out_offsets is None or not self._may_order:
            return BY_ID
        return better_order(self._out_offsets, piece.offsets, piece.targets.view(np.uint32), self._threads)

    def _without_sorted(self, piece: GraphSlice) -> GraphSlice:
        """A slice without the rows that are sorted: its first page may hold some."""
        if self.piece is None or piece.start >= self.piece.stop:
            return piece
        first = self.piece.stop
        own = piece.offsets[first - piece.start :]
        targets = piece.targets[int(own[0]) - int(piece.offsets[0]) :]
        return GraphSlice(first, piece.stop, own, targets, None)

    @staticmethod
    def _first_page(rows: PagedRows, offsets: Array, row: int) -> int:
        """The page on which ``row`` begins; the number of pages if there are no more arcs."""
        arc = int(offsets[row])
        return arc // rows.page_arcs if arc < rows.num_arcs else rows.num_pages


def window_bytes(
    room: int, num_vertices: int, num_arcs: int, value_bytes: int, threads: int, *, ordered: bool = False
) -> int:
    """The bytes of pages that are sorted together, with ``room`` bytes in all; 0 if a file is not worthwhile.

    ``value_bytes``: gathered from each vertex; ``ordered``: sources may be in another order than that of ids.

    >>> window_bytes(105 << 20, 1 << 22, 1 << 27, 8, 2) >> 20, window_bytes(64 << 20, 1 << 22, 1 << 27, 8, 16)
    (51, 0)
    >>> window_bytes(105 << 20, 1 << 22, 1 << 27, 8, 2, ordered=True) >> 20
    40
    """
    beside = threads * min(MOST_ROWS, num_vertices) * value_bytes + PLACE_BYTES * num_vertices * ordered
    beside += grouping_bytes(num_vertices, threads)
    size = min(int(max(room - beside, 0) / (_WINDOWS_IN_ORDER if ordered else _WINDOWS)), _MOST_BYTES)
    least = _ARC_BYTES * LEAST_SPILLED * tiles_of_sources(num_vertices) * threads
    worth = size >= least and may_be_worth_blocks(num_vertices, num_arcs, num_vertices * value_bytes)
    return size if worth else 0


def _told(error: OSError) -> bool:
    _log.warning("sorted rows cannot be written to disk (%s); reading the store instead", error)
    return True


def _longest(offsets: Array) -> int:
    """The number of arcs of the longest row; computed piece by piece, since a run's memory is already allotted."""
    pieces = (offsets[first : first + _PIECE + 1] for first in range(0, len(offsets) - 1, _PIECE))
    return max((int(np.diff(piece).max()) for piece in pieces), default=0)
