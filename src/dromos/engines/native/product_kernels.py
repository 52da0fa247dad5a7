"""A product with a sparse matrix, row by row: threads take some rows at a time, each sum in a fixed order."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import inline, kernel

BLOCK = 128  # rows; a thread takes some blocks at a time
_TURNS = 4  # turns of each thread, if the rest were dealt in pieces of the present size


@inline
def take_rows(cursor, which, n, threads, stop):
    """The next rows that no thread has taken, ``begin..end``, in whole blocks; none are left if ``begin`` is ``n``."""
    left = n - load_relaxed(cursor, which)
    size = max(left // (_TURNS * threads) // BLOCK, np.int64(1)) * BLOCK
    begin = min(atomic_add(cursor, which, size), n) if left > 0 and load_relaxed(stop, 0) == 0 else n
    return begin, min(begin + size, n)


@inline
def row_sum(rows, x, base, v):
    """The sum of ``x`` over the row of ``v``, times the weights; ``base`` is where the vector begins in ``x``.

    It adds in four chains, which do not wait for each other. Without weights, ``rows`` has an empty array of them.
    """
    offsets, targets, weights = rows
    arc, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    if weights.size > 0:
        while arc + 4 <= end:
            a += load(weights, arc) * load(x, base + np.int64(load(targets, arc)))
            b += load(weights, arc + 1) * load(x, base + np.int64(load(targets, arc + 1)))
            c += load(weights, arc + 2) * load(x, base + np.int64(load(targets, arc + 2)))
            d += load(weights, arc + 3) * load(x, base + np.int64(load(targets, arc + 3)))
            arc += 4
        while arc < end:
            a += load(weights, arc) * load(x, base + np.int64(load(targets, arc)))
            arc += 1
    else:
        while arc + 4 <= end:
            a += load(x, base + np.int64(load(targets, arc)))
            b += load(x, base + np.int64(load(targets, arc + 1)))
            c += load(x, base + np.int64(load(targets, arc + 2)))
            d += load(x, base + np.int64(load(targets, arc + 3)))
            arc += 4
        while arc < end:
            a += load(x, base + np.int64(load(targets, arc)))
            arc += 1
    return (a + b) + (c + d)


@inline
def folded(sums, which, blocks):
    """The sum over all blocks of quantity ``which``, whose places follow those of the quantities before it."""
    total = 0.0
    for block in range(which * blocks, (which + 1) * blocks):
        total += load(sums, block)
    return total


@kernel
def multiply(thread, threads, rows, x, y, cursor, stop):
    """``y[v]`` is the sum of ``x`` over the row of ``v``, times the weights."""
    n = y.size
    while True:
        begin, end = take_rows(cursor, 0, n, threads, stop)
        if begin >= n:
            break
        for v in range(begin, end):
            store(y, v, row_sum(rows, x, np.int64(0), v))


@kernel
def add_targets(thread, threads, start, offsets, targets, x, y, cursor, stop):
    """Add to ``y[v]`` the sum of ``x`` over the row of ``v``, one after the other.

    The rows are those of the vertices from ``start`` on, and ``offsets[0]`` is the position of the first arc.
    """
    n, base = offsets.size - 1, np.int64(offsets[0])
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, BLOCK)
        if begin >= n:
            break
        for row in range(begin, min(begin + BLOCK, n)):
            total = y[start + row]
            for arc in range(np.int64(offsets[row]) - base, np.int64(offsets[row + 1]) - base):
                total += x[targets[arc]]
            y[start + row] = total
