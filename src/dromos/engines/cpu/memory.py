"""Memory for what kernels access at random: in huge pages if the system has them, and reused.

A gather from a table of some megabytes misses the TLB at nearly every step with pages of 4 KiB, and hardly ever with
pages of 2 MiB. Linux gives them to private anonymous maps that ask for them. But it clears each one on first touch,
which costs more than a level of a traversal: a run of a millisecond would spend several on fresh memory. So the maps
of arrays that are no longer referenced are kept for the next run, up to a small share of the machine's memory.
"""

from __future__ import annotations

import math
import mmap
import os
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array

__all__ = ["huge_zeros", "kept_bytes", "release_kept", "reused_empty", "reused_zeros", "sparse_zeros"]

_HUGE_PAGE: Final = 2 << 20
_SMALL: Final = 1 << 17  # smaller arrays are left to NumPy
_SHARE: Final = 64  # at most one in so many bytes of the machine's memory is kept between runs


def huge_zeros(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """An array of zeros; in huge pages if it is large and the system allows.

    >>> huge_zeros((2, 3), np.float32).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    dtype = np.dtype(dtype)
    size = _count(shape) * dtype.itemsize
    if size < _HUGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(shape, dtype)
    return np.frombuffer(_map(size), dtype, count=size // dtype.itemsize).reshape(shape)


def sparse_zeros(count: int, dtype: Any, filled: Sequence[tuple[int, int]]) -> Array:
    """An array of zeros of which only the ranges ``filled`` will be written completely; these get huge pages.

    Elsewhere memory is allocated in small pages on first write.

    >>> sparse_zeros(3, np.int32, [(0, 1)]).tolist()
    [0, 0, 0]
    """
    dtype = np.dtype(dtype)
    size = count * dtype.itemsize
    if size < _HUGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(count, dtype)
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    for begin, end in filled:
        first, last = (at * dtype.itemsize // _HUGE_PAGE * _HUGE_PAGE for at in (begin, end))
        if last > first:
            pages.madvise(mmap.MADV_HUGEPAGE, first, last - first)
    return np.frombuffer(pages, dtype, count=count)


def reused_empty(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """An uninitialized array, in memory of an earlier one if a kept map fits; otherwise as :func:`huge_zeros`.

    Its memory is kept when the last array on it is released, so it may be returned to a caller like any other.

    >>> reused_empty((2, 3), np.float32).shape
    (2, 3)
    """
    return _array(shape, dtype, cleared=False)


def reused_zeros(shape: int | tuple[int, ...], dtype: Any) -> Array:
    """As :func:`reused_empty`, cleared; new memory is clear, and is not allocated before the first write.

    >>> reused_zeros(3, np.uint8).tolist()
    [0, 0, 0]
    """
    return _array(shape, dtype, cleared=True)


def _array(shape: int | tuple[int, ...], dtype: Any, *, cleared: bool) -> Array:
    dtype = np.dtype(dtype)
    size = _count(shape) * dtype.itemsize
    if size < _SMALL or not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(shape, dtype) if cleared else np.empty(shape, dtype)
    kept = _kept.take(size)
    pages = _map(size) if kept is None else kept
    base = np.frombuffer(pages, np.uint8)  # all views refer to this one
    weakref.finalize(base, _kept.put, pages).atexit = False
    array: Array = base[:size].view(dtype).reshape(shape)
    if cleared and kept is not None:
        array[...] = 0
    return array


def _count(shape: int | tuple[int, ...]) -> int:
    return math.prod(shape) if isinstance(shape, tuple) else int(shape)


def kept_bytes() -> int:
    """How much memory is kept for the next run."""
    return _kept.size


def release_kept() -> None:
    """Give what is kept back to the system."""
    _kept.clear()


def _map(size: int) -> mmap.mmap:
    pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if size >= _HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


class _Kept:
    """Maps without arrays. An array may be released at any point, even in here by the garbage collector."""

    def __init__(self) -> None:
        self.size = 0
        self._maps: deque[mmap.mmap] = deque()
        self._lock = threading.RLock()

    def take(self, size: int) -> mmap.mmap | None:
        """The latest map that holds ``size`` bytes and is not much larger."""
        with self._lock:
            for pages in reversed(tuple(self._maps)):  # the collector may add one, and evict others, meanwhile
                if size <= len(pages) <= size + size // 4 and pages in self._maps:
                    self._maps.remove(pages)
                    self.size -= len(pages)
                    return pages
        return None

    def put(self, pages: mmap.mmap) -> None:
        with self._lock:
            self._maps.append(pages)
            self.size += len(pages)
            while self.size > _most():
                self.size -= len(self._maps.popleft())

    def clear(self) -> None:
        with self._lock:
            while self._maps:
                self.size -= len(self._maps.popleft())

    def after_fork(self) -> None:
        self._lock = threading.RLock()


def _most() -> int:
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 1 << 27
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _SHARE


_kept = _Kept()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_kept.after_fork)
