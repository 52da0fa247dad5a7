"""The file of a reachability index: a bit for each pair of a source and a vertex, in words of 64 sources.

    0            "DROMREACH1\\0\\0", then the header's length (4 bytes) and the header (JSON)
    data         uint64[blocks][rows]: of block b, the bits of the sources 64 b .. 64 b + 63 for every row
    tables       int64[vertices] place of each source, int64[vertices] row of each vertex (-1: none),
                 uint32[blocks] CRC-32 of each block
    end          CRC-32 of header and tables (4 bytes), "DROM"

All numbers are little-endian; ``data`` begins at a multiple of 4096. A vertex that nothing leads to has no row, one
that leads nowhere no place: neither is reached by, nor reaches, any vertex but itself. Header and tables are checked
when an index is opened, a block when it is first looked at.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError, FormatError
from dromos.graph import Graph
from dromos.graph.formats.files import file_errors
from dromos.graph.store.checksums import as_bytes, chunk_checksums

__all__ = ["IndexFile", "IndexWriter", "graph_digest"]

_MAGIC: Final = b"DROMREACH1\0\0"
_END: Final = b"DROM"
_PAGE: Final = 4096
_CHUNK: Final = 1 << 22


def graph_digest(graph: Graph) -> str:
    """A checksum of a graph's vertices and arcs.

    >>> import dromos as dr
    >>> graph_digest(dr.generators.path(3)) == graph_digest(dr.generators.path(4))
    False
    """
    digest = hashlib.sha256(f"{graph.num_vertices} {graph.num_arcs}".encode())
    for array in (graph.offsets, graph.targets):
        digest.update(chunk_checksums(as_bytes(array), _CHUNK).tobytes())
    return digest.hexdigest()


def _data_begin(header: bytes) -> int:
    return -(-(len(_MAGIC) + 4 + len(header)) // _PAGE) * _PAGE


class IndexWriter:
    """Writes blocks in any order, then the rest."""

    def __init__(self, stream: IO[bytes], header: dict[str, Any], places: Array, rows: Array) -> None:
        self._stream, self._places, self._rows = stream, places, rows
        self._header = json.dumps(header).encode()
        self._begin, self._row_count = _data_begin(self._header), int(header["rows"])
        self._sums = np.zeros(header["blocks"], "<u4")
        stream.write(_MAGIC + len(self._header).to_bytes(4, "little") + self._header)

    def write(self, block: int, words: Array) -> None:
        """Write the words of one block, one word per row."""
        data = np.ascontiguousarray(words, dtype="<u8").tobytes()
        self._sums[block] = zlib.crc32(data)
        self._stream.seek(self._begin + 8 * block * self._row_count)
        self._stream.write(data)

    def finish(self) -> None:
        """Write the tables and the end."""
        tables = b"".join(np.ascontiguousarray(t).tobytes() for t in (self._places, self._rows, self._sums))
        self._stream.seek(self._begin + 8 * len(self._sums) * self._row_count)
        check = zlib.crc32(tables, zlib.crc32(self._header))
        self._stream.write(tables + check.to_bytes(4, "little") + _END)


class IndexFile:
    """An index that is mapped from its file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with file_errors(path), open(path, "rb") as stream:
            start = stream.read(len(_MAGIC) + 4)
            if start[: len(_MAGIC)] != _MAGIC:
                raise FormatError("is not a reachability index; dr.reachability_index builds one", path=path)
            raw = stream.read(int.from_bytes(start[len(_MAGIC) :], "little"))
            try:
                self.header: dict[str, Any] = json.loads(raw)
                n, blocks, rows = (int(self.header[name]) for name in ("vertices", "blocks", "rows"))
            except (ValueError, KeyError, TypeError):
                raise CorruptFileError("the header of the index is damaged; build it again", path=path) from None
            begin, size = _data_begin(raw), path.stat().st_size
            tables = begin + 8 * blocks * rows
            if min(n, blocks, rows) < 0 or size != tables + 16 * n + 4 * blocks + 8:
                raise CorruptFileError(
                    f"the index has {size:,} bytes and does not match its header; build it again", path=path
                )
            stream.seek(tables)
            rest = stream.read()
        check = zlib.crc32(rest[:-8], zlib.crc32(raw))
        if rest[-4:] != _END or int.from_bytes(rest[-8:-4], "little") != check:
            raise CorruptFileError("the tables of the index are damaged; build it again", path=path)
        self.places = np.frombuffer(rest, "<i8", n)
        self.rows = np.frombuffer(rest, "<i8", n, 8 * n)
        self._sums = np.frombuffer(rest, "<u4", blocks, 16 * n)
        self.row_count = rows
        self._checked = np.zeros(blocks, dtype=bool)
        empty = blocks * rows == 0
        self.words = np.empty(0, "<u8") if empty else np.memmap(path, "<u8", "r", begin, (blocks * rows,))
        self.flat = np.asarray(self.words)  # the same memory; a memmap's own indexing costs a microsecond

    def check(self, block: int) -> None:
        """Refuse a block whose bytes are not those that were written; each is looked at once."""
        if not self._checked[block]:
            data = self.flat[block * self.row_count : (block + 1) * self.row_count]
            if zlib.crc32(data.tobytes()) != self._sums[block]:
                raise CorruptFileError(f"block {block} of the index is damaged; build it again", path=self.path)
            self._checked[block] = True
