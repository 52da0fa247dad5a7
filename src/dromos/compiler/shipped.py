"""Machine code shipped with the installation: the kernels of the built-in algorithms, per processor level.

There is one file per level: the number of kernels, an index by key, and the code that the index points to. A kernel's
key identifies its source, its types and the version of the compiler, so code that does not match the installed sources
is never found.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from dromos.compiler.levels import Level, own_level

__all__ = ["FOLDER", "shipped_code", "write_shipped"]

FOLDER: Final = Path(__file__).parent.parent / "machine_code"
_SUFFIX: Final = ".kernels"
_MAGIC: Final = b"dromos kernels 1"
_COUNT: Final = struct.Struct("<Q")
_ENTRY: Final = struct.Struct("<32sQII")  # key, position, length, checksum
_MOST_BYTES: Final = _ENTRY.size << 16  # limit for an index, whatever a damaged file says


def shipped_code(key: bytes) -> bytes | None:
    """The code shipped under a key for this processor; None if there is none, or it is damaged."""
    level = own_level()
    if level is None:
        return None
    entry = _index(level).get(key)
    if entry is None:
        return None
    begin, length, checksum = entry
    try:
        with _file(level, FOLDER).open("rb") as file:
            file.seek(begin)
            data = file.read(length)
    except OSError:
        return None
    return data if zlib.crc32(data) == checksum else None


def write_shipped(level: Level, kernels: Mapping[bytes, bytes], folder: Path) -> Path:
    """Write a file of machine code: the code of each key."""
    keys = sorted(kernels)
    begin = len(_MAGIC) + _COUNT.size + _ENTRY.size * len(keys)
    index = []
    for key in keys:
        index.append(_ENTRY.pack(key, begin, len(kernels[key]), zlib.crc32(kernels[key])))
        begin += len(kernels[key])
    path = _file(level, folder)
    path.write_bytes(b"".join([_MAGIC, _COUNT.pack(len(keys)), *index, *(kernels[key] for key in keys)]))
    return path


@cache
def _index(level: Level) -> Mapping[bytes, tuple[int, int, int]]:
    try:
        with _file(level, FOLDER).open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return {}
            (count,) = _COUNT.unpack(file.read(_COUNT.size))
            entries = file.read(min(_ENTRY.size * count, _MOST_BYTES))
            return {key: (begin, length, checksum) for key, begin, length, checksum in _ENTRY.iter_unpack(entries)}
    except (OSError, struct.error):
        return {}


def _file(level: Level, folder: Path) -> Path:
    return folder / f"{level.name}{_SUFFIX}"
