"""Linux's io_uring: one system call submits many reads, and their completions are taken from a list in memory.

Set up through ``ctypes`` and ``mmap``, since Python has no binding. The calls release the GIL. Containers often forbid
io_uring, and other systems lack it: then :class:`Ring` raises ``OSError``, and threads read instead.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from typing import Final

import numpy as np

__all__ = ["Ring"]

_SETUP: Final = 425  # the same numbers on every architecture of Linux except Alpha
_ENTER: Final = 426
_READ: Final = 22  # the operation: a positioned read
_ENTRIES_AT: Final = 0x10000000
_ONE_MAP: Final = 1
_WAIT: Final = 1
_LIBRARY: Final = ctypes.CDLL(None, use_errno=True)
_LIBRARY.syscall.restype = ctypes.c_long
_WORD: Final = 1 << 32
_UNWRITTEN: Final = -(1 << 31)  # no read ends with this
_NO_NUMBER: Final = (1 << 64) - 1

_ENTRY: Final = np.dtype(
    [("operation", "u1"), ("flags", "u1"), ("priority", "u2"), ("fd", "i4"), ("position", "u8"), ("address", "u8"),
     ("length", "u4"), ("read_flags", "u4"), ("number", "u8"), ("rest", "u8", 3)]
)  # fmt: skip
_END: Final = np.dtype([("number", "u8"), ("result", "i4"), ("flags", "u4")])


class _Offsets(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("head", "tail", "mask", "entries", "flags", "dropped", "list", "rest")),
        ("address", ctypes.c_uint64),
    )


class _Parameters(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("submitted", "ended", "flags", "cpu", "idle", "features", "workers")),
        ("rest", ctypes.c_uint32 * 3),
        ("submissions", _Offsets),
        ("ends", _Offsets),  # here `dropped` is where the list is
    )


class Ring:
    """Up to ``depth`` reads in flight, for one thread.

    The caller submits reads under its own numbers, and gets each number back with the bytes read or the negative error
    number.
    """

    def __init__(self, depth: int = 64) -> None:
        if sys.platform != "linux":
            raise OSError(errno.ENOSYS, "io_uring is Linux's")
        given = _Parameters()
        self._fd = _LIBRARY.syscall(ctypes.c_long(_SETUP), ctypes.c_uint32(depth), ctypes.byref(given))
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self.in_flight = self._new = 0
        try:
            if not given.features & _ONE_MAP:  # older than Linux 5.4
                raise OSError(errno.ENOSYS, "this io_uring is too old")
            self._map(given)
        except BaseException:
            self.close()
            raise

    def _map(self, given: _Parameters) -> None:
        submissions, ends = given.submissions, given.ends
        self.depth = int(given.submitted)
        size = max(submissions.list + 4 * given.submitted, ends.dropped + _END.itemsize * given.ended)
        how = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        self._words = np.frombuffer(mmap.mmap(self._fd, size, how), dtype=np.uint32, count=size // 4)
        entries = mmap.mmap(self._fd, _ENTRY.itemsize * given.submitted, how, offset=_ENTRIES_AT)
        self._entries = np.frombuffer(entries, dtype=_ENTRY, count=given.submitted)
        self._entries["operation"] = _READ
        self._tail, self._ends_head, self._ends_tail = submissions.tail // 4, ends.head // 4, ends.tail // 4
        order = submissions.list // 4
        self._words[order : order + given.submitted] = np.arange(given.submitted)  # entry i lies in slot i
        raw = self._words.view(np.uint8)[ends.dropped : ends.dropped + _END.itemsize * given.ended]
        self._ends = raw.view(_END)
        self._ends["number"], self._ends["result"] = _NO_NUMBER, _UNWRITTEN

    @property
    def room(self) -> int:
        """The number of reads that may still be added."""
        return self.depth - self.in_flight - self._new

    def add(self, number: int, fd: int, address: int, length: int, position: int) -> None:
        """Prepare a read; :meth:`wait` submits it."""
        at = (int(self._words[self._tail]) + self._new) % self.depth
        entry = self._entries[at]
        entry["fd"], entry["position"], entry["address"] = fd, position, address
        entry["length"], entry["number"] = length, number
        self._new += 1

    def wait(self) -> list[tuple[int, int]]:
        """Submit the added reads and wait until one completes; returns numbers and results of all that completed."""
        self._words[self._tail] = (int(self._words[self._tail]) + self._new) % _WORD
        while self._new or not self._ended():
            done = _LIBRARY.syscall(
                ctypes.c_long(_ENTER), ctypes.c_int(self._fd), ctypes.c_uint32(self._new), ctypes.c_uint32(1),
                ctypes.c_uint32(_WAIT), None, ctypes.c_size_t(0),
            )  # fmt: skip
            if done >= 0:
                self.in_flight, self._new = self.in_flight + done, self._new - done
            elif ctypes.get_errno() not in (errno.EINTR, errno.EAGAIN, errno.EBUSY):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return self._taken()

    def _ended(self) -> int:
        return (int(self._words[self._ends_tail]) - int(self._words[self._ends_head])) % _WORD

    def _taken(self) -> list[tuple[int, int]]:
        head, found = int(self._words[self._ends_head]), []
        for at in range(head, head + self._ended()):
            end = self._ends[at % len(self._ends)]
            # A processor that reorders may show the tail before the entry: poll both words until they are written.
            while int(end["result"]) == _UNWRITTEN or int(end["number"]) == _NO_NUMBER:
                pass
            found.append((int(end["number"]), int(end["result"])))
            end["number"], end["result"] = _NO_NUMBER, _UNWRITTEN
        self._words[self._ends_head] = (head + len(found)) % _WORD
        self.in_flight -= len(found)
        return found

    def close(self) -> None:
        """Close the ring; no read may be in flight."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)
