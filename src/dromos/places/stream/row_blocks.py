"""The rows of a graph on disk in blocks that follow from the graph alone, whatever windows of pages they come in.

So the random numbers of a block, and the order in which its rows are used, do not depend on the budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from dromos.dtypes import OFFSET, Array, read_only
from dromos.graph.slices import row_ranges
from dromos.places.stream.row_reader import RowReader

__all__ = ["RowBlock", "RowBlocks", "block_size"]

LEAST_ARCS: Final = 1 << 17
"""The most arcs of a block of several rows, or a sixty-fourth of all; a longer row is a block by itself."""
LEAST_ROWS: Final = 1 << 16
_BLOCKS: Final = 64

_Range: TypeAlias = tuple[int, int, int]
"""A block's number, and its range of vertices (end exclusive)."""


def block_size(num_vertices: int, num_arcs: int) -> tuple[int, int]:
    """The most rows and arcs of a block of several rows.

    >>> block_size(1 << 20, 1 << 25)
    (65536, 524288)
    """
    return max(LEAST_ROWS, num_vertices // _BLOCKS), max(LEAST_ARCS, num_arcs // _BLOCKS)


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows of vertices from ``start`` on, in the form for kernels; offsets begin with 0."""

    number: int
    start: int
    offsets: Array
    targets: Array
    weights: Array

    @property
    def num_arcs(self) -> int:
        """The number of arcs of the rows."""
        return len(self.targets)

    @property
    def rows(self) -> tuple[np.int64, Array, Array, Array]:
        """The first vertex, and the arrays."""
        return np.int64(self.start), self.offsets, self.targets, self.weights


class RowBlocks:
    """Reads blocks; ``no_weights`` stands in for the weights if there are none."""

    def __init__(self, reader: RowReader, prefix: str, no_weights: Array) -> None:
        self._reader, self._prefix, self._no_weights = reader, prefix, read_only(no_weights)
        self._offsets, self._paged = reader.offsets[prefix], reader.paged(prefix)
        self.most_rows, arcs = block_size(len(self._offsets) - 1, int(self._offsets[-1]))
        ranges = row_ranges(self._offsets, arcs, self.most_rows)
        self._bounds = np.array([0, *(last for _, last in ranges)], dtype=np.int64)

    @property
    def count(self) -> int:
        """The number of blocks."""
        return len(self._bounds) - 1

    @property
    def longest(self) -> int:
        """The most arcs of a block."""
        return int(np.diff(self._offsets[self._bounds].astype(OFFSET)).max(initial=0))

    def arcs_from(self, block: int) -> int:
        """The number of arcs of a block and all after it."""
        return int(self._offsets[-1]) - int(self._offsets[self._bounds[block]])

    def read(self, first: int = 0) -> Iterator[RowBlock]:
        """Yield the blocks from one on that have arcs, while pages are read ahead."""
        todo = list(self._ranges(range(first, self.count), None))
        wanted = self._pages(todo, None)
        self._reader.count(self._prefix, wanted)
        yield from self._read(todo, wanted)

    def read_in(self, order: Array, flags: Array | None = None) -> Iterator[RowBlock]:
        """Yield blocks that have arcs in another order.

        ``flags``: only rows of vertices that now have a flag, and arcs; the rows of others between them are invalid.
        """
        todo = list(self._ranges(order.tolist(), flags))
        self._reader.count(self._prefix, self._pages(todo, flags))
        for one in todo:
            yield from self._read([one], self._pages([one], flags))

    def _read(self, todo: list[_Range], wanted: Array) -> Iterator[RowBlock]:
        rows, columns, done, held = self._paged, self._columns, 0, list[Array]()
        for window in self._reader.windows(self._prefix, wanted):
            low, high = window.first * rows.page_arcs, window.last * rows.page_arcs
            while done < len(todo):
                number, start, stop = todo[done]
                begin, end = int(self._offsets[start]), int(self._offsets[stop])
                if begin >= high:
                    break
                if low <= begin and end <= high:
                    own = [column[begin:end] for column in columns]
                else:  # a window boundary cuts the block
                    if low <= begin:
                        held = [np.empty(end - begin, column.dtype) for column in columns]
                    from_, to = max(begin, low), min(end, high)
                    for column, values in zip(columns, held, strict=True):
                        values[from_ - begin : to - begin] = column[from_:to]
                    own = held
                if end > high:
                    break
                yield self._block(number, start, stop, own)
                done += 1

    @property
    def _columns(self) -> list[Array]:
        rows = self._paged
        return [rows.targets] if rows.weights is None else [rows.targets, rows.weights]

    def _block(self, number: int, start: int, stop: int, columns: list[Array]) -> RowBlock:
        own = self._offsets[start : stop + 1].astype(OFFSET)
        own -= own[0]
        weights = columns[1] if len(columns) > 1 else self._no_weights
        return RowBlock(number, start, read_only(own), read_only(columns[0]), read_only(weights))

    def _ranges(self, numbers: Iterable[int], flags: Array | None) -> Iterator[_Range]:
        """Blocks with arcs: their numbers, and their vertices, from the first to the last that has a flag."""
        for number in numbers:
            start, stop = self._bounds[number : number + 2].tolist()
            if flags is not None:
                chosen = np.flatnonzero(flags[start:stop])
                if not len(chosen):
                    continue
                start, stop = start + int(chosen[0]), start + int(chosen[-1]) + 1
            if self._offsets[start] < self._offsets[stop]:
                yield number, start, stop

    def _pages(self, todo: list[_Range], flags: Array | None) -> Array:
        """A mask of the required pages."""
        size = self._paged.page_arcs
        changes = np.zeros(self._paged.num_pages + 1, dtype=np.int32)
        for _, start, stop in todo:
            if flags is None:
                begins, ends = self._offsets[[start]].astype(OFFSET), self._offsets[[stop]].astype(OFFSET)
            else:
                chosen = start + np.flatnonzero(flags[start:stop])
                begins, ends = self._offsets[chosen].astype(OFFSET), self._offsets[chosen + 1].astype(OFFSET)
            np.add.at(changes, begins // size, 1)
            np.add.at(changes, (ends - 1) // size + 1, -1)
        wanted: Array = np.cumsum(changes[:-1]) > 0
        return wanted
