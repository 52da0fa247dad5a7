"""A file for data that a run may read again: without a name, and gone when it is closed or the process ends."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import IO, Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph.store.paged.pool import Batch, ReadPool
from dromos.parallel import run_team

__all__ = ["Extent", "ScratchFile", "lies_in_memory", "open_scratch"]

_IN_MEMORY: Final = {"tmpfs", "ramfs"}
_PIECE: Final = 1 << 20  # bytes of a request, as in the store
_READERS: Final = 4  # threads that share the pieces of one extent; others read other extents


class Extent:
    """A run of bytes in a scratch file: its start, its length, and the fingerprints of its pieces when written."""

    def __init__(self, position: int, nbytes: int) -> None:
        self.position, self.nbytes = position, nbytes
        self.prints = np.zeros(-(-nbytes // _PIECE), np.uint64)


def open_scratch(folder: Path, nbytes: int) -> ScratchFile | None:
    """A scratch file in ``folder``; None if none can be made, or ``nbytes`` are more than half of the free space.

    None also if the folder's files lie in memory: the file would take the memory that a budget is to save.

    >>> open_scratch(Path("/no/such/folder"), 1) is None
    True
    """
    try:
        if 2 * nbytes > shutil.disk_usage(folder).free or lies_in_memory(folder):
            return None
        return ScratchFile(tempfile.TemporaryFile(dir=folder, buffering=0))
    except OSError:
        return None


def lies_in_memory(folder: Path) -> bool:
    """Whether the files of a folder lie in memory, as far as the system reports.

    >>> lies_in_memory(Path("/proc"))
    False
    """
    try:
        device = folder.stat().st_dev
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return False
    own = f"{os.major(device)}:{os.minor(device)}"
    kinds = [line.partition(" - ")[2].split()[0] for line in mounts if line.split()[2] == own]
    return bool(set(kinds) & _IN_MEMORY)


class ScratchFile:
    """Consecutive extents, read again by compiled code; bypassing the system's cache where that is possible."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._end = file, 0
        with contextlib.suppress(ImportError, AttributeError, OSError):  # some systems and file systems have none
            import fcntl

            flags = fcntl.fcntl(file, fcntl.F_GETFL)
            fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_DIRECT)
        empty = np.zeros(0, np.uint8)
        try:
            self._print(Extent(0, 0), empty)  # compiled here, where Ctrl-C is handled
            self._read(Extent(0, 0), empty, np.zeros(1, np.int64), np.zeros(1, np.int64))
        except BaseException:
            self.close()
            raise

    def extent(self, nbytes: int) -> Extent:
        """Allocate room after all others; ``nbytes`` are whole disk blocks."""
        self._end += nbytes
        return Extent(self._end - nbytes, nbytes)

    def submit_write(self, pool: ReadPool, extent: Extent, data: Array) -> Batch:
        """Submit a write of ``data`` (bytes, aligned to a disk block); waiting for the batch may raise an OSError."""
        pieces = range(0, extent.nbytes, _PIECE)
        writes = [partial(self.write, extent, data, begin) for begin in pieces]
        return pool.submit([partial(self._print, extent, data), *writes])

    def write(self, extent: Extent, data: Array, begin: int) -> None:
        """Write the piece of ``data`` that begins at ``begin``."""
        left, at = memoryview(data.data)[begin : begin + _PIECE], extent.position + begin
        while len(left):
            done = os.pwrite(self._file.fileno(), left, at)
            left, at = left[done:], at + done

    def submit(self, pool: ReadPool, extent: Extent, into: Array) -> tuple[Batch, Array]:
        """Submit a read of an extent; return the batch to wait for, and a number that is then nonzero if it changed."""
        cursor, failed = np.zeros(1, np.int64), np.zeros(1, np.int64)
        readers = min(_READERS, len(extent.prints))
        return pool.submit([lambda: self._read(extent, into, cursor, failed)] * readers), failed

    def close(self) -> None:
        """Close the file, which removes it."""
        self._file.close()

    @staticmethod
    def _print(extent: Extent, data: Array) -> None:
        from dromos.graph.store.paged.read_kernels import print_pieces

        run_team(print_pieces, read_only(data.view(np.uint64)), extent.nbytes, _PIECE, extent.prints, threads=1)

    def _read(self, extent: Extent, into: Array, cursor: Array, failed: Array) -> None:
        from dromos.graph.store.paged.read_kernels import read_pieces

        run_team(
            read_pieces, cursor, np.int32(self._file.fileno()), extent.position, extent.nbytes, _PIECE, into,
            into.view(np.uint64), read_only(extent.prints), failed, threads=1,
        )  # fmt: skip
