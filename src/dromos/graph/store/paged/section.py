"""One section of a store in pages: where its bytes go, and how they are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.errors import CorruptFileError, FileError
from dromos.graph.store.checksums import crc_tables, piece_checksums
from dromos.graph.store.layout import Section, aligned
from dromos.graph.store.paged.file import ByteSource, StoreFile
from dromos.graph.store.paged.memory import SparseMemory
from dromos.parallel import run_team

if TYPE_CHECKING:
    from dromos.graph.store.paged.rows import PagedRows

__all__ = ["MIXING", "PagedSection", "Request", "fingerprints"]

MIXING: Final = 0x9E3779B97F4A7C16


class Request(NamedTuple):
    """Pages ``first..last`` (``last`` excluded) to be read together."""

    first: int
    last: int


class PagedSection:
    """One section, its checksums, and the addresses for its bytes."""

    def __init__(self, section: Section, checksums: Array, chunk_bytes: int, page_arcs: int) -> None:
        self.section, self.checksums, self.chunk_bytes = section, checksums, chunk_bytes
        self.page_bytes = page_arcs * section.dtype.itemsize
        self.memory = SparseMemory(section.nbytes)
        self.array: Array = self.memory.bytes[: section.nbytes].view(section.dtype)
        self.prints = np.zeros(-(-section.nbytes // self.page_bytes), dtype=np.uint64)
        piece_checksums(self.memory.bytes[:0], np.zeros(2, dtype=np.int64))  # compile here, where Ctrl-C is handled

    @property
    def table_bytes(self) -> int:
        return self.prints.nbytes

    def bytes_of(self, request: Request) -> int:
        return min(request.last * self.page_bytes, self.section.nbytes) - request.first * self.page_bytes

    def file_bytes(self, pages: Array) -> int:
        return len(pages) * self.page_bytes

    def buffer_bytes(self, pages: int) -> int:
        return 0  # read directly to its final place

    def piece(self, request: Request) -> tuple[memoryview, int]:
        """The buffer for the bytes of some pages, and their position in the file."""
        begin, end = request.first * self.page_bytes, aligned(min(request.last * self.page_bytes, self.section.nbytes))
        return self.memory.view(begin, end), self.section.offset + begin

    def read(self, source: ByteSource, request: Request) -> None:
        try:
            source.read_into(*self.piece(request))
        except FileError as error:
            pages = f"section {self.section.name}, pages {request.first:,}..{request.last - 1:,}"
            raise type(error)(f"{pages}: {error.message}", path=error.path) from error

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
        """Read and check requests ``firsts[i]..lasts[i]`` by compiled code, until ``cursor`` is at their end.

        ``into``: the bytes of the pages from ``first_page`` on.
        """
        from dromos.graph.store.paged import read_kernels as kernels

        ids = into.view(np.dtype(f"u{self.array.itemsize}")) if rows.sections[0] is self else into.view(np.uint32)[:0]
        run_team(
            kernels.read_pages, worker, cursor, read_only(firsts), read_only(lasts), np.int32(source.descriptor),
            self.section.offset, source.nbytes, self.section.nbytes, self.page_bytes, self.chunk_bytes,
            rows.block_pages, first_page, into, into.view(np.uint64), ids, np.uint64(rows.num_vertices),
            read_only(self.checksums), crc_tables(), rows.checked.view(np.uint8), self.prints, outcome, threads=1,
        )  # fmt: skip

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
        """Compare pages that are read again with their first read."""
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
        """Check all targets read: one beyond the vertices would index out of bounds."""
        page_arcs = self.page_bytes // self.array.itemsize
        begin, end = request.first * page_arcs, min(request.last * page_arcs, len(self.array))
        ids = self.array[begin:end].view(np.dtype(f"u{self.array.itemsize}"))  # negative ids become large
        if ids.size and int(ids.max()) >= num_vertices:
            at = begin + int(np.argmax(ids >= num_vertices))
            byte = self.section.offset + at * self.array.itemsize
            raise CorruptFileError(
                f"section {self.section.name}, page {at // page_arcs:,}, byte {byte:,}: target {self.array[at]} is not "
                f"in 0..{num_vertices - 1}; the file is damaged; write or copy it again",
                path=source.path,
            )

    def drop(self, firsts: Array, lasts: Array, *, compiled: bool = False) -> None:
        """Release the memory of the pages ``firsts[i]..lasts[i]``."""
        ends = np.minimum(lasts * self.page_bytes, len(self.memory.bytes))
        self.memory.drop_all(firsts * self.page_bytes, ends, compiled=compiled)


def fingerprints(data: Array, page_bytes: int) -> Array:
    """A word for each page of ``data`` (bytes; the last page may be shorter), much quicker than a checksum.

    It combines the exclusive or and the sum of the words of a page. A flipped bit always changes it, and a page from
    elsewhere has the same one with a chance of 2^-64; words that swap places within a page do not change it.

    >>> fingerprints(np.array([1, 0, 0, 0, 0, 0, 0, 0, 2], dtype=np.uint8), 8)[0] == np.uint64(1 + MIXING)
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
    # an even factor: a flipped bit k changes the first term by 2^k and the second by an even multiple of that
    mixed: Array = np.bitwise_xor.reduce(pages, axis=1) + np.uint64(MIXING) * np.add.reduce(pages, axis=1)
    return mixed
