"""The row offsets of a stored graph in memory: 4 bytes each for fewer than 2^32 arcs, else 8.

Those of a large file are read by compiled code on several threads, like pages. If anything is wrong with them, they are
read once more by Python, which knows which error to raise.
"""

from __future__ import annotations

import mmap
import os
import zlib
from contextlib import closing
from functools import partial
from typing import Final

import numpy as np

from dromos.dtypes import OFFSET, Array, read_only
from dromos.errors import CorruptFileError
from dromos.graph.store.checksums import crc_tables
from dromos.graph.store.layout import Header, Section, aligned
from dromos.graph.store.paged.file import ByteSource, StoreFile
from dromos.graph.store.paged.pool import READERS, ReadPool
from dromos.graph.store.paged.rows import checksums_of
from dromos.graph.store.paged.ways import way_to_read
from dromos.parallel import run_team

__all__ = ["offset_bytes", "read_offsets", "read_section"]

_PIECE_BYTES: Final = 8 << 20
_THREAD_BYTES: Final = 512 << 10  # that each thread reads at once
_PIECES_PER_THREAD: Final = 4  # with fewer, starting the thread takes longer


def offset_bytes(header: Header) -> int:
    """Bytes of the offsets of one direction in memory."""
    return (header.num_vertices + 1) * (4 if header.num_arcs < 1 << 32 else 8)


def read_offsets(source: ByteSource, header: Header, checksums: Array, name: str) -> Array:
    """The offsets, checked against their checksums and to rise from 0 to the number of arcs."""
    section = header.section(name)
    assert section is not None
    offsets = np.empty(section.items, dtype=np.uint32 if header.num_arcs < 1 << 32 else OFFSET)
    if not _read_by_threads(source, header, checksums_of(header, checksums, section), section, offsets):
        read_section(source, header, checksums, section, offsets)
    return offsets


def _read_by_threads(source: ByteSource, header: Header, sums: Array, section: Section, into: Array) -> bool:
    """Read and check offsets by compiled code; return whether that is possible here, and nothing is wrong."""
    if type(source) is not StoreFile or not hasattr(os, "pread") or way_to_read(source.nbytes) != "compiled":
        return False
    from dromos.graph.store.paged.read_kernels import read_offsets

    piece_bytes = max(_THREAD_BYTES, header.chunk_bytes)
    pieces = -(-section.nbytes // piece_bytes)
    firsts, lasts = np.zeros(pieces, np.int64), np.zeros(pieces, np.int64)
    cursor, failed = np.zeros(1, np.int64), np.zeros(1, np.int64)

    def read(pieces: Array) -> None:
        data = np.frombuffer(mmap.mmap(-1, piece_bytes), np.uint8)  # begins a page, as direct reads require
        run_team(
            read_offsets, cursor, np.int32(source.descriptor), section.offset, section.nbytes, source.nbytes,
            piece_bytes, header.chunk_bytes, data, data.view(OFFSET), crc_tables(), read_only(sums), into, pieces,
            lasts, failed, threads=1,
        )  # fmt: skip

    read(firsts[:0])  # compile here, where Ctrl-C is handled
    cursor[0] = 0
    with closing(ReadPool(min(READERS, -(-pieces // _PIECES_PER_THREAD)))) as pool:
        pool.submit([partial(read, firsts) for _ in range(pool.size)]).wait()
    rising = pieces > 0 and firsts[0] == 0 and lasts[-1] == header.num_arcs and (lasts[:-1] <= firsts[1:]).all()
    return bool(rising and not failed[0])


def read_section(source: ByteSource, header: Header, checksums: Array, section: Section, into: Array) -> None:
    """Read a whole section, piece by piece and checked, into an array of the same or a narrower type.

    Offsets must rise and stay within their bounds; this is checked for each piece before the next is read.
    """
    sums, size = checksums_of(header, checksums, section), header.chunk_bytes
    piece_bytes = aligned(max(1, _PIECE_BYTES // size) * size)
    step = piece_bytes // size * size
    buffer = mmap.mmap(-1, piece_bytes + 4096)
    rising, before = section.name.endswith("offsets"), 0
    for begin in range(0, section.nbytes, step):
        end = min(begin + step, section.nbytes)
        low = (section.offset + begin) // 4096 * 4096
        skip = section.offset + begin - low
        source.read_into(memoryview(buffer)[: aligned(skip + end - begin)], low)
        data = memoryview(buffer)[skip : skip + end - begin]
        for at in range(0, end - begin, size):
            if zlib.crc32(data[at : at + size]) != sums[(begin + at) // size]:
                first = section.offset + begin + at
                raise CorruptFileError(
                    f"section {section.name}, chunk {(begin + at) // size:,} (bytes {first:,}.."
                    f"{min(first + size, section.end):,}) fails its checksum: the file is damaged; write or "
                    "copy it again",
                    path=source.path,
                )
        values = np.frombuffer(data, dtype=section.dtype)
        if rising:
            _check_rising(source, header, section, values, before, begin // section.dtype.itemsize)
            before = int(values[-1])
        into[begin // section.dtype.itemsize : end // section.dtype.itemsize] = values
        del values, data
    if rising and before != header.num_arcs and not section.name.startswith("labels"):
        raise CorruptFileError(
            f"section {section.name} ends with {before:,}; expected {header.num_arcs:,} arcs", path=source.path
        )


def _check_rising(
    source: ByteSource, header: Header, section: Section, values: Array, before: int, position: int
) -> None:
    falls = np.flatnonzero(values[1:] < values[:-1]) + 1
    if int(values[0]) < before or (position == 0 and int(values[0]) != 0):
        falls = np.zeros(1, dtype=np.int64)
    if len(falls):
        at = position + int(falls[0])
        byte = section.offset + at * section.dtype.itemsize
        raise CorruptFileError(
            f"section {section.name}, byte {byte:,}: offset {int(values[falls[0]]):,} of row {at:,} is below the one "
            "before it, or the first is not 0; the file is damaged; write or copy it again",
            path=source.path,
        )
