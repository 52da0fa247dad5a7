"""A product with a sparse matrix, row by row: threads take chunks of rows, each sum in the order of its arcs."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

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
