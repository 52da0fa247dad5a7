"""Cached in-rows in the form that a pull gathers from quickest, in the place of their pages.

A program that gathers along all arcs in every superstep leaves the same pages in the cache, from the first one on. In
the fourth superstep the rows on them are sorted into blocks and tiles, as a graph in memory is
(:mod:`dromos.engines.cpu.arc_blocks`), and the pages are given back one after the other: arcs in blocks take no more
bytes. What has no room in the cache is read in pages as before.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.arc_blocks import may_be_worth_blocks
from dromos.engines.cpu.sorted_slice import SortedSlice, sort_rows
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.paged.rows import PagedRows

__all__ = ["LEAST_SHARE", "SORTING_PULL", "SortedRows"]

_PIECE: Final = 1 << 20  # rows whose lengths are looked at together
SORTING_PULL: Final = 4  # sorting takes as long as some pulls gain, so that runs of few supersteps do without
LEAST_SHARE: Final = 0.5  # of all arcs: sorting fewer is hardly seen beside what is read


class SortedRows:
    """The first in-rows of a graph, sorted once they are all cached; for programs whose pulls take all rows.

    Args:
        num_vertices: of the graph.
        value_bytes: what each offers.
        threads: of the kernels.
    """

    def __init__(self, num_vertices: int, value_bytes: int, threads: int) -> None:
        self._num_vertices, self._value_bytes, self._threads = num_vertices, value_bytes, threads
        self._pulls = 0
        self.piece: SortedSlice | None = None
        """The rows, as soon as they are sorted."""

    def begin(self, pager: Pager, rows: PagedRows, offsets: Array) -> None:
        """A pull begins; in the fourth one rows are sorted, where that is worth it."""
        self._pulls += 1
        if self._pulls != SORTING_PULL or rows.targets.itemsize != 4:
            return
        cached = min(pager.first_cached(rows) * rows.page_arcs, rows.num_arcs)
        count = int(np.searchsorted(offsets, offsets.dtype.type(cached), side="right")) - 1
        if int(offsets[count]) < max(1, LEAST_SHARE * rows.num_arcs):
            return
        own, spare = offsets[: count + 1], pager.spare
        table_bytes = self._num_vertices * self._value_bytes
        if not may_be_worth_blocks(count, int(own[-1]), table_bytes) or _longest(own) * rows.arc_bytes > spare:
            return
        given_back = 0

        def give_back(row: int) -> None:
            nonlocal given_back
            page = self._first_page(rows, offsets, row)
            pager.evict(rows, given_back, page)
            given_back = page

        self.piece = sort_rows(
            own, rows.targets[: int(own[-1])], self._num_vertices, self._threads, spare=spare, after=give_back
        )
        if self.piece is not None and self.piece.blocks is not None:
            blocks = self.piece.blocks
            pager.occupy(blocks.nbytes + self._threads * blocks.rows * self._value_bytes)

    def others(self, rows: PagedRows, offsets: Array) -> Array:
        """A mask of the pages with rows that are not sorted."""
        wanted = np.ones(rows.num_pages, dtype=bool)
        if self.piece is not None:
            wanted[: self._first_page(rows, offsets, self.piece.stop)] = False
        return wanted

    def without_sorted(self, piece: GraphSlice) -> GraphSlice:
        """A slice without the rows that are sorted: its first page may hold some."""
        if self.piece is None or piece.start >= self.piece.stop:
            return piece
        first = self.piece.stop
        own = piece.offsets[first - piece.start :]
        targets = piece.targets[int(own[0]) - int(piece.offsets[0]) :]
        return GraphSlice(first, piece.stop, own, targets, None)

    @staticmethod
    def _first_page(rows: PagedRows, offsets: Array, row: int) -> int:
        """The page on which ``row`` begins; behind the last one where there are no more arcs."""
        arc = int(offsets[row])
        return arc // rows.page_arcs if arc < rows.num_arcs else rows.num_pages


def _longest(offsets: Array) -> int:
    """The arcs of the longest row; piece by piece, since a run's memory is given away."""
    pieces = (offsets[first : first + _PIECE + 1] for first in range(0, len(offsets) - 1, _PIECE))
    return max((int(np.diff(piece).max()) for piece in pieces), default=0)
