"""Processes that need the same kernel take turns: one compiles it, the others wait and find it on disk.

The ranks of a job, and the workers of a test run, need a kernel at the same time. If each compiled it, all of them
would be slow on shared cores.

A turn is a lock on one of a few files in the cache folder. The system releases it when a process ends, however it ends.
Correctness does not depend on it: a process that waits too long, or cannot lock, compiles as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Final

from dromos import disk_cache

__all__ = ["compile_turn"]

_FILES: Final = 64
_PATIENCE: Final = 30.0  # seconds; a kernel takes a few, more on a busy machine
_PAUSE: Final = 0.01


@contextlib.contextmanager
def compile_turn(name: str, is_kept: Callable[[], bool]) -> Iterator[None]:
    """Wait until no other process compiles what is kept under ``name``, or ``is_kept`` says that it is on disk.

    A block holds at most one turn: waiting for a second one could deadlock.

    >>> with compile_turn("kernels/demo.code", lambda: False):
    ...     pass
    """
    file = _open(name)
    if file is None:
        yield
        return
    try:
        locked = _lock(file, is_kept)
        try:
            yield
        finally:
            if locked:
                _unlock(file)  # also for a child that was forked meanwhile and has the file open
    finally:
        os.close(file)


def _open(name: str) -> int | None:
    """The lock file for ``name``; None if there are no locks."""
    if os.name != "posix":
        return None
    number = hashlib.sha256(name.encode()).digest()[0] % _FILES
    try:
        folder = disk_cache.places().private / "turns"
        folder.mkdir(exist_ok=True, mode=0o700)
        return os.open(folder / f"{number:02}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def _lock(file: int, is_kept: Callable[[], bool]) -> bool:
    import fcntl

    until = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if is_kept() or time.monotonic() > until:
                return False
            time.sleep(_PAUSE)
        except OSError:  # a file system without locks
            return False


def _unlock(file: int) -> None:
    import fcntl

    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_UN)
