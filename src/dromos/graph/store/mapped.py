"""Mapped files of numbers, whose pages are released after use."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.graph.store.layout import CHUNK_BYTES

__all__ = ["MappedFile", "map_of"]


class MappedFile:
    """A file of entries of one type. Pages that were read stay in memory only until :meth:`let_go`."""

    def __init__(self, path: Path, dtype: np.dtype[Any]) -> None:
        self._map: mmap.mmap | None = None
        self.array: Array = np.empty(0, dtype=dtype)
        if path.stat().st_size:  # an empty file cannot be mapped
            with open(path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self.array = np.frombuffer(self._map, dtype=dtype)

    def let_go(self) -> None:
        """Release the memory; entries are read from the file again at the next access."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)

    def pieces(self, memory: int) -> Iterator[Array]:
        """All entries, in pieces of whole chunks of a store with at most ``memory`` bytes each (one chunk at least)."""
        step = max(1, memory // CHUNK_BYTES) * CHUNK_BYTES // self.array.itemsize
        for begin in range(0, len(self.array), step):
            yield self.array[begin : begin + step]
            self.let_go()


def map_of(array: Array) -> mmap.mmap | None:
    """The map that holds the array's bytes; None if they are in ordinary memory."""
    holder: Any = array
    while (base := getattr(holder, "base", None)) is not None:
        holder = base
    return holder if isinstance(holder, mmap.mmap) else None
