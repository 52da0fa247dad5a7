"""Memory that the process has released, but that still counts as its own: it is given back before a run over pages.

The C library keeps what is freed in its heap, some 64 MB and more; arrays of an engine keep theirs for the next run
(:mod:`dromos.engines.cpu.memory`). What one program of an algorithm has released would so come on top of the pages
that the next one reads.
"""

from __future__ import annotations

import ctypes
import sys

from dromos.engines.cpu import memory
from dromos.places.stream.compiler_pages import release_compiler_pages

__all__ = ["release_free_memory"]


def release_free_memory() -> None:
    """Give back to the system what this process has freed, and the pages of the compiler's code.

    >>> release_free_memory()
    >>> memory.kept_bytes()
    0
    """
    release_compiler_pages()
    memory.release_kept()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # not in every C library
        if trim is not None:
            trim(0)
