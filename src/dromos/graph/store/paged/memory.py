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

# Python has the flag by name from 3.13 on. Without it Linux refuses more address space than there is memory and swap.
_BY_MACHINE: Final = {"ppc64le": 0x40, "ppc64": 0x40, "mips64": 0x400}
_NO_RESERVE: Final[int] = getattr(
    mmap, "MAP_NORESERVE", _BY_MACHINE.get(platform.machine(), 0x4000) if sys.platform == "linux" else 0
)
_LIBRARY: Final = ctypes.CDLL(None, use_errno=True)  # its calls release the GIL, unlike mmap.madvise
_LIBRARY.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

HUGE: Final = 2 << 20
"""The size of a huge page of Linux on most processors; where it differs, advice about such blocks does no harm."""
_CAN_CHOOSE: Final = hasattr(mmap, "MADV_HUGEPAGE") and hasattr(mmap, "MADV_NOHUGEPAGE")


class SparseMemory:
    """As many addresses as an array has bytes, backed by memory only where data was written and not dropped.

    So every page has a fixed place, neighbors in the file are neighbors in memory, and a kernel gets one array,
    whichever of its pages are resident. The others read as zeros.

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
        if _CAN_CHOOSE:  # a huge page would take up more memory than was read
            self._map.madvise(mmap.MADV_NOHUGEPAGE)

    def expect(self, begin: int, end: int) -> None:
        """Announce that exactly ``begin..end`` is about to be written.

        Huge pages inside the range are used as such: one fault instead of 512. Those that extend beyond it are not.
        """
        first, last = -(-begin // HUGE), end // HUGE  # those inside
        for number in {begin // HUGE, end // HUGE}:
            if not first <= number < last and self._huge[number]:
                self._advise(number, number + 1, huge=False)
        if first < last and not self._huge[first:last].all():
            self._advise(first, last, huge=True)

    def _advise(self, first: int, last: int, *, huge: bool) -> None:
        """Set the advice; if the system refuses, pages stay small."""
        self._huge[first:last] = huge
        if _CAN_CHOOSE:
            advice = mmap.MADV_HUGEPAGE if huge else mmap.MADV_NOHUGEPAGE
            _LIBRARY.madvise(self._address + first * HUGE, (last - first) * HUGE, advice)

    def view(self, begin: int, end: int) -> memoryview:
        """The bytes ``begin..end``, to read into."""
        return memoryview(self._map)[self._skipped + begin : self._skipped + end]

    def drop(self, begin: int, end: int) -> None:
        """Release the memory of ``begin..end`` (multiples of a system page); it then reads as zeros."""
        self.drop_all(np.array([begin]), np.array([end]))

    def drop_all(self, begins: Array, ends: Array, *, compiled: bool = False) -> None:
        """Release the memory of each ``begins[i]..ends[i]``, in one ``compiled`` call or in several calls."""
        failed = np.zeros(1, dtype=np.int64)
        if compiled:
            from dromos.graph.store.paged.read_kernels import drop_pages

            run_team(drop_pages, self.bytes, begins, ends, np.int32(mmap.MADV_DONTNEED), failed, threads=1)
        else:
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                failed += _LIBRARY.madvise(self._address + begin, end - begin, mmap.MADV_DONTNEED) != 0
        if failed[0]:
            raise ResourceError(f"the system does not take back {human_bytes(int((ends - begins).sum()))} of memory")
