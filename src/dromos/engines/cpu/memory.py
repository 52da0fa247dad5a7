"""Memory for what kernels reach at random: in huge pages, where the system has them.

A gather from a table of some megabytes misses the TLB at nearly every step with pages of 4 KiB, and hardly ever with
pages of 2 MiB. Linux gives them to private anonymous maps that ask.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from dromos.dtypes import Array

__all__ = ["huge_zeros"]

_HUGE_PAGE = 2 << 20


def huge_zeros(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """An array of zeros; in huge pages if it is large and the system allows.

    >>> huge_zeros((2, 3), np.float32).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    if size < _HUGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype, count=size // dtype.itemsize).reshape(shape)
