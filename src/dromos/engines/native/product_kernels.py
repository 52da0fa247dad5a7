"""A product with a sparse matrix, row by row: threads take chunks of rows, each sum in the order of its arcs."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import kernel

CHUNK = 256


@kernel
def multiply(thread, threads, offsets, targets, weights, x, y, cursor, stop):
    """``y[v]`` is the sum of ``x`` over the row of ``v``, times the weights; without any, ``weights`` is empty."""
    n = offsets.size - 1
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= n:
            break
        for v in range(begin, min(begin + CHUNK, n)):
            total = 0.0
            if weights.size > 0:
                for arc in range(offsets[v], offsets[v + 1]):
                    total += weights[arc] * x[targets[arc]]
            else:
                for arc in range(offsets[v], offsets[v + 1]):
                    total += x[targets[arc]]
            y[v] = total


@kernel
def add_targets(thread, threads, start, offsets, targets, x, y, cursor, stop):
    """Add to ``y[v]`` the sum of ``x`` over the row of ``v``, one after the other.

    The rows are those of the vertices from ``start`` on, and ``offsets[0]`` is the position of the first arc.
    """
    n, base = offsets.size - 1, np.int64(offsets[0])
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= n:
            break
        for row in range(begin, min(begin + CHUNK, n)):
            total = y[start + row]
            for arc in range(np.int64(offsets[row]) - base, np.int64(offsets[row + 1]) - base):
                total += x[targets[arc]]
            y[start + row] = total
