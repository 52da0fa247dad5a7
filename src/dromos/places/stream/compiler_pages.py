"""Memory that the compiler holds while nothing is compiled: on Linux, some 45 MB of LLVM's own machine code.

Those are pages of a file, mapped and never written, so the system could drop them at any time; but they count as memory
of the process, and a process that is held to a limit pays for them. A run within a budget gives them back; when
something is compiled again, the system maps them anew, from its cache.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Final

__all__ = ["release_compiler_pages"]

_MAPS: Final = "/proc/self/maps"
_DONT_NEED: Final = 4  # MADV_DONTNEED
_LIBRARY: Final = "libllvmlite"
_found: Final[list[tuple[int, int]]] = []  # a library stays where it is once it is loaded


def release_compiler_pages() -> int:
    """Give the pages of LLVM's machine code back; how many bytes of addresses they were, 0 where there are none.

    >>> release_compiler_pages() >= 0
    True
    """
    if sys.platform != "linux" or "llvmlite" not in sys.modules:
        return 0
    if not _found:
        _found.extend(_machine_code())
    advise, released = ctypes.CDLL(None).madvise, 0
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    for begin, end in _found:
        if advise(begin, end - begin, _DONT_NEED) == 0:
            released += end - begin
    return released


def _machine_code() -> list[tuple[int, int]]:
    """Where the machine code of LLVM begins and ends."""
    try:
        with open(_MAPS) as lines:
            found = [line.split(maxsplit=2) for line in lines if _LIBRARY in line]
    except OSError:
        return []
    # other parts hold addresses that were filled in when the library was loaded
    ranges = [addresses.split("-") for addresses, rights, _ in found if rights == "r-xp"]
    return [(int(begin, 16), int(end, 16)) for begin, end in ranges]
