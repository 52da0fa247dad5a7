"""Memory that the compiler holds while nothing is compiled: on Linux, some 45 MB of LLVM's own machine code.

These are pages of a file, mapped and never written, so the system could drop them at any time; but they count as
memory of the process, which matters under a memory limit. A run within a budget releases them; when something is
compiled again, the system maps them again, from its cache.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Final

__all__ = ["release_compiler_pages"]

_MAPS: Final = "/proc/self/maps"
_DONT_NEED: Final = 4  # MADV_DONTNEED
_LIBRARY: Final = "libllvmlite"
_found: Final[list[tuple[int, int]]] = []  # a library does not move once it is loaded


def release_compiler_pages() -> int:
    """Release the pages of LLVM's machine code; return the size of their address ranges, 0 if there are none.

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
    """The address ranges of LLVM's machine code."""
    try:
        with open(_MAPS) as lines:
            found = [line.split(maxsplit=2) for line in lines if _LIBRARY in line]
    except OSError:
        return []
    # other segments hold addresses that were relocated when the library was loaded
    ranges = [addresses.split("-") for addresses, rights, _ in found if rights == "r-xp"]
    return [(int(begin, 16), int(end, 16)) for begin, end in ranges]
