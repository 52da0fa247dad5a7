"""Ctrl-C while a compiler works: remembered, and raised at the latest when the compiler returns.

LLVM calls back into Python while it makes machine code. An exception that is raised in such a callback cannot go
through LLVM: Python prints it ("Exception ignored on calling ctypes callback function"), and it is lost.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["on_second_interrupt", "remembered_interrupts"]

_CALLBACKS = {"_raw_object_cache_notify", "_raw_object_cache_getbuffer"}  # llvmlite's: LLVM waits for them

on_second_interrupt: list[Callable[[], object]] = []
"""What to do about a second Ctrl-C that no exception can answer; the command line ends the process there."""


@contextlib.contextmanager
def remembered_interrupts() -> Iterator[None]:
    """Within the block no Ctrl-C gets lost: what would be swallowed is raised when the block ends.

    Where an exception can be raised, that is done at once. It changes nothing on other threads than the main one, which
    see no signals, and where Ctrl-C is ignored.

    >>> with remembered_interrupts():
    ...     pass
    """
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield
        return
    raised: list[BaseException] = []
    held_back: list[int] = []

    def handle(signum: int, frame: FrameType | None) -> None:
        if _in_callback(frame):
            if raised or held_back:
                for act in on_second_interrupt:
                    act()
            held_back.append(signum)
            return
        try:
            previous(signum, frame)
        except BaseException as stop:
            raised.append(stop)
            raise

    failure: BaseException | None = None
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    except BaseException as error:  # perhaps of a compiler whose callback was cut short
        failure = error
    finally:
        signal.signal(signal.SIGINT, previous)
    if raised and failure is not raised[-1]:
        raise raised[-1] from failure
    if held_back and not raised:
        try:
            previous(signal.SIGINT, None)
        except BaseException as stop:
            raise stop from failure
    if failure is not None:
        raise failure


def _in_callback(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name in _CALLBACKS:
            return True
        frame = frame.f_back
    return False
