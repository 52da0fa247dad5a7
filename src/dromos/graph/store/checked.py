"""The rows of an opened store, checked once for a file: before a kernel may index by them, and not at every open."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path
from typing import NamedTuple

from dromos import disk_cache
from dromos.dtypes import Array
from dromos.errors import CorruptFileError, DromosError, FileError
from dromos.graph.checks import find_fault
from dromos.graph.store.layout import Header
from dromos.graph.store.mapped import map_of

__all__ = ["check_stored_rows"]

QUIET_SECONDS = 2.0
"""Time stamps are coarse: what is written to a file just after it was looked at may leave them as they are."""

NOTED_BYTES = 64 << 20
"""Files from this size on are noted in the cache folder, for the next process; smaller ones take milliseconds."""


class FileState(NamedTuple):
    """A file as it was when it was looked at: any write to it since gives another value.

    The time of the last status change is among them, because a program that writes to a file can set back the time of
    its last modification, but not this one.
    """

    identity: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, identity: str, status: os.stat_result) -> FileState:
        return cls(
            identity, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )  # fmt: skip


_known: set[tuple[FileState, str]] = set()
"""The files, and which rows of them, that this process has found right."""


def check_stored_rows(
    path: Path,
    header: Header,
    status: os.stat_result,
    prefix: str,
    offsets: Array,
    targets: Array,
    weights: Array | None,
) -> None:
    """Raise :class:`~dromos.errors.CorruptFileError` unless the arrays are the rows of a graph.

    ``prefix`` is that of their sections, and ``status`` the file's when it was opened. What was read into memory is
    looked at for every graph; what is mapped, once for a file.
    """
    mapped = map_of(offsets)
    key = FileState.of(header.identity.hex(), status), prefix
    if mapped is not None:
        if mapped.size() < header.file_bytes:  # touching what is not there any more would end the process
            raise FileError("the file was cut short after the graph was opened; read it again", path=path)
        if key in _known or (header.file_bytes >= NOTED_BYTES and _noted(key)):
            return
    quiet = time.time() - max(status.st_mtime, status.st_ctime) > QUIET_SECONDS
    fault = find_fault(offsets, targets, weights)
    if fault is not None:
        section = header.section(f"{prefix}{fault.array}")
        assert section is not None
        byte = section.offset + fault.item * section.dtype.itemsize
        raise CorruptFileError(
            f"section {section.name}, byte {byte:,}: {fault.reason}; the file is damaged: write or copy it again",
            path=path,
        )
    if mapped is not None and quiet:
        _known.add(key)
        _note(key)


def _noted(key: tuple[FileState, str]) -> bool:
    """Whether an earlier process of this user has found the same file right, as it is now."""
    with contextlib.suppress(DromosError):  # a folder that is not to be believed
        if disk_cache.read(_note_name(key)) == repr(key).encode():
            _known.add(key)
            return True
    return False


def _note(key: tuple[FileState, str]) -> None:
    if key[0].size >= NOTED_BYTES:
        with contextlib.suppress(DromosError):
            disk_cache.save(_note_name(key), repr(key).encode())


def _note_name(key: tuple[FileState, str]) -> str:
    return f"checked/{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}"
