"""The bytes of a store (``.drm``): one page of header, then the arrays of the graph as they are in memory.

::

    0      header page: prelude, counts, flags, section table, zeros   (checksummed as a whole)
    4096   offsets, targets, weights, transpose_…, labels_…           (each at a multiple of 4096; zeros between)
    ...    checksum table: one CRC-32 a chunk, section after section   (itself checksummed, by the header)

The prelude keeps its shape in every version to come, so that a reader can tell a newer file from a damaged one. The
numbers are in the byte order of the machine that wrote the file, and a mark says which that was.
"""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from dromos.dtypes import OFFSET, WEIGHT_DTYPES, id_dtype
from dromos.errors import CorruptFileError, UnsupportedFormatError
from dromos.graph.graph import Flags

__all__ = [
    "ALIGNMENT",
    "CHUNK_BYTES",
    "MAGIC",
    "SECTION_NAMES",
    "VERSION",
    "Header",
    "Section",
    "aligned",
    "pack_header",
    "unpack_header",
]

MAGIC = b"\x89DRM\r\n\x1a\n"  # a byte over 127 and both line ends: a transfer as text breaks it visibly
VERSION = 1
ALIGNMENT = 4096
CHUNK_BYTES = 1 << 20
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
)

_BYTE_ORDER_MARK = 0x01020304
_PRELUDE = struct.Struct("=8sIIIIQ")  # magic, byte order, version, header bytes, header CRC, file bytes
_BODY = struct.Struct("=qqq8BIIQQI16s")
_SECTION = struct.Struct("=24s8sQQ")
_CRC_AT = 20
_UNKNOWN = 2
_DTYPES: dict[bytes, np.dtype[Any]] = {name.encode(): np.dtype(name) for name in ("i4", "i8", "f4", "f8", "u1")}
_DTYPE_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


@dataclass(frozen=True)
class Section:
    """Where an array lies in the file."""

    name: str
    dtype: np.dtype[Any]
    offset: int
    nbytes: int

    @property
    def end(self) -> int:
        """The first byte behind the array."""
        return self.offset + self.nbytes

    @property
    def items(self) -> int:
        """How many entries the array has."""
        return self.nbytes // self.dtype.itemsize


@dataclass(frozen=True)
class Header:
    """What the first page of a store says."""

    num_vertices: int
    num_arcs: int
    num_edges: int
    flags: Flags
    sections: tuple[Section, ...]
    checksums_offset: int
    checksums_crc: int
    identity: bytes
    chunk_bytes: int = CHUNK_BYTES

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

    def computed_identity(self, checksums: bytes) -> bytes:
        """A digest of all that makes the graph; two stores of the same graph and sections share it."""
        digest = blake2b(digest_size=16)
        digest.update(struct.pack("=qq8B", self.num_vertices, self.num_arcs, *_flag_bytes(self.flags)))
        for section in self.sections:
            digest.update(struct.pack("=24s8sQ", section.name.encode(), _DTYPE_NAMES[section.dtype], section.nbytes))
        digest.update(checksums)
        return digest.digest()


def aligned(position: int) -> int:
    """The first multiple of the alignment at or behind ``position``.

    >>> aligned(1), aligned(4096)
    (4096, 4096)
    """
    return -(-position // ALIGNMENT) * ALIGNMENT


def pack_header(header: Header) -> bytes:
    """The header page."""
    body = _BODY.pack(
        header.num_vertices, header.num_arcs, header.num_edges, *_flag_bytes(header.flags),
        len(header.sections), header.chunk_bytes, header.checksums_offset, header.num_chunks, header.checksums_crc,
        header.identity,
    )  # fmt: skip
    entries = b"".join(
        _SECTION.pack(section.name.encode(), _DTYPE_NAMES[section.dtype], section.offset, section.nbytes)
        for section in header.sections
    )
    prelude = _PRELUDE.pack(MAGIC, _BYTE_ORDER_MARK, VERSION, ALIGNMENT, 0, header.file_bytes)
    page = (prelude + body + entries).ljust(ALIGNMENT, b"\0")
    return page[:_CRC_AT] + struct.pack("=I", zlib.crc32(page)) + page[_CRC_AT + 4 :]


def unpack_header(page: bytes, file_bytes: int, path: str | os.PathLike[str]) -> Header:
    """Read and check the header page of a file that has ``file_bytes`` bytes; whatever is wrong is said plainly."""
    _check_prelude(page, file_bytes, path)
    n, m, edges, *rest = _BODY.unpack_from(page, _PRELUDE.size)
    flag_bytes, (num_sections, chunk_bytes, checksums_offset, num_chunks, checksums_crc, identity) = rest[:8], rest[8:]
    table = _PRELUDE.size + _BODY.size
    if n < 0 or m < 0 or not 0 <= edges <= m or num_sections * _SECTION.size > ALIGNMENT - table or chunk_bytes == 0:
        raise CorruptFileError("the header holds impossible counts", path=path)
    if any(value > _UNKNOWN for value in flag_bytes) or flag_bytes[0] == _UNKNOWN:
        raise CorruptFileError("the header holds impossible flags", path=path)
    sections = []
    for number in range(num_sections):
        raw_name, raw_dtype, offset, nbytes = _SECTION.unpack_from(page, table + number * _SECTION.size)
        name, dtype = raw_name.rstrip(b"\0"), _DTYPES.get(raw_dtype.rstrip(b"\0"))
        if dtype is None or name.decode("ascii", "replace") not in SECTION_NAMES:
            raise CorruptFileError(f"the header lists a section {name!r} that this version does not know", path=path)
        sections.append(Section(name.decode(), dtype, offset, nbytes))
    header = Header(
        n, m, edges, _flags_of(flag_bytes), tuple(sections), checksums_offset, checksums_crc, identity, chunk_bytes
    )
    if header.num_chunks != num_chunks or header.file_bytes != file_bytes:
        raise CorruptFileError("the header's sections do not add up to the length of the file", path=path)
    _check_places(header, path)
    _check_shapes(header, path)
    return header


def _check_prelude(page: bytes, file_bytes: int, path: str | os.PathLike[str]) -> None:
    if file_bytes == 0:
        raise CorruptFileError("the file is empty", path=path)
    if not page.startswith(MAGIC[: len(page)]):
        raise UnsupportedFormatError(
            "this is not a Dromos store: it does not begin with the signature of one", path=path
        )
    if len(page) < ALIGNMENT:
        raise CorruptFileError(
            f"the file is cut short: it has {file_bytes:,} bytes, and the header alone takes {ALIGNMENT:,}", path=path
        )
    _, mark, version, header_bytes, crc, promised = _PRELUDE.unpack_from(page)
    whole = header_bytes == ALIGNMENT and crc == zlib.crc32(page[:_CRC_AT] + bytes(4) + page[_CRC_AT + 4 : ALIGNMENT])
    if mark == int.from_bytes(_BYTE_ORDER_MARK.to_bytes(4, "big"), "little"):
        raise UnsupportedFormatError(
            "the store was written on a machine of the other byte order; convert it there to a text format", path=path
        )
    if whole and version > VERSION:
        raise UnsupportedFormatError(
            f"the store is of version {version}, and this Dromos reads up to {VERSION}; install a newer Dromos",
            path=path,
        )
    if version != VERSION or mark != _BYTE_ORDER_MARK or not whole:
        reads = f"; it claims version {version}, and this Dromos reads {VERSION}" if version != VERSION else ""
        raise CorruptFileError(f"the header page (bytes 0..{ALIGNMENT}) fails its checksum{reads}", path=path)
    if file_bytes < promised:
        raise CorruptFileError(
            f"the file is cut short: it has {file_bytes:,} bytes of the {promised:,} that its header promises",
            path=path,
        )
    if file_bytes > promised:
        raise CorruptFileError(
            f"there are {file_bytes - promised:,} bytes behind the end of the store; copy the file again", path=path
        )


def _check_places(header: Header, path: str | os.PathLike[str]) -> None:
    """Sections are aligned, in order, without overlap, and within the file."""
    position = ALIGNMENT
    names = [section.name for section in header.sections]
    if len(set(names)) < len(names):
        raise CorruptFileError("the header lists a section twice", path=path)
    for section in header.sections:
        if section.offset != position:
            raise CorruptFileError(f"section {section.name} begins at {section.offset:,}, not {position:,}", path=path)
        position = aligned(section.end)
    if header.checksums_offset != position:
        raise CorruptFileError(f"the checksum table begins at {header.checksums_offset:,}, not {position:,}", path=path)


def _check_shapes(header: Header, path: str | os.PathLike[str]) -> None:
    """Every section has the type and the number of entries that the counts ask for."""
    n, m = header.num_vertices, header.num_arcs
    targets, weights = header.section("targets"), header.section("weights")
    ids: set[np.dtype[Any]] = {np.dtype(np.int64), id_dtype(n)}
    kinds: set[np.dtype[Any]] = set(WEIGHT_DTYPES) if weights is None else {weights.dtype}
    rules: dict[str, tuple[set[np.dtype[Any]], int | None]] = {
        "offsets": ({OFFSET}, n + 1),
        "targets": (ids, m),
        "weights": (set(WEIGHT_DTYPES), m),
        "transpose_offsets": ({OFFSET}, n + 1),
        "transpose_targets": ({targets.dtype} if targets else ids, m),
        "transpose_weights": (kinds, m),
        "labels": ({np.dtype(np.int64)}, n),
        "labels_utf8": ({np.dtype(np.uint8)}, None),
        "labels_offsets": ({OFFSET}, n + 1),
    }
    for section in header.sections:
        dtypes, items = rules[section.name]
        fits = section.nbytes % section.dtype.itemsize == 0 and (items is None or section.items == items)
        if section.dtype not in dtypes or not fits:
            raise CorruptFileError(
                f"section {section.name} has {section.nbytes:,} bytes of {section.dtype}, which does not fit "
                f"{n:,} vertices and {m:,} arcs", path=path,
            )  # fmt: skip
    have = {section.name for section in header.sections}
    together = [{"offsets", "targets"}, {"transpose_offsets", "transpose_targets"}, {"labels_utf8", "labels_offsets"}]
    if "weights" in have:
        together[1].add("transpose_weights")
    broken = any(group & have and not group <= have for group in together) or not together[0] <= have
    twice = {"labels", "labels_utf8"} <= have
    if broken or twice or ("transpose_weights" in have and "weights" not in have):
        raise CorruptFileError(f"the sections {', '.join(sorted(have))} do not make a graph", path=path)


def _flag_bytes(flags: Flags) -> list[int]:
    states = (flags.directed, flags.symmetric, flags.sorted, flags.parallel_edges, flags.self_loops)
    return [_UNKNOWN if state is None else int(state) for state in states] + [0, 0, 0]


def _flags_of(values: list[int]) -> Flags:
    states = [None if value == _UNKNOWN else bool(value) for value in values[:5]]
    return Flags(bool(states[0]), *states[1:])
