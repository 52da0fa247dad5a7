"""In-rows that do not fit in memory, sorted as :mod:`dromos.engines.cpu.arc_blocks` does, in a file of their own.

The pages of a store come in the order of rows, and a gather along them waits for memory at nearly every arc. Arcs in
blocks and tiles are gathered two to four times as fast, and take fewer bytes. So a run that pulls along all rows again
and again sorts each window of pages once, and writes the result to a scratch file; later pulls read that. If the file
cannot be written, or its contents change, the run continues with the pages of the store.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.cpu.arc_blocks import MOST_ROWS
from dromos.engines.cpu.sorted_slice import SortedSlice, sort_slice, sorted_bytes
from dromos.engines.cpu.source_order import SourceOrder, tiles_of_sources
from dromos.graph.slices import GraphSlice
from dromos.graph.store.layout import aligned
from dromos.graph.store.paged.memory import SparseMemory
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.paged.pool import Batch, ReadPool
from dromos.graph.store.paged.section import Request
from dromos.places.stream.scratch_file import Extent, ScratchFile

__all__ = ["SpilledRows", "bytes_beside_arcs"]

_WRITERS: Final = 4
_LINE: Final = 64  # columns are aligned to a cache line
_COLUMNS: Final = (
    "word_starts", "long_starts", "segment_starts", "words", "segment_rows", "segment_ends", "long_sources",
    "row_places",
)  # fmt: skip


class _Arena:
    """Memory for the columns of one slice, contiguous and in the layout of the file."""

    def __init__(self) -> None:
        self._bytes, self._address = np.zeros(0, np.uint8), 0
        self._used = 0

    def clear(self, nbytes: int) -> None:
        """Start over, with room for ``nbytes`` bytes."""
        self._used = 0
        if nbytes > len(self._bytes):
            self._bytes = np.zeros(0, np.uint8)  # frees the old memory before the new is allocated
            self._bytes = _buffer(nbytes)
            self._address = self._bytes.ctypes.data

    def new(self, count: int, dtype: Any) -> Array:
        """An uninitialized array."""
        begin, size = -(-self._used // _LINE) * _LINE, count * np.dtype(dtype).itemsize
        self._used = begin + size
        assert self._used <= len(self._bytes), "columns take more than they can"
        return self._bytes[begin : self._used].view(dtype)

    def copy_of(self, values: Array) -> Array:
        """A copy of the values here; the values themselves if they lie here already."""
        if self._address <= values.ctypes.data < self._address + len(self._bytes):
            return values
        copy = self.new(len(values), values.dtype)
        copy[:] = values
        return copy

    def place_of(self, values: Array) -> int:
        """The offset of an array."""
        return values.ctypes.data - self._address

    @property
    def data(self) -> Array:
        """All allocated bytes, in whole disk blocks."""
        return self._bytes[: aligned(self._used)]


class _Place(NamedTuple):
    """The position of a column in the bytes of its slice."""

    begin: int
    length: int
    dtype: np.dtype[Any]

    def of(self, data: Array) -> Array:
        return read_only(data[self.begin : self.begin + self.length * self.dtype.itemsize].view(self.dtype))


@dataclass(frozen=True, eq=False)
class _Spilled:
    """A slice in the file: itself without columns, the pages of its rows, the columns, and the bytes."""

    piece: SortedSlice
    pages: Request
    places: dict[str, _Place]
    extent: Extent

    def filled(self, data: Array) -> SortedSlice:
        """The slice, with its columns in ``data``."""
        assert self.piece.blocks is not None
        columns: dict[str, Any] = {name: place.of(data) for name, place in self.places.items()}
        return replace(self.piece, blocks=replace(self.piece.blocks, **columns))


class SpilledRows:
    """Consecutive sorted slices of all rows.

    Args:
        pager: its threads read, and it counts the bytes and the time spent waiting for them.
        file: for the slices.
        room: bytes for the slices in memory, of which there are at least two: one is computed on, others are read.
        num_sources: vertices of the graph.
        threads: of the kernels.
        order_for: derives the order of sources in tiles from the first slice.
    """

    def __init__(
        self, pager: Pager, file: ScratchFile, room: int, num_sources: int, threads: int,
        order_for: Callable[[GraphSlice], SourceOrder],
    ) -> None:  # fmt: skip
        self._pager, self._file, self._room = pager, file, room
        self._num_sources, self._threads, self._order_for = num_sources, threads, order_for
        self._order: SourceOrder | None = None
        self._slices: list[_Spilled] = []
        self._free: list[Array] = []
        self._held: dict[int, tuple[Array, Batch, Array]] = {}  # slices that are in memory, or being read
        self._is_back = False
        self._writers, self._writing = ReadPool(_WRITERS), Batch(0)
        self._arena = _Arena()

    def append(self, piece: GraphSlice, pages: Request) -> SortedSlice:
        """Sort a slice, which has these pages, and append it to the file while the caller continues.

        The returned slice is valid until the next call, and the targets of ``piece`` are overwritten. An OSError
        belongs to the previous slice, and is raised before anything is lost.
        """
        self._writing.wait()
        if self._order is None:
            self._order = self._order_for(piece)
        beside = bytes_beside_arcs(self._num_sources, piece.num_vertices, self._threads)
        self._arena.clear(sorted_bytes(piece.num_arcs, self._order) + beside)
        made = sort_slice(piece, self._num_sources, self._threads, self._arena.new, self._order)
        assert made.blocks is not None
        columns = {name: self._arena.copy_of(getattr(made.blocks, name)) for name in _COLUMNS}
        places = {
            name: _Place(self._arena.place_of(column), len(column), column.dtype) for name, column in columns.items()
        }
        nothing: dict[str, Any] = {name: np.empty(0, column.dtype) for name, column in columns.items()}
        without = replace(made, blocks=replace(made.blocks, **nothing))
        extent = self._file.extent(len(self._arena.data))
        spilled = _Spilled(without, pages, places, extent)
        self._slices.append(spilled)
        self._writing = self._file.submit_write(self._writers, extent, self._arena.data)
        return spilled.filled(self._arena.data)

    def finish(self) -> None:
        """Wait for the last write after all slices were appended; an OSError belongs to the last one."""
        self._writing.wait()
        self._writers.close()
        self._arena = _Arena()

    def slices(self) -> Iterator[tuple[SortedSlice, Request]]:
        """All slices, each with its pages; slices are missing if the file has changed.

        Passes alternate between forward and backward: each begins with what the last one has left in memory.
        """
        size = max((spilled.extent.nbytes for spilled in self._slices), default=1)
        while len(self._free) + len(self._held) < min(max(self._room // size, 2), len(self._slices)):
            self._free.append(_buffer(size))
        order = range(len(self._slices))[:: -1 if self._is_back else 1]
        self._is_back = not self._is_back
        todo = deque(number for number in order if number not in self._held)
        for number in order:
            while todo and self._free:
                self._submit(todo.popleft(), self._free.pop())
            data, batch, failed = self._held[number]
            with self._pager.waiting:
                batch.wait()
            if failed[0]:
                for _, others, _ in self._held.values():
                    others.wait()
                return
            yield self._slices[number].filled(data), self._slices[number].pages
            if todo:
                del self._held[number]
                self._free.append(data)

    def _submit(self, number: int, into: Array) -> None:
        extent = self._slices[number].extent
        self._held[number] = into, *self._file.submit(self._pager.pool, extent, into)
        self._pager.bytes_read += extent.nbytes

    def close(self) -> None:
        """Free memory and disk space; there are no reads after this."""
        self._writers.close()
        self._free.clear()
        self._held.clear()
        self._file.close()


def bytes_beside_arcs(num_sources: int, num_rows: int, threads: int) -> int:
    """The most bytes of a slice with this many rows beside its arcs: the starts of tiles, and padding to disk blocks.

    They are so few that they count in the part of a run's memory that does not depend on the graph.

    >>> bytes_beside_arcs(1 << 22, 1 << 17, 2)
    20480
    """
    blocks_at_most = threads + num_rows // MOST_ROWS + 1
    return aligned(3 * 8 * (blocks_at_most * tiles_of_sources(num_sources) + 1) + _LINE * len(_COLUMNS)) + aligned(1)


def _buffer(nbytes: int) -> Array:
    """Memory aligned to a disk block, in huge pages; all of it will be written."""
    memory = SparseMemory(nbytes)
    memory.expect(0, len(memory.bytes))
    return memory.bytes
