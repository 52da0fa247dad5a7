"""The file behind a stored graph: positioned reads that bypass the page cache, and checks that it has not changed.

Nothing is mapped, so a file that is truncated while it is read gives a short read and an error, never a SIGBUS.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from dromos.errors import CorruptFileError, FileError
from dromos.graph.formats.files import file_errors
from dromos.graph.store.origin import OpenedFile

__all__ = ["ByteSource", "StoreFile"]

_REFUSED_DIRECT = 22  # EINVAL: the file system has no direct reads


class ByteSource(Protocol):
    """A source of pages; tests substitute one that fails, stalls or returns wrong data."""

    @property
    def path(self) -> Path: ...
    @property
    def nbytes(self) -> int: ...
    def read_into(self, buffer: memoryview, position: int) -> None:
        """Fill ``buffer`` (whole disk blocks) from ``position``, up to the end of the file; or raise a FileError."""

    def check_unchanged(self) -> None:
        """Raise a FileError if the file is no longer the one that was opened."""

    def close(self) -> None: ...


class StoreFile:
    """A store's file, opened for direct reads if the file system supports them."""

    def __init__(self, origin: OpenedFile) -> None:
        self.origin, self.path = origin, Path(origin.path)
        with file_errors(self.path):
            self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        self._direct = -1
        try:
            self._direct = _open_direct(self.path)
            self.check_unchanged()
        except BaseException:
            self.close()
            raise

    @property
    def direct(self) -> bool:
        """Whether reads bypass the system's page cache."""
        return self._direct >= 0

    def read_into(self, buffer: memoryview, position: int) -> None:
        """Fill ``buffer`` from ``position``; both are multiples of a disk block, the file may end within the last."""
        wanted = min(len(buffer), self.origin.size - position)
        done = 0
        with file_errors(self.path, f"read bytes {position:,}..{position + wanted:,} of"):
            while done < wanted:
                got = self._read_some(buffer[done:], position + done)
                if got == 0:
                    raise CorruptFileError(
                        f"the file was cut short while it was read: it ends at byte {position + done:,} of "
                        f"{self.origin.size:,}; write or copy it again",
                        path=self.path,
                    )
                done += got

    def _read_some(self, buffer: memoryview, position: int) -> int:
        direct = self._direct
        if direct >= 0 and position % 4096 == 0:  # after a read that ended within a block, the plain file continues
            try:
                return self._pread(direct, buffer, position)
            except OSError as error:
                if error.errno != _REFUSED_DIRECT:
                    raise
        return self._pread(self._fd, buffer, position)

    def _pread(self, fd: int, buffer: memoryview, position: int) -> int:
        """The only call that reads; tests replace it."""
        return os.preadv(fd, [buffer], position)

    @property
    def nbytes(self) -> int:
        """The size of the file."""
        return self.origin.size

    @property
    def descriptor(self) -> int:
        """The descriptor that is best to read from; for compiled code."""
        return self._direct if self.direct else self._fd

    def ring_piece(self, buffer: memoryview, position: int) -> tuple[int, int]:
        """The descriptor for a read by io_uring and the bytes it must return; if it fails, :meth:`read_into` reads."""
        return (self._direct if self.direct else self._fd), min(len(buffer), self.origin.size - position)

    def check_unchanged(self) -> None:
        """Raise an error if the file was written to, cut, replaced or removed since the graph was opened."""
        try:
            states = [self.path.stat(), *(os.fstat(fd) for fd in (self._fd, self._direct) if fd >= 0)]
        except OSError:
            states = []
        if not states or not all(map(self.origin.is_same, states)):
            raise FileError(
                "the file was changed, replaced or removed after the graph was opened; open it again", path=self.path
            )

    def close(self) -> None:
        """Close the file; reading from it afterwards is an error."""
        open_files, self._fd, self._direct = (self._fd, self._direct), -1, -1
        for fd in open_files:
            if fd >= 0:
                os.close(fd)

    def __del__(self) -> None:
        if hasattr(self, "_direct"):
            self.close()


def _open_direct(path: Path) -> int:
    if not hasattr(os, "O_DIRECT"):
        return -1
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECT)
    except OSError:  # tmpfs and some network file systems refuse
        return -1
