"""The bytes of a store (``.drm``): one page of header, then the arrays of the graph as they are in memory.

::

    0      header page: prelude, counts, flags, section table, zeros   (checksummed as a whole)
    4096   offsets, targets, weights, transpose_…, labels_…           (each at a multiple of 4096; zeros between)
    ...    checksum table: one CRC-32 per chunk, section by section    (itself checksummed, by the header)

Version 2 adds packed targets: their sections have a type of their own, ``i4.packs`` or ``i8.packs``, an index in
``packs``, and the header states how many arcs a pack has. A store without them is still written as version 1.

The prelude keeps its shape in all future versions, so that a reader can tell a newer file from a damaged one. Numbers
are in the byte order of the machine that wrote the file, and a mark states which that is.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from dromos.graph.graph import Flags

__all__ = [
    "ALIGNMENT",
    "CHECKSUM",
    "CHUNK_BYTES",
    "DTYPES",
    "MAGIC",
    "PACKED",
    "SECTION_NAMES",
    "UNKNOWN",
    "VERSION",
    "Header",
    "Section",
    "aligned",
    "flag_bytes",
]

MAGIC = b"\x89DRM\r\n\x1a\n"  # a byte over 127 and both line ends: a transfer in text mode breaks it visibly
VERSION = 2
"""The newest version that can be read. A file is written with the oldest version that can hold it."""
ALIGNMENT = 4096
CHUNK_BYTES = 16 << 10  # the smallest first read from disk, since a chunk is checked as a whole
CHECKSUM = np.dtype(np.uint32)

SECTION_NAMES = (
    "offsets",
    "targets",
    "weights",
    "transpose_offsets",
    "transpose_targets",
    "transpose_weights",
    "labels",
    "labels_utf8",
    "labels_offsets",
    "packs",
    "transpose_packs",
)

UNKNOWN = 2
DTYPES: dict[bytes, np.dtype[Any]] = {name.encode(): np.dtype(name) for name in ("i4", "i8", "f4", "f8", "u1")}
_DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
PACKED = b".packs"


@dataclass(frozen=True)
class Section:
    """Where an array lies in the file."""

    name: str
    dtype: np.dtype[Any]
    offset: int
    nbytes: int
    packed: bool = False
    """Whether the entries are packed (:mod:`dromos.graph.store.packs`); ``dtype`` is their type when unpacked."""

    @property
    def end(self) -> int:
        """The first byte after the array."""
        return self.offset + self.nbytes

    @property
    def items(self) -> int:
        """The number of entries of an array that is not packed."""
        return self.nbytes // self.dtype.itemsize

    @property
    def type_name(self) -> bytes:
        """The name of the type in the file."""
        return _DTYPE_NAMES[self.dtype] + (PACKED if self.packed else b"")


@dataclass(frozen=True)
class Header:
    """The contents of the first page of a store."""

    num_vertices: int
    num_arcs: int
    num_edges: int
    flags: Flags
    sections: tuple[Section, ...]
    checksums_offset: int
    checksums_crc: int
    identity: bytes
    chunk_bytes: int = CHUNK_BYTES
    pack_arcs: int = 0
    """How many arcs a pack holds; 0 if targets are not packed."""

    def section(self, name: str) -> Section | None:
        """The section called ``name``, if the store has it."""
        return next((section for section in self.sections if section.name == name), None)

    def chunks_of(self, section: Section) -> int:
        """How many chunks (and checksums) a section has."""
        return -(-section.nbytes // self.chunk_bytes)

    @property
    def num_chunks(self) -> int:
        """How many checksums the table holds."""
        return sum(self.chunks_of(section) for section in self.sections)

    @property
    def file_bytes(self) -> int:
        """How long the whole file is."""
        return self.checksums_offset + self.num_chunks * CHECKSUM.itemsize

    @property
    def packed(self) -> bool:
        """Whether the targets are packed."""
        return self.pack_arcs > 0

    @property
    def version(self) -> int:
        """The oldest version that can hold such a store."""
        return 2 if self.packed else 1

    def computed_identity(self, checksums: bytes) -> bytes:
        """A digest of everything that makes up the graph; two stores of the same graph and sections share it."""
        digest = blake2b(digest_size=16)
        digest.update(struct.pack("=qq8B", self.num_vertices, self.num_arcs, *flag_bytes(self)))
        for section in self.sections:
            digest.update(struct.pack("=24s8sQ", section.name.encode(), section.type_name, section.nbytes))
        digest.update(checksums)
        return digest.digest()


def aligned(position: int) -> int:
    """The first multiple of the alignment at or after ``position``.

    >>> aligned(1), aligned(4096)
    (4096, 4096)
    """
    return -(-position // ALIGNMENT) * ALIGNMENT


def flag_bytes(header: Header) -> list[int]:
    """The eight bytes of the header with the flags: each no, yes or unknown, then the arcs of a pack, then zeros."""
    flags = header.flags
    states = (flags.directed, flags.symmetric, flags.sorted, flags.parallel_edges, flags.self_loops)
    shift = header.pack_arcs.bit_length() - 1 if header.packed else 0
    return [UNKNOWN if state is None else int(state) for state in states] + [shift, 0, 0]
