"""The ways to read a store, and the choice among them; all give the same answers."""

from __future__ import annotations

import os
from typing import Final

from dromos.compiling import kernels_are_loaded
from dromos.errors import InvalidArgumentError

__all__ = ["READS", "way_to_read"]

READS: Final = "DROMOS_READS"
"""The environment variable that chooses how stores are read: ``compiled``, ``threads`` or ``io_uring``."""
_WAYS: Final = ("compiled", "threads", "io_uring")
_LARGE: Final = 32 << 20  # bytes of a file: a smaller one is read quickly, whereas compiled code has to be made first


def way_to_read(file_bytes: int) -> str:
    """``compiled``: threads that run compiled code; ``threads``: threads that run Python; or ``io_uring``.

    By default, large files are read by compiled code if a compiler is already loaded.

    >>> way_to_read(1000)
    'threads'
    """
    chosen = os.environ.get(READS)
    if not chosen:
        return "compiled" if file_bytes >= _LARGE and kernels_are_loaded() else "threads"
    if chosen not in _WAYS:
        raise InvalidArgumentError(f"{READS}={chosen!r} is not a way to read; choose one of {', '.join(_WAYS)}")
    return chosen
