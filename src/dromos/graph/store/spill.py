"""Edges spilled to disk during a conversion: frames of columns, each with its count and its checksum."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError
from dromos.graph.formats.base import EdgeBlock
from dromos.graph.store.checksums import as_bytes

__all__ = ["SpillFile"]

_MAGIC = b"DRMS"
_FRAME = struct.Struct("=4s2s2sQI")  # magic, type of the ids, type of the weights, count, CRC of all else
_NO_WEIGHTS = b"--"
_ID_TYPES = {name.encode(): np.dtype(name) for name in ("i4", "i8")}
_WEIGHT_TYPES = {
    name.encode(): np.dtype(name) for name in ("f2", "f4", "f8", *(f"{k}{n}" for k in "iu" for n in "1248"))
}


class SpillFile:
    """A file of edges, appended to and read from the beginning, frame by frame."""

    def __init__(self, path: Path, count: int = 0) -> None:
        self.path = path
        self.count = count

    def append(self, src: Array, dst: Array, weight: Array | None) -> None:
        """Append a frame; ``src`` and ``dst`` have the same type."""
        columns = [as_bytes(src), as_bytes(dst)] + ([] if weight is None else [as_bytes(weight)])
        kind = _NO_WEIGHTS if weight is None else weight.dtype.str[1:].encode()
        head = (_MAGIC, src.dtype.str[1:].encode(), kind, len(src))
        with open(self.path, "ab") as out:
            out.write(_FRAME.pack(*head, _checksum(_FRAME.pack(*head, 0), columns)))
            for column in columns:
                out.write(column.data)
        self.count += len(src)

    def frames(self) -> Iterator[EdgeBlock]:
        """The frames in the order written; a damaged one raises an error."""
        left = self.path.stat().st_size
        with open(self.path, "rb") as file:
            while left:
                head = file.read(_FRAME.size)
                magic, ids, kind, count, crc = _FRAME.unpack(head) if len(head) == _FRAME.size else (b"",) * 5
                if magic != _MAGIC or ids not in _ID_TYPES or (kind != _NO_WEIGHTS and kind not in _WEIGHT_TYPES):
                    raise self._damaged()
                dtypes = [_ID_TYPES[ids], _ID_TYPES[ids]] + ([] if kind == _NO_WEIGHTS else [_WEIGHT_TYPES[kind]])
                left -= _FRAME.size + count * sum(dtype.itemsize for dtype in dtypes)
                if left < 0:
                    raise self._damaged()
                columns = [self._column(file, dtype, count) for dtype in dtypes]
                if _checksum(_FRAME.pack(magic, ids, kind, count, 0), [as_bytes(column) for column in columns]) != crc:
                    raise self._damaged()
                yield EdgeBlock(columns[0], columns[1], columns[2] if len(columns) == 3 else None)

    def remove(self) -> None:
        """Delete the file."""
        self.path.unlink(missing_ok=True)

    def _column(self, file: Any, dtype: np.dtype[Any], count: int) -> Array:
        column = np.empty(count, dtype=dtype)
        if file.readinto(as_bytes(column).data) != column.nbytes:
            raise self._damaged()
        return column

    def _damaged(self) -> CorruptFileError:
        return CorruptFileError(
            "this temporary file of a conversion is damaged; remove it and convert again", path=self.path
        )


def _checksum(head: bytes, columns: list[Array]) -> int:
    crc = zlib.crc32(head)
    for column in columns:
        crc = zlib.crc32(column.data, crc)
    return crc
