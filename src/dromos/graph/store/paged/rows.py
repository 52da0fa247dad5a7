"""The rows of a stored graph in pages: which are in memory, which were checked, and how one is read.

A page is a fixed number of arcs, the same ones of the targets and of the weights, cut so that it begins and ends with a
disk block in both sections. A *block* is a run of pages that holds whole chunks of every section: the least that can be
compared with the store's checksums. The first read of a block in a run brings in all of it and checks it; what is read
of it again later is single pages. They are compared with fingerprints that were taken of the checked block, so a disk
that answers otherwise the second time is found too.

Targets that the store has packed are unpacked where they are read; a page is a whole number of packs then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError, FileError, InvalidArgumentError
from dromos.graph.store.checksums import piece_checksums
from dromos.graph.store.layout import ALIGNMENT, Header, Section, aligned
from dromos.graph.store.packs import PackIndex
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.memory import SparseMemory
from dromos.graph.store.paged.packed import PackedSection

__all__ = ["PAGE_BYTES", "PagedRows", "Request", "checksums_of", "fingerprints"]

PAGE_BYTES = 16 << 10
"""The size of a page of targets unless it is chosen; larger where there would be more than a million of them."""
_MOST_PAGES = 1 << 20
_MIXING = 0x9E3779B97F4A7C16


class Request(NamedTuple):
    """Pages ``first..last`` (the last not included) to be read together."""

    first: int
    last: int


class _PagedSection:
    """One section, its checksums, and the addresses for its bytes."""

    def __init__(self, section: Section, checksums: Array, chunk_bytes: int, page_arcs: int) -> None:
        self.section, self.checksums, self.chunk_bytes = section, checksums, chunk_bytes
        self.page_bytes = page_arcs * section.dtype.itemsize
        self.memory = SparseMemory(section.nbytes)
        self.array: Array = self.memory.bytes[: section.nbytes].view(section.dtype)
        self.prints = np.zeros(-(-section.nbytes // self.page_bytes), dtype=np.uint64)
        piece_checksums(self.memory.bytes[:0], np.zeros(2, dtype=np.int64))  # compiles here, where Ctrl-C is seen

    @property
    def table_bytes(self) -> int:
        return self.prints.nbytes

    def bytes_of(self, request: Request) -> int:
        return min(request.last * self.page_bytes, self.section.nbytes) - request.first * self.page_bytes

    def file_bytes(self, pages: Array) -> int:
        return len(pages) * self.page_bytes

    def buffer_bytes(self, pages: int) -> int:
        return 0  # read to where it is used

    def piece(self, request: Request) -> tuple[memoryview, int]:
        """Where the bytes of pages go, and where they lie in the file."""
        begin, end = request.first * self.page_bytes, aligned(min(request.last * self.page_bytes, self.section.nbytes))
        return self.memory.view(begin, end), self.section.offset + begin

    def read(self, source: ByteSource, request: Request) -> None:
        try:
            source.read_into(*self.piece(request))
        except FileError as error:
            pages = f"section {self.section.name}, pages {request.first:,}..{request.last - 1:,}"
            raise type(error)(f"{pages}: {error.message}", path=error.path) from error

    def check(self, source: ByteSource, request: Request) -> None:
        """Compare the chunks of whole blocks with their checksums."""
        begin = request.first * self.page_bytes
        end = min(request.last * self.page_bytes, self.section.nbytes)
        first, last = begin // self.chunk_bytes, -(-end // self.chunk_bytes)
        bounds = np.minimum(np.arange(first, last + 1) * self.chunk_bytes, self.section.nbytes)
        found = piece_checksums(self.memory.bytes[begin : bounds[-1]], bounds - begin)
        wrong = np.flatnonzero(found != self.checksums[first:last])
        if len(wrong):
            low, high = bounds[wrong[0] : wrong[0] + 2].tolist()
            at = self.section.offset
            raise CorruptFileError(
                f"section {self.section.name}, pages {low // self.page_bytes:,}..{(high - 1) // self.page_bytes:,} "
                f"(bytes {at + low:,}..{at + high:,}) fail their checksum: the file is damaged; write or copy it "
                "again",
                path=source.path,
            )  # fmt: skip

    def keep_prints(self, request: Request) -> None:
        """Take the fingerprints of pages that were compared with their checksums."""
        self.prints[request.first : request.last] = self._prints_of(request)

    def compare_prints(self, source: ByteSource, request: Request) -> None:
        """Compare pages that are read again with what they were the first time."""
        wrong = np.flatnonzero(self._prints_of(request) != self.prints[request.first : request.last])
        if len(wrong):
            page = request.first + int(wrong[0])
            low = self.section.offset + page * self.page_bytes
            raise CorruptFileError(
                f"section {self.section.name}, page {page:,} (bytes {low:,}.."
                f"{min(low + self.page_bytes, self.section.end):,}) is not what it was when it was read and checked "
                "before: the disk or the file is damaged; write or copy it again",
                path=source.path,
            )

    def _prints_of(self, request: Request) -> Array:
        begin, end = request.first * self.page_bytes, min(request.last * self.page_bytes, self.section.nbytes)
        return fingerprints(self.memory.bytes[begin:end], self.page_bytes)

    def check_targets(self, source: ByteSource, request: Request, num_vertices: int) -> None:
        """A target beyond the vertices would be an address beyond the fields: looked for in all that is read."""
        page_arcs = self.page_bytes // self.array.itemsize
        begin, end = request.first * page_arcs, min(request.last * page_arcs, len(self.array))
        ids = self.array[begin:end].view(np.dtype(f"u{self.array.itemsize}"))  # one below 0 is then a great one
        if ids.size and int(ids.max()) >= num_vertices:
            at = begin + int(np.argmax(ids >= num_vertices))
            byte = self.section.offset + at * self.array.itemsize
            raise CorruptFileError(
                f"section {self.section.name}, page {at // page_arcs:,}, byte {byte:,}: target {self.array[at]} is not "
                f"in 0..{num_vertices - 1}; the file is damaged; write or copy it again",
                path=source.path,
            )

    def drop(self, request: Request) -> None:
        self.memory.drop(request.first * self.page_bytes, min(request.last * self.page_bytes, len(self.memory.bytes)))


class PagedRows:
    """The targets (and weights) of one direction of a stored graph."""

    def __init__(
        self,
        header: Header,
        checksums: Array,
        *,
        prefix: str = "",
        weights: bool = True,
        page_bytes: int | None = None,
        packs: PackIndex | None = None,
    ) -> None:
        names = [f"{prefix}targets", *([f"{prefix}weights"] if weights else [])]
        sections = [section for name in names if (section := header.section(name)) is not None]
        self.num_vertices, self.num_arcs = header.num_vertices, header.num_arcs
        sizes = [section.dtype.itemsize for section in sections]
        self.page_arcs = max(_page_arcs(page_bytes, self.num_arcs, sizes), header.pack_arcs)
        self.arc_bytes = sum(sizes)
        self.page_bytes = self.page_arcs * self.arc_bytes
        """What a page takes in memory: its targets and its weights."""
        self.num_pages = -(-self.num_arcs // self.page_arcs)
        chunked = [section.dtype.itemsize for section in sections if not section.packed]
        self.block_pages = math.lcm(*(_pages_of_chunk(header.chunk_bytes, self.page_arcs * size) for size in chunked))
        self.block_pages = max(1, min(self.block_pages, self.num_pages))
        self._sections = [
            PackedSection(section, packs, self.num_arcs, self.num_vertices, self.page_arcs)
            if section.packed and packs is not None
            else _PagedSection(section, checksums_of(header, checksums, section), header.chunk_bytes, self.page_arcs)
            for section in sections
        ]
        self.resident = np.zeros(self.num_pages, dtype=bool)
        """The pages in memory, each checked. Written by who plans the reads, when a request has been served."""
        self._checked = np.zeros(-(-self.num_pages // self.block_pages), dtype=bool)

    @property
    def targets(self) -> Array:
        """All targets; only those on resident pages are real, the others read as 0."""
        return self._sections[0].array

    @property
    def weights(self) -> Array | None:
        """All weights, in the same way; None if there are none, or they were not asked for."""
        return self._sections[1].array if len(self._sections) > 1 else None

    @property
    def target_dtype(self) -> np.dtype[Any]:
        """The type of an id."""
        return self._sections[0].section.dtype

    @property
    def table_bytes(self) -> int:
        """What the tables about the pages take in memory."""
        sections = sum(section.table_bytes for section in self._sections)
        return self.resident.nbytes + self._checked.nbytes + sections

    def buffer_bytes(self, pages: int) -> int:
        """What a request of up to so many pages takes in memory beside the pages, while packs are unpacked."""
        return sum(section.buffer_bytes(pages) for section in self._sections)

    def bytes_of(self, request: Request) -> int:
        """What a request reads: the last page of all may be shorter than the others."""
        return sum(section.bytes_of(request) for section in self._sections)

    def missing_bytes(self, wanted: Array) -> int:
        """What it takes to have all ``wanted`` pages (a mask) there, about."""
        pages = np.flatnonzero(self.missing(wanted))
        return sum(section.file_bytes(pages) for section in self._sections)

    def missing(self, wanted: Array) -> Array:
        """The pages to read so that all ``wanted`` ones (a mask) are there: whole blocks where none was checked yet."""
        missing: Array = wanted & ~self.resident
        unchecked = np.zeros(len(self._checked), dtype=bool)
        unchecked[np.flatnonzero(missing) // self.block_pages] = True
        unchecked &= ~self._checked
        missing |= np.repeat(unchecked, self.block_pages)[: self.num_pages]
        return missing

    def expect(self, request: Request) -> None:
        """Be told that pages, and none beside them, will be read. For the thread that asks for them."""
        for section in self._sections:
            end = min(request.last * section.page_bytes, len(section.memory.bytes))
            section.memory.expect(request.first * section.page_bytes, end)

    def read(self, source: ByteSource, request: Request) -> None:
        """Read pages and check them; afterwards they may be marked as resident. For any thread."""
        for section in self._sections:
            section.read(source, request)
        self.check(source, request)

    def pieces(self, request: Request) -> list[tuple[memoryview, int]]:
        """Buffers, and their positions in the file, for who reads by other means; none where pages are packed.

        When they are filled, :meth:`check` is to be called.
        """
        plain = [section for section in self._sections if isinstance(section, _PagedSection)]
        return [section.piece(request) for section in plain] if len(plain) == len(self._sections) else []

    def check(self, source: ByteSource, request: Request) -> None:
        """Check pages that were read."""
        first, last = request.first // self.block_pages, -(-request.last // self.block_pages)
        known = self._checked[first:last]
        turns = first + 1 + np.flatnonzero(known[1:] != known[:-1])
        for begin, end in pairwise([first, *turns.tolist(), last]):  # runs of blocks that are all known, or all new
            pages = Request(max(begin * self.block_pages, request.first), min(end * self.block_pages, request.last))
            for section in self._sections:
                if self._checked[begin]:
                    section.compare_prints(source, pages)
                else:
                    section.check(source, pages)
                    section.keep_prints(pages)
        self._checked[first:last] = True
        self._sections[0].check_targets(source, request, self.num_vertices)

    def drop(self, request: Request) -> None:
        """Give the memory of pages back. For the thread that marks pages as resident, after it has unmarked them."""
        for section in self._sections:
            section.drop(request)


def fingerprints(data: Array, page_bytes: int) -> Array:
    """A word for each page of ``data`` (bytes; the last page may be shorter), much quicker than a checksum.

    It is made of the exclusive or and the sum of the words of a page. A bit that was flipped always changes it, and so
    does a page from elsewhere but once in 2^64; words that changed places within a page do not.

    >>> fingerprints(np.array([1, 0, 0, 0, 0, 0, 0, 0, 2], dtype=np.uint8), 8)[0] == np.uint64(1 + _MIXING)
    np.True_
    """
    full = len(data) // page_bytes
    pages = data[: full * page_bytes].view(np.uint64).reshape(full, page_bytes // 8)
    found = _mixed(pages)
    if full * page_bytes == len(data):
        return found
    padded = np.zeros(page_bytes, dtype=np.uint8)
    padded[: len(data) - full * page_bytes] = data[full * page_bytes :]
    return np.append(found, _mixed(padded.view(np.uint64).reshape(1, -1)))


def _mixed(pages: Array) -> Array:
    # an even factor: a flipped bit k changes the first by 2^k and the other by an even number of them
    mixed: Array = np.bitwise_xor.reduce(pages, axis=1) + np.uint64(_MIXING) * np.add.reduce(pages, axis=1)
    return mixed


def _page_arcs(page_bytes: int | None, num_arcs: int, sizes: Sequence[int]) -> int:
    """The arcs of a page, such that it is a whole number of disk blocks in every section."""
    least = ALIGNMENT // min(sizes)
    if page_bytes is None:
        page_bytes = PAGE_BYTES
        while num_arcs * sizes[0] > page_bytes * _MOST_PAGES:
            page_bytes *= 2
    if page_bytes < ALIGNMENT or page_bytes & (page_bytes - 1):
        raise InvalidArgumentError(f"page_bytes={page_bytes} is not a power of two from {ALIGNMENT} on")
    return max(least, page_bytes // sizes[0])


def _pages_of_chunk(chunk_bytes: int, page_bytes: int) -> int:
    """The least number of pages that is a whole number of chunks."""
    return math.lcm(chunk_bytes, page_bytes) // page_bytes


def checksums_of(header: Header, checksums: Array, section: Section) -> Array:
    """The part of the checksum table that belongs to a section."""
    first = 0
    for other in header.sections:
        if other is section:
            return checksums[first : first + header.chunks_of(section)]
        first += header.chunks_of(other)
    raise FileError(f"the store has no section {section.name}")
