"""Checking the rows of a store once per file: before a kernel may index by them, and not at every open."""

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
"""Time stamps are coarse: a write just after the file was inspected may leave them unchanged."""

NOTED_BYTES = 64 << 20
"""Files of this size or more are noted in the cache folder for later processes; smaller ones take milliseconds."""


class FileState(NamedTuple):
    """The state of a file when it was inspected: any later write gives another value.

    It includes the time of the last status change, because a program that writes to a file can reset the time of its
    last modification, but not this one.
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
"""The files, and which of their rows, that this process has found valid."""


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

    ``prefix`` is that of their sections, and ``status`` the file's status when it was opened. Rows read into memory are
    checked for every graph; mapped rows once per file.
    """
    mapped = map_of(offsets)
    key = FileState.of(header.identity.hex(), status), prefix
    if mapped is not None:
        if mapped.size() < header.file_bytes:  # touching pages beyond the end of the file would kill the process
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
    """Whether an earlier process of this user has found the same file valid, in its current state."""
    with contextlib.suppress(DromosError):  # an untrusted cache folder
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
