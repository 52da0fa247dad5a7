"""In-rows that have no room in memory, sorted as :mod:`dromos.engines.cpu.arc_blocks` does, in a file of their own.

The pages of a store come in the order of rows, and a gather along them waits for memory at nearly every arc. Arcs in
blocks and tiles are gathered two to four times as fast, and take fewer bytes. So a run that pulls along all rows again
and again sorts each window of pages once, and writes what comes of it to a scratch file; later pulls read that. Where
the file cannot be written, or gives something else than was written, the run goes on with the pages of the store.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.sorted_slice import SortedSlice
from dromos.graph.store.layout import aligned
from dromos.graph.store.paged.memory import SparseMemory
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.paged.pool import Batch, ReadPool
from dromos.places.stream.scratch_file import Extent, ScratchFile

__all__ = ["BUFFERS", "SpilledRows"]

BUFFERS: Final = 4
"""Of the size of a slice: one is computed on while the others are read."""
_WRITERS: Final = 4
# by falling size of their entries, so that each begins where its type may
_COLUMNS: Final = (
    "word_starts", "long_starts", "segment_starts", "words", "segment_rows", "segment_ends", "long_sources",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Spilled:
    """A slice in the file: itself without columns, the first page with later rows, how long the columns are, and where
    they lie."""

    piece: SortedSlice
    page: int
    lengths: tuple[int, ...]
    extent: Extent

    def filled(self, data: Array) -> SortedSlice:
        """The slice, with its columns in ``data``."""
        assert self.piece.blocks is not None
        columns, at = {}, 0
        for name, length in zip(_COLUMNS, self.lengths, strict=True):
            dtype = getattr(self.piece.blocks, name).dtype
            columns[name] = data[at : at + length * dtype.itemsize].view(dtype)
            columns[name].flags.writeable = False
            at += length * dtype.itemsize
        return replace(self.piece, blocks=replace(self.piece.blocks, **columns))


class SpilledRows:
    """Sorted slices of all rows, one behind the other.

    Args:
        pager: whose threads read, and which counts bytes and the time that is waited for them.
        file: for the slices.
        room: bytes for those that are read, and for as many as can stay in memory.
    """

    def __init__(self, pager: Pager, file: ScratchFile, room: int) -> None:
        self._pager, self._file, self._room = pager, file, room
        self._slices: list[_Spilled] = []
        self._free: list[Array] = []
        self._resident: list[Array] = []  # of the first slices
        self._writers, self._writing = ReadPool(_WRITERS), Batch(0)
        self._copy = np.zeros(0, np.uint8)

    def append(self, piece: SortedSlice, page: int) -> None:
        """Write a slice behind the others, while the caller goes on; ``page`` is the first one with later rows.

        An OSError may be that of the slice before.
        """
        self._writing.wait()
        blocks = piece.blocks
        assert blocks is not None
        columns = [getattr(blocks, name) for name in _COLUMNS]
        size = aligned(sum(column.nbytes for column in columns))
        if size > len(self._copy):
            self._copy = np.zeros(0, np.uint8)  # so that there are not two
            self._copy = _buffer(size)
        at = 0
        for column in columns:
            self._copy[at : at + column.nbytes] = column.view(np.uint8)
            at += column.nbytes
        nothing: dict[str, Any] = {
            name: np.empty(0, column.dtype) for name, column in zip(_COLUMNS, columns, strict=True)
        }
        without = replace(blocks, **nothing)  # no views: they would keep the memory of the columns
        extent = self._file.extent(size)
        self._slices.append(_Spilled(replace(piece, blocks=without), page, tuple(map(len, columns)), extent))
        self._writing = self._file.submit_write(self._writers, extent, self._copy[:size])

    def finish(self) -> None:
        """All slices were appended; an OSError is that of the last one."""
        self._writing.wait()
        self._writers.close()
        self._copy = np.zeros(0, np.uint8)

    def slices(self) -> Iterator[tuple[SortedSlice, int]]:
        """All slices, each with the first page of later rows; the last ones lack where the file is not as written."""
        size = max((spilled.extent.nbytes for spilled in self._slices), default=0)
        stay = max(self._room // max(size, 1) - BUFFERS, 0)
        while len(self._free) < BUFFERS:
            self._free.append(_buffer(size))
        todo = deque(range(len(self._resident), len(self._slices)))
        flying: deque[tuple[Array, Batch, Array]] = deque()
        for number, spilled in enumerate(self._slices):
            while todo and self._free:
                extent, into = self._slices[todo.popleft()].extent, self._free.pop()
                flying.append((into, *self._file.submit(self._pager.pool, extent, into)))
                self._pager.bytes_read += extent.nbytes
            if number < len(self._resident):
                yield spilled.filled(self._resident[number]), spilled.page
                continue
            data, batch, failed = flying.popleft()
            with self._pager.waiting:
                batch.wait()
            if failed[0]:
                for _, others, _ in flying:
                    others.wait()
                return
            yield spilled.filled(data), spilled.page
            if number == len(self._resident) and number < stay:
                self._resident.append(data)
                self._free.append(_buffer(size))
            else:
                self._free.append(data)

    def close(self) -> None:
        """Give memory and disk space back; nobody reads any more."""
        self._writers.close()
        self._free.clear()
        self._resident.clear()
        self._file.close()


def _buffer(nbytes: int) -> Array:
    """Memory that begins with a disk block, in huge pages; all of it will be written."""
    memory = SparseMemory(nbytes)
    memory.expect(0, len(memory.bytes))
    return memory.bytes
