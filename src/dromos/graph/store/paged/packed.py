"""Packed targets in pages: read as stored, checked, and unpacked to the places of their arcs."""

from __future__ import annotations

import contextlib
import mmap
from typing import TYPE_CHECKING

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.errors import CorruptFileError, FileError
from dromos.graph.store.checksums import crc_tables, piece_checksums
from dromos.graph.store.layout import ALIGNMENT, Section, aligned
from dromos.graph.store.packs import PackIndex, gap_mask, unpack
from dromos.graph.store.paged.file import ByteSource, StoreFile
from dromos.graph.store.paged.memory import SparseMemory
from dromos.parallel import run_team

if TYPE_CHECKING:
    from dromos.graph.store.paged.rows import PagedRows
    from dromos.graph.store.paged.section import Request

__all__ = ["PackedSection"]


class PackedSection:
    """A section of packs, and the address space for the unpacked targets.

    Every pack has its own checksum, which is compared at the first read; later reads compare its fingerprint. The bytes
    of the file stay in a buffer only until they are unpacked; each reader thread has one.
    """

    def __init__(self, section: Section, index: PackIndex, num_arcs: int, num_vertices: int, page_arcs: int) -> None:
        self.section, self.index = section, index
        self._num_vertices = num_vertices
        self.page_bytes = page_arcs * section.dtype.itemsize
        self._page_packs = page_arcs // index.pack_arcs
        self.memory = SparseMemory(num_arcs * section.dtype.itemsize)
        self.array: Array = self.memory.bytes[: num_arcs * section.dtype.itemsize].view(section.dtype)
        self._prints = np.zeros(len(index.sums), dtype=np.uint64)
        self._checked = np.zeros(len(index.sums), dtype=bool)
        self._buffers: list[mmap.mmap] = []
        self._unpack(np.empty(0, dtype=np.uint8), 0, 0)  # compile here, where Ctrl-C is handled
        piece_checksums(np.empty(0, dtype=np.uint8), np.zeros(2, dtype=np.int64))

    @property
    def table_bytes(self) -> int:
        """Bytes of the index and the fingerprints in memory."""
        return self.index.nbytes + self._prints.nbytes + self._checked.nbytes

    def bytes_of(self, request: Request) -> int:
        """Bytes that a request reads: whole disk blocks."""
        begin, end = self._bytes(request)
        return aligned(end) - begin // ALIGNMENT * ALIGNMENT

    def file_bytes(self, pages: Array) -> int:
        """Bytes of all ``pages`` in the file."""
        starts = self.index.starts
        last = np.minimum((pages + 1) * self._page_packs, len(starts) - 1)
        return 4 * int((starts[last] - starts[pages * self._page_packs]).sum())

    def buffer_bytes(self, pages: int) -> int:
        """The largest buffer that unpacking a request of ``pages`` pages needs."""
        marks = np.append(self.index.starts[:: self._page_packs], self.index.starts[-1])
        pages = min(pages, len(marks) - 1)
        return 4 * int((marks[pages:] - marks[: len(marks) - pages]).max(initial=0)) + 2 * ALIGNMENT

    def read(self, source: ByteSource, request: Request) -> None:
        """Read pages, compare their checksums, and unpack them. For any thread."""
        begin, end = self._bytes(request)
        low, high = begin // ALIGNMENT * ALIGNMENT, aligned(end)
        buffer = self._buffer(high - low)
        view = memoryview(buffer)
        data, packs = view[begin - low : end - low], self._packs(request)
        try:
            source.read_into(view[: high - low], low)
            known = self._checked[packs[0] : packs[1]].copy()
            self.index.check(data, *packs, self.section, source.path, skip=known)
            prints = self._unpack(np.frombuffer(data, dtype=np.uint8), *packs, source)
            self._recognise(prints, known, packs[0], source)
        except FileError as error:
            name, pages = f"section {self.section.name}, ", f"pages {request.first:,}..{request.last - 1:,}"
            raise type(error)(f"{name}{pages}: {error.message.removeprefix(name)}", path=error.path) from error
        self._buffers.append(buffer)

    def read_many(
        self,
        source: StoreFile,
        worker: int,
        cursor: Array,
        firsts: Array,
        lasts: Array,
        rows: PagedRows,
        outcome: Array,
        into: Array,
        first_page: int,
    ) -> None:
        """See :meth:`dromos.graph.store.paged.section.PagedSection.read_many`."""
        from dromos.graph.store.paged import read_kernels as kernels

        starts = self.index.starts
        last = np.minimum(lasts * self._page_packs, len(self.index.sums))
        longest = 4 * int((starts[last] - starts[firsts * self._page_packs]).max(initial=0))
        buffer = self._buffer(aligned(longest + ALIGNMENT))
        data = np.frombuffer(buffer, dtype=np.uint8)
        run_team(
            kernels.read_packs, worker, cursor, read_only(firsts), read_only(lasts), np.int32(source.descriptor),
            self.section.offset, source.nbytes, self._page_packs, starts, len(self.array), self.index.pack_arcs,
            gap_mask(self._num_vertices), self._num_vertices, data, data.view(np.uint32), first_page,
            into.view(self.array.dtype), self.index.sums, crc_tables(), self._checked.view(np.uint8), self._prints,
            outcome, threads=1,
        )  # fmt: skip
        self._buffers.append(buffer)

    def check(self, *_: object) -> None:
        """Do nothing: :meth:`read` checks every pack, and all targets, at each read."""

    keep_prints = compare_prints = check_targets = check

    def drop(self, firsts: Array, lasts: Array, *, compiled: bool = False) -> None:
        """Release the memory of the pages ``firsts[i]..lasts[i]``."""
        ends = np.minimum(lasts * self.page_bytes, len(self.memory.bytes))
        self.memory.drop_all(firsts * self.page_bytes, ends, compiled=compiled)

    def _unpack(self, data: Array, first: int, last: int, source: ByteSource | None = None) -> Array:
        arcs = self.index.pack_arcs
        return unpack(
            data, self.index, first, last, self.array[first * arcs : last * arcs],
            section=self.section, num_vertices=self._num_vertices, path=None if source is None else source.path,
        )  # fmt: skip

    def _buffer(self, size: int) -> mmap.mmap:
        """A buffer that no other thread uses, at an address suitable for direct reads."""
        with contextlib.suppress(IndexError):  # another thread may take the last one at any time
            if len(buffer := self._buffers.pop()) >= size:
                return buffer
        return mmap.mmap(-1, max(size, ALIGNMENT))

    def _recognise(self, prints: Array, known: Array, first: int, source: ByteSource) -> None:
        """Compare packs that are read again with their fingerprints, and keep the fingerprints of the others."""
        kept = self._prints[first : first + len(prints)]
        wrong = np.flatnonzero(known & (kept != prints))
        if len(wrong):
            number = first + int(wrong[0])
            begin, end = (self.section.offset + 4 * int(at) for at in self.index.starts[number : number + 2])
            raise CorruptFileError(
                f"pack {number:,} (bytes {begin:,}..{end:,}) is not what it was when it was read and checked before: "
                "the disk or the file is damaged; write or copy it again", path=source.path,
            )  # fmt: skip
        kept[~known] = prints[~known]
        self._checked[first : first + len(prints)] = True

    def _packs(self, request: Request) -> tuple[int, int]:
        return request.first * self._page_packs, min(request.last * self._page_packs, len(self.index.sums))

    def _bytes(self, request: Request) -> tuple[int, int]:
        begin, end = (self.section.offset + 4 * int(self.index.starts[pack]) for pack in self._packs(request))
        return begin, end
