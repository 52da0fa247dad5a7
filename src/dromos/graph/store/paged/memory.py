"""Address space for an array of which only some pages are in memory at a time."""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.errors import ResourceError
from dromos.graph.store.layout import aligned
from dromos.graph.summary import human_bytes
from dromos.parallel import run_team

__all__ = ["HUGE", "SparseMemory"]

# Python knows the flag by name from 3.13 on. Without it Linux refuses more addresses than there is memory and swap.
_BY_MACHINE: Final = {"ppc64le": 0x40, "ppc64": 0x40, "mips64": 0x400}
_NO_RESERVE: Final[int] = getattr(
    mmap, "MAP_NORESERVE", _BY_MACHINE.get(platform.machine(), 0x4000) if sys.platform == "linux" else 0
)
_LIBRARY: Final = ctypes.CDLL(None, use_errno=True)  # its calls let go of the GIL, which mmap.madvise does not
_LIBRARY.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

HUGE: Final = 2 << 20
"""A huge page of Linux on most processors; where it is another size, advice about blocks of this one does no harm."""
_CAN_CHOOSE: Final = hasattr(mmap, "MADV_HUGEPAGE") and hasattr(mmap, "MADV_NOHUGEPAGE")


class SparseMemory:
    """As many addresses as an array has bytes, backed by memory only where something was written and not dropped.

    So every page has its place, neighbours in the file are neighbours in memory, and a kernel is given one array,
    whichever pages of it are there. What is not there reads as zeros.

    >>> memory = SparseMemory(10_000)
    >>> memory.bytes[5_000] = 7
    >>> memory.drop(4_096, 8_192)
    >>> int(memory.bytes[5_000])
    0
    """

    def __init__(self, nbytes: int) -> None:
        size = max(aligned(nbytes), mmap.PAGESIZE)
        try:
            self._map = mmap.mmap(-1, size + HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
        except (OSError, ValueError, OverflowError) as error:
            raise ResourceError(
                f"cannot reserve {human_bytes(size)} of addresses for a section of the store ({error}); "
                "no memory is needed for them, but a limit (ulimit -v) or the setting vm.overcommit_memory=2 forbids it"
            ) from None
        whole = np.frombuffer(self._map, dtype=np.uint8)
        self._skipped = -whole.ctypes.data % HUGE  # the first byte begins a huge page
        self._address = whole.ctypes.data + self._skipped
        self.bytes: Array = whole[self._skipped : self._skipped + size]
        self._huge = np.zeros(size // HUGE + 1, dtype=bool)
        if _CAN_CHOOSE:  # a huge page would bring in more than was read
            self._map.madvise(mmap.MADV_NOHUGEPAGE)

    def expect(self, begin: int, end: int) -> None:
        """Be told that all of ``begin..end`` is about to be written, and nothing beside it.

        Huge pages that lie inside are taken as such: one fault instead of 512. Others that reach out of it are not.
        """
        first, last = -(-begin // HUGE), end // HUGE  # those that lie inside
        for number in {begin // HUGE, end // HUGE}:
            if not first <= number < last and self._huge[number]:
                self._advise(number, number + 1, huge=False)
        if first < last and not self._huge[first:last].all():
            self._advise(first, last, huge=True)

    def _advise(self, first: int, last: int, *, huge: bool) -> None:
        """Where the system refuses, pages are small."""
        self._huge[first:last] = huge
        if _CAN_CHOOSE:
            advice = mmap.MADV_HUGEPAGE if huge else mmap.MADV_NOHUGEPAGE
            _LIBRARY.madvise(self._address + first * HUGE, (last - first) * HUGE, advice)

    def view(self, begin: int, end: int) -> memoryview:
        """The bytes ``begin..end``, to read into."""
        return memoryview(self._map)[self._skipped + begin : self._skipped + end]

    def drop(self, begin: int, end: int) -> None:
        """Give the memory of ``begin..end`` (multiples of a page of the system) back; it reads as zeros then."""
        self.drop_all(np.array([begin]), np.array([end]))

    def drop_all(self, begins: Array, ends: Array, *, compiled: bool = False) -> None:
        """Give the memory of each ``begins[i]..ends[i]`` back, in one call that is ``compiled`` or in several."""
        failed = np.zeros(1, dtype=np.int64)
        if compiled:
            from dromos.graph.store.paged.read_kernels import drop_pages

            run_team(drop_pages, self.bytes, begins, ends, np.int32(mmap.MADV_DONTNEED), failed, threads=1)
        else:
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                failed += _LIBRARY.madvise(self._address + begin, end - begin, mmap.MADV_DONTNEED) != 0
        if failed[0]:
            raise ResourceError(f"the system does not take back {human_bytes(int((ends - begins).sum()))} of memory")
