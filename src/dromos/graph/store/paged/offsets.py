"""The row offsets of a stored graph in memory: 4 bytes each for fewer than 2^32 arcs, else 8."""

from __future__ import annotations

import mmap
import zlib

import numpy as np

from dromos.dtypes import OFFSET, Array
from dromos.errors import CorruptFileError
from dromos.graph.store.layout import Header, Section, aligned
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.rows import checksums_of

__all__ = ["offset_bytes", "read_offsets", "read_section"]

_PIECE_BYTES = 8 << 20


def offset_bytes(header: Header) -> int:
    """Bytes of the offsets of one direction in memory."""
    return (header.num_vertices + 1) * (4 if header.num_arcs < 1 << 32 else 8)


def read_offsets(source: ByteSource, header: Header, checksums: Array, name: str) -> Array:
    """The offsets, checked against their checksums and to rise from 0 to the number of arcs."""
    section = header.section(name)
    assert section is not None
    offsets = np.empty(section.items, dtype=np.uint32 if header.num_arcs < 1 << 32 else OFFSET)
    read_section(source, header, checksums, section, offsets)
    return offsets


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
