"""Compile time: measured apart from the work, and announced to a waiting user."""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from dromos.notices import tell

__all__ = ["Stopwatch", "Timer", "compile_seconds", "compiling", "kernels_are_loaded", "note_kernels_are_loaded"]

_PATIENCE = 1.0  # seconds before a message is shown
_log = logging.getLogger("dromos.compiling")
_spent = threading.local()
_told = False
_loaded = False


def kernels_are_loaded() -> bool:
    """Whether this process has compiled, or loaded, a kernel for a team of threads.

    Until then, the cost of compiling is weighed against NumPy, which is already loaded.
    """
    return _loaded


def note_kernels_are_loaded() -> None:
    """Prefer kernels to NumPy from now on."""
    global _loaded
    _loaded = True


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Count the time inside as compiling; if it takes long, say so once per process.

    Garbage collection is paused meanwhile: a compiler makes many objects that stay, and each collection would traverse
    all objects of the process again.

    >>> before = compile_seconds()
    >>> with compiling("a kernel"):
    ...     time.sleep(0.001)
    >>> compile_seconds() > before
    True
    """
    begin = time.perf_counter()
    notice = None if _told else threading.Timer(_PATIENCE, _tell, (what,))
    if notice is not None:
        notice.daemon = True
        notice.start()
    collects = gc.isenabled()  # if it is disabled, leave it so: another thread or the caller enables it again
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        if notice is not None:
            notice.cancel()
        _spent.seconds = compile_seconds() + time.perf_counter() - begin


def compile_seconds() -> float:
    """The time that this thread has spent compiling, or loading compiled code, since it began."""
    return float(getattr(_spent, "seconds", 0.0))


class Stopwatch:
    """Seconds since its creation, minus those that this thread spent compiling."""

    def __init__(self) -> None:
        self._begin = time.perf_counter() - compile_seconds()

    def seconds(self) -> float:
        """The time so far."""
        return max(time.perf_counter() - compile_seconds() - self._begin, 0.0)


class Timer:
    """The total time spent inside ``with timer:``."""

    def __init__(self) -> None:
        self.seconds, self._clock = 0.0, Stopwatch()

    def __enter__(self) -> None:
        self._clock = Stopwatch()

    def __exit__(self, *error: object) -> None:
        self.seconds += self._clock.seconds()


def _tell(what: str) -> None:
    global _told
    if not _told:
        _told = True
        tell(f"compiling {what} for this machine, once: compiled code is kept for the next time", _log)
