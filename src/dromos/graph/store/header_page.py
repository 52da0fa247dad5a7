"""Packing and unpacking the header page of a store; unpacking checks every word."""

from __future__ import annotations

import os
import struct
import zlib
from typing import Any

import numpy as np

from dromos.dtypes import OFFSET, WEIGHT_DTYPES, Array, id_dtype
from dromos.errors import CorruptFileError, UnsupportedFormatError
from dromos.graph.graph import Flags
from dromos.graph.store.layout import (
    ALIGNMENT,
    CHECKSUM,
    DTYPES,
    MAGIC,
    PACKED,
    SECTION_NAMES,
    UNKNOWN,
    VERSION,
    Header,
    Section,
    aligned,
    flag_bytes,
)

__all__ = ["STRIPED", "checked_table", "pack_header", "unpack_header"]

_BYTE_ORDER_MARK = 0x01020304
STRIPED = b"DROMOS STRIPES 1\n"
"""The first bytes of a list of stripes, where a store has its own magic."""
_PRELUDE = struct.Struct("=8sIIIIQ")  # magic, byte order, version, header bytes, header CRC, file bytes
_BODY = struct.Struct("=qqq8BIIQQI16s")
_SECTION = struct.Struct("=24s8sQQ")
_CRC_AT = 20
_PACK_SHIFT = 5  # the byte after the flags: log2 of the arcs of a pack; 0 if targets are not packed
_PACK_SHIFTS = range(8, 17)


def pack_header(header: Header) -> bytes:
    """The header page."""
    body = _BODY.pack(
        header.num_vertices, header.num_arcs, header.num_edges, *flag_bytes(header),
        len(header.sections), header.chunk_bytes, header.checksums_offset, header.num_chunks, header.checksums_crc,
        header.identity,
    )  # fmt: skip
    entries = b"".join(
        _SECTION.pack(section.name.encode(), section.type_name, section.offset, section.nbytes)
        for section in header.sections
    )
    prelude = _PRELUDE.pack(MAGIC, _BYTE_ORDER_MARK, header.version, ALIGNMENT, 0, header.file_bytes)
    page = (prelude + body + entries).ljust(ALIGNMENT, b"\0")
    return page[:_CRC_AT] + struct.pack("=I", zlib.crc32(page)) + page[_CRC_AT + 4 :]


def unpack_header(page: bytes, file_bytes: int, path: str | os.PathLike[str]) -> Header:
    """Read and check the header page of a file of ``file_bytes`` bytes; raise a clear error for anything wrong."""
    _check_prelude(page, file_bytes, path)
    n, m, edges, *rest = _BODY.unpack_from(page, _PRELUDE.size)
    flag_bytes, (num_sections, chunk_bytes, checksums_offset, num_chunks, checksums_crc, identity) = rest[:8], rest[8:]
    table = _PRELUDE.size + _BODY.size
    if n < 0 or m < 0 or not 0 <= edges <= m or num_sections * _SECTION.size > ALIGNMENT - table or chunk_bytes == 0:
        raise CorruptFileError("the header holds impossible counts", path=path)
    shift = flag_bytes.pop(_PACK_SHIFT)
    if any(value > UNKNOWN for value in flag_bytes) or flag_bytes[0] == UNKNOWN or shift not in (0, *_PACK_SHIFTS):
        raise CorruptFileError("the header holds impossible flags", path=path)
    sections = []
    for number in range(num_sections):
        raw_name, raw_dtype, offset, nbytes = _SECTION.unpack_from(page, table + number * _SECTION.size)
        name, type_name = raw_name.rstrip(b"\0"), raw_dtype.rstrip(b"\0")
        packed = type_name.endswith(PACKED)
        dtype = DTYPES.get(type_name.removesuffix(PACKED))
        if dtype is None or name.decode("ascii", "replace") not in SECTION_NAMES:
            raise CorruptFileError(f"the header lists a section {name!r} that this version does not know", path=path)
        sections.append(Section(name.decode(), dtype, offset, nbytes, packed))
    header = Header(
        n, m, edges, _flags_of(flag_bytes), tuple(sections), checksums_offset, checksums_crc, identity, chunk_bytes,
        (1 << shift) if shift else 0,
    )  # fmt: skip
    if header.version > _PRELUDE.unpack_from(page)[2]:
        raise CorruptFileError("the header lists packs, which a store of version 1 cannot have", path=path)
    if header.num_chunks != num_chunks or header.file_bytes != file_bytes:
        raise CorruptFileError("the header's sections do not add up to the length of the file", path=path)
    _check_places(header, path)
    _check_shapes(header, path)
    return header


def checked_table(header: Header, table: bytes, path: str | os.PathLike[str]) -> Array:
    """The checksum table at the end of a store, checked against the checksum in its header."""
    if zlib.crc32(table) != header.checksums_crc or header.computed_identity(table) != header.identity:
        raise CorruptFileError(
            f"the checksum table (bytes {header.checksums_offset:,} to the end) fails its own checksum", path=path
        )
    return np.frombuffer(table, dtype=CHECKSUM)


def _check_prelude(page: bytes, file_bytes: int, path: str | os.PathLike[str]) -> None:
    if file_bytes == 0:
        raise CorruptFileError("the file is empty", path=path)
    if page.startswith(STRIPED):
        raise UnsupportedFormatError(
            "this store is striped, and this needs it in one file; use dr.open(path), which reads it in pages (on the "
            "command line: give --memory), or make one file of it with `dromos convert --memory 2G IN OUT.drm`",
            path=path,
        )
    if not page.startswith(MAGIC[: len(page)]):
        raise UnsupportedFormatError(
            "this is not a Dromos store: it does not begin with the signature of one; dromos.read reads other formats, "
            "by the extension or with format='edges', and dromos.write makes a store (of a file larger than memory: "
            "`dromos convert --memory 2G IN OUT.drm`)",
            path=path,
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
    known = 1 <= version <= VERSION
    if not known or mark != _BYTE_ORDER_MARK or not whole:
        reads = "" if known else f"; it claims version {version}, and this Dromos reads 1 to {VERSION}"
        raise CorruptFileError(f"the header page (bytes 0..{ALIGNMENT}) fails its checksum{reads}", path=path)
    if file_bytes < promised:
        raise CorruptFileError(
            f"the file is cut short: it has {file_bytes:,} bytes of the {promised:,} that its header promises",
            path=path,
        )
    if file_bytes > promised:
        raise CorruptFileError(
            f"there are {file_bytes - promised:,} bytes after the end of the store; copy the file again", path=path
        )


def _check_places(header: Header, path: str | os.PathLike[str]) -> None:
    """Check that sections are aligned, in order, without overlap, and within the file."""
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
    """Check that every section has the type and the number of entries that the counts imply."""
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
    if header.packed:
        entries = 2 * -(-m // header.pack_arcs)
        rules |= {name: ({np.dtype(np.int32)}, entries) for name in ("packs", "transpose_packs")}
        rules |= {name: (rules[name][0], None) for name in ("targets", "transpose_targets")}
    for section in header.sections:
        dtypes, items = rules.get(section.name, (set(), 0))
        size = 4 if section.packed else section.dtype.itemsize
        fits = section.nbytes % size == 0 and (items is None or section.items == items)
        fits &= section.packed == (header.packed and section.name in ("targets", "transpose_targets"))
        if section.dtype not in dtypes or not fits:
            raise CorruptFileError(
                f"section {section.name} has {section.nbytes:,} bytes of {section.dtype}, which does not fit "
                f"{n:,} vertices and {m:,} arcs", path=path,
            )  # fmt: skip
    have = {section.name for section in header.sections}
    together = [{"offsets", "targets"}, {"transpose_offsets", "transpose_targets"}, {"labels_utf8", "labels_offsets"}]
    if "weights" in have:
        together[1].add("transpose_weights")
    if header.packed:
        together[0].add("packs")
        together[1].add("transpose_packs")
    broken = any(group & have and not group <= have for group in together) or not together[0] <= have
    twice = {"labels", "labels_utf8"} <= have
    if broken or twice or ("transpose_weights" in have and "weights" not in have):
        raise CorruptFileError(f"the sections {', '.join(sorted(have))} do not make a graph", path=path)


def _flags_of(values: list[int]) -> Flags:
    states = [None if value == UNKNOWN else bool(value) for value in values[:5]]
    return Flags(bool(states[0]), *states[1:])
