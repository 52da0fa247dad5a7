"""Blocks of memory and bitmaps, copied by all threads of a team."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load, store
from dromos.jit import lean_kernel


@lean_kernel
def copy_words(thread, threads, values, into):
    """All of ``values`` to ``into``."""
    for at in range(values.size * thread // threads, values.size * (thread + 1) // threads):
        store(into, at, load(values, at))


@lean_kernel
def spread_bits(thread, threads, marks, first, last, into):
    """The bits of ``first..last`` to one byte each; ``marks`` are words that begin with the one of ``first``."""
    low, count = first >> 6, last - first
    for v in range(first + count * thread // threads, first + count * (thread + 1) // threads):
        into[v] = np.uint8((load(marks, (v >> 6) - low) >> np.uint64(v & 63)) & np.uint64(1))
