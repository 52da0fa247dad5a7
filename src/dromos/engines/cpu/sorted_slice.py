"""In-rows of a slice, sorted into blocks and tiles (:mod:`dromos.engines.cpu.arc_blocks`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.cpu.arc_blocks import LEAST_ARCS, MOST_ROWS, SORTING_BYTES, ArcBlocks, grouping_bytes, sort_arcs
from dromos.engines.cpu.memory import huge_zeros
from dromos.engines.cpu.source_order import BY_ID, SourceOrder, tiles_of_sources
from dromos.engines.cpu.topology import Hubs
from dromos.graph.slices import GraphSlice

__all__ = ["LEAST_PER_ROW", "SortedSlice", "sort_rows", "sort_slice", "sorted_bytes"]

_ARC_BYTES = 4  # at most, in words
_NUMBER_BYTES = 4  # per row
_PER_THREAD = 4  # least number of blocks per thread
LEAST_PER_ROW: float = 16
"""Least average number of arcs per row for rows of a slice to be numbered by their arcs, at 4 bytes per row."""


@dataclass(frozen=True, eq=False)
class SortedSlice(GraphSlice):
    """The arcs are in ``blocks`` alone: ``targets`` is empty, and only the first of ``offsets`` is used."""

    blocks: ArcBlocks | None = None

    @property
    def num_arcs(self) -> int:
        """The number of arcs in the blocks."""
        return 0 if self.blocks is None else len(self.blocks.words) + len(self.blocks.long_sources)


def sort_rows(
    offsets: Array,
    sources: Array,
    num_sources: int,
    threads: int,
    *,
    spare: int,
    after: Callable[[int], None],
    order: SourceOrder = BY_ID,
) -> SortedSlice | None:
    """Sort the rows from vertex 0 on, as given by ``offsets``; None if tiles would have too few arcs.

    ``after(row)`` is called when the arcs of all rows before ``row`` can be released. What is held twice meanwhile, and
    what sorting takes, is at most ``spare`` bytes, or that of one block.

    >>> offsets, sources = np.array([0, 2, 3], np.uint32), np.array([0, 1, 1], np.uint32)
    >>> sort_rows(offsets, sources, 2, 1, spare=1 << 20, after=print) is None
    True
    """
    arcs, tiles = int(offsets[-1]), tiles_of_sources(order.count or num_sources)
    arc_bytes, spare = _ARC_BYTES + SORTING_BYTES, max(spare - grouping_bytes(num_sources, threads), 0)
    size = min(arcs // (threads * _PER_THREAD), max(spare // (arc_bytes * threads), LEAST_ARCS * tiles)) + 1
    firsts = _bounds(offsets, size)
    if arcs < LEAST_ARCS * tiles * (len(firsts) - 1):
        return None
    together = min(max(spare // (arc_bytes * size), 1), threads)
    blocks = sort_arcs(
        offsets, _as_ids(sources), num_sources, firsts, Hubs(offsets[:1]), threads,
        longest=arcs, order=order, numbered=order is not BY_ID, together=together, after=after,
    )  # fmt: skip
    return SortedSlice(0, len(offsets) - 1, offsets, sources[:0], None, blocks=blocks)


def sort_slice(
    piece: GraphSlice,
    num_sources: int,
    threads: int,
    new: Callable[[int, Any], Array] = huge_zeros,
    order: SourceOrder = BY_ID,
) -> SortedSlice:
    """Sort the arcs of a slice, which may begin and end within a row, into a block per thread; overwrites its targets.

    ``new(count, dtype)`` allocates the arrays that grow with the arcs; see :func:`sorted_bytes`.

    >>> piece = GraphSlice(7, 9, np.array([10, 12, 13], np.uint32), np.array([0, 1, 1], np.uint32), None)
    >>> found = sort_slice(piece, 2, 1)
    >>> found.start, found.stop, found.num_arcs, found.blocks.words.tolist()
    (7, 9, 3, [0, 1, 32769])
    """
    rows = int(np.searchsorted(piece.offsets, piece.offsets[-1]))  # rows after the last one with arcs are left out
    offsets = piece.offsets[: rows + 1] - piece.offsets[0]
    numbered = order is not BY_ID and piece.num_arcs >= LEAST_PER_ROW * rows
    firsts = _even_bounds(offsets, threads, numbered=numbered)
    blocks = sort_arcs(
        offsets, _as_ids(piece.targets), num_sources, firsts, Hubs(offsets[:1]), threads,
        longest=piece.num_arcs, new=new, order=order, numbered=numbered, in_place=True,
    )  # fmt: skip
    no_targets = np.empty(0, piece.targets.dtype)  # not a view of memory that is returned to the system
    return SortedSlice(piece.start, piece.start + rows, piece.offsets[:1].copy(), no_targets, None, blocks=blocks)


def sorted_bytes(num_arcs: int, order: SourceOrder) -> int:
    """The most memory that :func:`sort_slice` takes for so many arcs: words, and row numbers if there are any.

    >>> sorted_bytes(1600, BY_ID), sorted_bytes(1600, SourceOrder(np.zeros(1, np.uint32), 1))
    (6400, 6800)
    """
    return _ARC_BYTES * num_arcs + (0 if order is BY_ID else int(_NUMBER_BYTES * num_arcs / LEAST_PER_ROW))


def _as_ids(sources: Array) -> Array:
    return sources.view(np.dtype(f"u{sources.itemsize}"))


def _even_bounds(offsets: Array, count: int, *, numbered: bool) -> Array:
    """As :func:`_bounds`, for ``count`` blocks of about equal numbers of arcs, or more if they would have many rows.

    ``numbered``: only rows with arcs count.
    """
    rows, arcs = len(offsets) - 1, int(offsets[-1])
    cuts = [int(np.searchsorted(offsets, offsets.dtype.type(arcs * i // count))) for i in range(1, count)]
    edges = sorted({0, rows, *cuts})
    with_arcs = np.add.accumulate(offsets[1:] > offsets[:-1], dtype=np.uint32) if numbered else None
    found = []
    for begin, end in pairwise(edges):
        before, behind = begin, end
        if with_arcs is not None:
            before, behind = int(with_arcs[begin - 1]) if begin else 0, int(with_arcs[end - 1])
        pieces = max(-(-(behind - before) // MOST_ROWS), 1)
        inner = [before + (behind - before) * i // pieces for i in range(1, pieces)]
        if with_arcs is not None:
            inner = np.searchsorted(with_arcs, np.array(inner, np.uint32), side="right").tolist()
        found += [begin, *inner]
    return read_only(np.array([*found, rows], np.int64))


def _bounds(offsets: Array, most: int) -> Array:
    """The first row of each block, which has at most ``most`` arcs or a single row; and the end of the last block."""
    n, kind, found = len(offsets) - 1, offsets.dtype.type, [0]
    while found[-1] < n:
        first = found[-1]
        limit = min(int(offsets[first]) + most, int(offsets[-1]))
        end = int(np.searchsorted(offsets, kind(limit), side="right")) - 1
        found.append(min(max(end, first + 1), first + MOST_ROWS, n))
    return read_only(np.array(found, np.int64))
