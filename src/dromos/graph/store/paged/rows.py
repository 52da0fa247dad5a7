"""The rows of a stored graph in pages: which are in memory, which were checked, and how to read one.

A page is a fixed number of arcs, the same arcs for the targets and the weights, cut so that it begins and ends on a
disk block in both sections. A *block* is a run of pages that holds whole chunks of every section: the smallest unit
that can be compared with the store's checksums. The first read of a block in a run reads and checks all of it. Later
reads fetch single pages and compare them with fingerprints taken of the checked block, so that a disk that returns
different data the second time is noticed too.

Packed targets are unpacked where they are read; a page is then a whole number of packs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dromos.dtypes import Array
from dromos.errors import FileError, InvalidArgumentError
from dromos.graph.store.layout import ALIGNMENT, Header, Section
from dromos.graph.store.packs import PackIndex
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.packed import PackedSection
from dromos.graph.store.paged.section import PagedSection, Request

if TYPE_CHECKING:
    from dromos.graph.store.paged.slots import Slot

__all__ = ["PAGE_BYTES", "PagedRows", "Request", "checksums_of"]

PAGE_BYTES = 16 << 10
"""The default size of a page of targets; larger if there would be more than a million pages."""
_MOST_PAGES = 1 << 20


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
        self.prefix, self.num_vertices, self.num_arcs = prefix, header.num_vertices, header.num_arcs
        sizes = [section.dtype.itemsize for section in sections]
        self.page_arcs = max(_page_arcs(page_bytes, self.num_arcs, sizes), header.pack_arcs)
        self.arc_bytes = sum(sizes)
        self.page_bytes = self.page_arcs * self.arc_bytes
        """Bytes of a page in memory: its targets and its weights."""
        self.num_pages = -(-self.num_arcs // self.page_arcs)
        chunked = [section.dtype.itemsize for section in sections if not section.packed]
        self.block_pages = math.lcm(*(_pages_of_chunk(header.chunk_bytes, self.page_arcs * size) for size in chunked))
        self.block_pages = max(1, min(self.block_pages, self.num_pages))
        self.sections = [
            PackedSection(section, packs, self.num_arcs, self.num_vertices, self.page_arcs)
            if section.packed and packs is not None
            else PagedSection(section, checksums_of(header, checksums, section), header.chunk_bytes, self.page_arcs)
            for section in sections
        ]
        self.resident = np.zeros(self.num_pages, dtype=bool)
        """The pages in their places, each checked. Written by the thread that plans the reads, once a request is
        served."""
        self.checked = np.zeros(-(-self.num_pages // self.block_pages), dtype=bool)
        self.slot: Slot | None = None
        """Where the pages of the current window are, if not in their places."""

    @property
    def targets(self) -> Array:
        """All targets; only those on resident pages are valid, the others read as 0."""
        return self.sections[0].array

    @property
    def weights(self) -> Array | None:
        """All weights, likewise; None if there are none or they were not requested."""
        return self.sections[1].array if len(self.sections) > 1 else None

    def columns(self, begin: int, end: int) -> list[Array]:
        """The targets, and the weights if there are any, of the arcs ``begin..end`` of the current window."""
        if self.slot is not None:
            return self.slot.columns(self, begin, end)
        return [section.array[begin:end] for section in self.sections]

    @property
    def table_bytes(self) -> int:
        """Bytes of the tables about the pages."""
        sections = sum(section.table_bytes for section in self.sections)
        return self.resident.nbytes + self.checked.nbytes + sections

    def buffer_bytes(self, pages: int) -> int:
        """Buffer bytes, in addition to the pages, for unpacking a request of up to ``pages`` pages."""
        return sum(section.buffer_bytes(pages) for section in self.sections)

    def bytes_of(self, request: Request) -> int:
        """Bytes that a request reads: the very last page may be shorter than the others."""
        return sum(section.bytes_of(request) for section in self.sections)

    def missing_bytes(self, wanted: Array) -> int:
        """Approximate bytes to read so that all ``wanted`` pages (a mask) are resident."""
        pages = np.flatnonzero(self.missing(wanted))
        return sum(section.file_bytes(pages) for section in self.sections)

    def missing(self, wanted: Array) -> Array:
        """The pages to read so that all ``wanted`` ones (a mask) are resident: whole blocks if not checked before."""
        missing: Array = wanted & ~self.resident
        unchecked = np.zeros(len(self.checked), dtype=bool)
        unchecked[np.flatnonzero(missing) // self.block_pages] = True
        unchecked &= ~self.checked
        missing |= np.repeat(unchecked, self.block_pages)[: self.num_pages]
        return missing

    def serve(self, asked: Sequence[Request], slot: Slot | None) -> None:
        """Record that pages were read and checked. For the thread that plans the reads."""
        self.slot = slot
        for first, last in asked:
            self.resident[first:last] = slot is None
            self.checked[first // self.block_pages : -(-last // self.block_pages)] = True

    def expect(self, request: Request) -> None:
        """Announce that exactly these pages will be read. For the thread that requests them."""
        for section in self.sections:
            end = min(request.last * section.page_bytes, len(section.memory.bytes))
            section.memory.expect(request.first * section.page_bytes, end)

    def read(self, source: ByteSource, request: Request) -> None:
        """Read and check pages; afterwards they may be marked as resident. For any thread."""
        for section in self.sections:
            section.read(source, request)
        self.check(source, request)

    def pieces(self, request: Request) -> list[tuple[memoryview, int]]:
        """Buffers and their positions in the file, for readers that fill them themselves; none if pages are packed.

        Call :meth:`check` once they are filled.
        """
        plain = [section for section in self.sections if isinstance(section, PagedSection)]
        return [section.piece(request) for section in plain] if len(plain) == len(self.sections) else []

    def check(self, source: ByteSource, request: Request) -> None:
        """Check pages that were read."""
        first, last = request.first // self.block_pages, -(-request.last // self.block_pages)
        known = self.checked[first:last]
        turns = first + 1 + np.flatnonzero(known[1:] != known[:-1])
        for begin, end in pairwise([first, *turns.tolist(), last]):  # runs of blocks that are all known, or all new
            pages = Request(max(begin * self.block_pages, request.first), min(end * self.block_pages, request.last))
            for section in self.sections:
                if self.checked[begin]:
                    section.compare_prints(source, pages)
                else:
                    section.check(source, pages)
                    section.keep_prints(pages)
        self.checked[first:last] = True
        self.sections[0].check_targets(source, request, self.num_vertices)

    def drop_pages(self, request: Request) -> None:
        """Release the memory of some pages, which are not marked as resident. For any thread."""
        self.drop(np.array([request.first]), np.array([request.last]))

    def drop(self, firsts: Array, lasts: Array, *, compiled: bool = False) -> None:
        """Release the memory of the pages ``firsts[i]..lasts[i]``.

        For the thread that marks pages as resident, after it has unmarked them.
        """
        for section in self.sections:
            section.drop(firsts, lasts, compiled=compiled)


def _page_arcs(page_bytes: int | None, num_arcs: int, sizes: Sequence[int]) -> int:
    """The number of arcs per page, such that a page is a whole number of disk blocks in every section."""
    least = ALIGNMENT // min(sizes)
    if page_bytes is None:
        page_bytes = PAGE_BYTES
        while num_arcs * sizes[0] > page_bytes * _MOST_PAGES:
            page_bytes *= 2
    if page_bytes < ALIGNMENT or page_bytes & (page_bytes - 1):
        raise InvalidArgumentError(f"page_bytes={page_bytes} is not a power of two of {ALIGNMENT} or more")
    return max(least, page_bytes // sizes[0])


def _pages_of_chunk(chunk_bytes: int, page_bytes: int) -> int:
    """The smallest number of pages that is a whole number of chunks."""
    return math.lcm(chunk_bytes, page_bytes) // page_bytes


def checksums_of(header: Header, checksums: Array, section: Section) -> Array:
    """The part of the checksum table that belongs to a section."""
    first = 0
    for other in header.sections:
        if other is section:
            return checksums[first : first + header.chunks_of(section)]
        first += header.chunks_of(other)
    raise FileError(f"the store has no section {section.name}")
