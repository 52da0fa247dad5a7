"""Conjugate gradients for Katz' equations in one call: products, and the vector operations between them.

Shared memory. Rows of a product are written by the thread that took them; operations by vertex are done by each thread
for its own blocks. Sums are added block by block, and every thread adds the blocks' sums in order, so that all have the
same numbers, whatever the number of threads, and make the same decisions. ``direction`` is only written between
barriers.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.product_kernels import BLOCK, folded, row_sum, take_rows
from dromos.intrinsics import load, store, store_relaxed
from dromos.jit import barrier, inline, kernel

LIMIT, CONVERGED, NOT_DEFINITE = 0, 1, 2
_SINGULAR = 1e-12  # an eigenvalue of ``1 - alpha A`` that is zero up to rounding
_ROUNDING = 1e-15  # relative to the centralities: the unnoticed effect of a step on the residual


@inline
def _multiply(rows, alpha, constant, x, y, is_step, sums, cursor, threads, stop):
    """``y = x - alpha A x``, with the sum of ``x * y``; or a plain step ``y = 1 + alpha A x``, with its change.

    ``constant``: ``x`` is ones, so without weights there is nothing to gather.
    """
    offsets, _, weights = rows
    n = x.size
    while True:
        begin, end = take_rows(cursor, 0, n, threads, stop)
        if begin >= n:
            break
        for block in range(begin // BLOCK, (end + BLOCK - 1) // BLOCK):
            total = 0.0
            for v in range(block * BLOCK, min((block + 1) * BLOCK, n)):
                if constant and weights.size == 0:
                    along = alpha * np.float64(load(offsets, v + 1) - load(offsets, v))
                else:
                    along = alpha * row_sum(rows, x, np.int64(0), v)
                before = load(x, v)
                if is_step:
                    store(y, v, 1.0 + along)
                    total += abs(1.0 + along - before)
                else:
                    store(y, v, before - along)
                    total += before * (before - along)
            store(sums, block, total)


@kernel
def solve(thread, threads, rows, alpha, tolerance, limit, x, residual, direction, product, sums, cursor, memory, told,
          stop):  # fmt: skip
    """Solve ``x = 1 + alpha A x``, until a step changes ``x`` by less than ``tolerance`` in sum, or ``limit`` products.

    ``sums`` has four places for each block; ``cursor`` is zero. ``told`` gets the number of products, and why they
    ended. If the matrix ``1 - alpha A`` turns out not to be positive definite, ``x`` is meaningless.
    """
    n = x.size
    blocks = (n + BLOCK - 1) // BLOCK
    first, last = blocks * thread // threads * BLOCK, min(blocks * (thread + 1) // threads * BLOCK, n)
    number = products = np.int64(0)
    for v in range(first, last):
        store(x, v, 0.0)
        store(residual, v, 1.0)
        store(direction, v, 1.0)
    number += 1
    barrier(memory, thread, threads, number)
    square, ended = np.float64(n), LIMIT
    by_steps = False
    while products < limit:
        _multiply(rows, alpha, products == 0, direction, product, False, sums, cursor, threads, stop)
        products += 1
        number += 1
        barrier(memory, thread, threads, number)
        curvature = folded(sums, 0, blocks)
        if not curvature > _SINGULAR * square:
            ended = NOT_DEFINITE
            break
        step = square / curvature
        if thread == 0:
            store_relaxed(cursor, 0, np.int64(0))
        for begin in range(first, last, BLOCK):
            squares, change, size = 0.0, 0.0, 0.0
            for v in range(begin, min(begin + BLOCK, last)):
                value = load(x, v) + step * load(direction, v)
                left = load(residual, v) - step * load(product, v)
                store(x, v, value)
                store(residual, v, left)
                squares += left * left
                change += abs(left)
                size += abs(value)
            store(sums, blocks + begin // BLOCK, squares)
            store(sums, 2 * blocks + begin // BLOCK, change)
            store(sums, 3 * blocks + begin // BLOCK, size)
        number += 1
        barrier(memory, thread, threads, number)
        if folded(sums, 2, blocks) < tolerance:
            # the residual is the change of the next step, up to the rounding of all steps so far
            by_steps = tolerance < _ROUNDING * np.float64(products) * folded(sums, 3, blocks)
            ended = LIMIT if by_steps else CONVERGED
            break
        following = folded(sums, 1, blocks)
        ratio, square = following / square, following
        for v in range(first, last):
            store(direction, v, load(residual, v) + ratio * load(direction, v))
        number += 1
        barrier(memory, thread, threads, number)
    if ended == CONVERGED:
        for v in range(first, last):
            store(x, v, load(x, v) + load(residual, v))
    while by_steps and ended == LIMIT and products < limit:
        _multiply(rows, alpha, False, x, product, True, sums, cursor, threads, stop)
        products += 1
        number += 1
        barrier(memory, thread, threads, number)
        if folded(sums, 0, blocks) < tolerance:
            ended = CONVERGED
        if thread == 0:
            store_relaxed(cursor, 0, np.int64(0))
        for v in range(first, last):
            store(x, v, load(product, v))
        number += 1
        barrier(memory, thread, threads, number)
    if thread == 0:
        store(told, 0, products)
        store(told, 1, ended)
