"""Lanczos' method in one call: products, the vectors that they span, and the best one of these.

Shared memory. Vectors of the basis are consecutive in ``basis``, not normalized; ``scale`` has the factors that make
their length 1. A vector's rows are written by the thread that took them, and read after a barrier. Sums over a vector
are added block by block, and every thread adds the blocks' sums in order. So all threads have the same numbers, which
do not depend on the number of threads, and all make the same decision whether to go on. Each thread has its own copy of
the small matrix.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.product_kernels import BLOCK, folded, row_sum, take_rows
from dromos.intrinsics import load, store
from dromos.jit import barrier, inline, kernel

EXHAUSTED = 1e-12  # relative to the eigenvalue: the rest of a product is rounding
_TINY = 2.2250738585072014e-308
_CLOSE = 1e-15  # relative to the eigenvalue: its precision
_ROUNDS = 100  # half of them find any number between two others to full precision
DIAGONAL, BESIDE, SCALE, VECTOR, ROOMS = 0, 1, 2, 3, 4  # of a thread's own numbers


@inline
def leading(own, diagonal, beside, vector, count, below):
    """The greatest eigenvalue of a symmetric tridiagonal matrix of ``count`` rows; its eigenvector is left in ``own``.

    ``below`` is the eigenvalue of the matrix without its last row. It is a lower bound, and together with the last row,
    as a matrix of two rows, gives an upper bound. This is Newton's method on the pivot of the first row, with
    elimination from the last row to the first; above all eigenvalues every pivot is positive. If a guess is too low for
    that, the next one is the midpoint. The ratio of two entries of the vector is that of an off-diagonal entry and a
    pivot.
    """
    low, guess = below, below
    last, link = load(own, diagonal + count - 1), load(own, beside + max(count - 2, 0))
    high = (below + last) / 2 + np.sqrt((below - last) * (below - last) / 4 + link * link)
    for _ in range(_ROUNDS if count > 1 else 0):
        pivot, slope, above = guess - last, 1.0, True
        for back in range(count - 1):
            row = count - 2 - back
            above &= pivot > 0
            ratio = load(own, beside + row) / pivot if above else 0.0
            store(own, vector + row + 1, ratio)
            slope = 1.0 + ratio * ratio * slope
            pivot = guess - load(own, diagonal + row) - load(own, beside + row) * ratio
        if above and pivot > 0:
            high = min(high, guess)
        else:
            low = max(low, guess)
        following = guess - pivot / slope
        if not above or not (low <= following and following <= high):
            following = (low + high) / 2
        if above and abs(following - guess) <= _CLOSE * abs(guess):
            break
        guess = following
    entry, square = 1.0, 1.0
    for row in range(1, count):
        entry *= load(own, vector + row)
        store(own, vector + row, entry)
        square += entry * entry
    store(own, vector, 1.0)
    for row in range(count):
        store(own, vector + row, load(own, vector + row) / np.sqrt(square))
    return guess


@kernel
def span(thread, threads, rows, back, has_back, basis, best, most, tolerance, sums, numbers, cursor, memory, told,
         stop):  # fmt: skip
    """Set ``best`` to the best vector in the space of the first vector of ``basis`` and up to ``most`` products.

    With ``has_back``, a product is one by ``back``, into a vector after the basis, and one by ``rows``. ``sums`` has
    five places for each block, ``numbers`` four sections of ``most + 1`` for each thread, ``cursor`` a place for each
    pass over rows: they are zero. ``told[0]`` gets the number of products.
    """
    n = best.size
    blocks = (n + BLOCK - 1) // BLOCK
    first_block, end_block = blocks * thread // threads, blocks * (thread + 1) // threads
    own = thread * ROOMS * (most + 1)
    diagonal, beside = own + DIAGONAL * (most + 1), own + BESIDE * (most + 1)
    scale, vector = own + SCALE * (most + 1), own + VECTOR * (most + 1)
    number = passed = last = np.int64(0)
    for block in range(first_block, end_block):
        square = 0.0
        for v in range(block * BLOCK, min((block + 1) * BLOCK, n)):
            square += load(basis, v) * load(basis, v)
        store(sums, block, square)
    number += 1
    barrier(memory, thread, threads, number)
    first_scale = 1.0 / np.sqrt(folded(sums, 0, blocks))
    store(numbers, scale, first_scale)
    number += 1
    barrier(memory, thread, threads, number)  # the sums are written again
    value = 0.0
    along, along_before, beside_before = 1.0, 0.0, 0.0  # the components of the last two vectors along the first
    while True:
        x, y = last * n, (last + 1) * n
        multiplied = x
        own_scale = load(numbers, scale + last)
        if has_back:
            multiplied = (most + 1) * n
            while True:
                begin, end = take_rows(cursor, passed, n, threads, stop)
                if begin >= n:
                    break
                for v in range(begin, end):
                    store(basis, multiplied + v, row_sum(back, basis, x, v))
            passed += 1
            number += 1
            barrier(memory, thread, threads, number)
        while True:
            begin, end = take_rows(cursor, passed, n, threads, stop)
            if begin >= n:
                break
            for block in range(begin // BLOCK, (end + BLOCK - 1) // BLOCK):
                by_last, by_first = 0.0, 0.0
                for v in range(block * BLOCK, min((block + 1) * BLOCK, n)):
                    total = own_scale * row_sum(rows, basis, multiplied, v)
                    store(basis, y + v, total)
                    by_last += load(basis, x + v) * total
                    by_first += load(basis, v) * total
                store(sums, block, by_last)
                store(sums, blocks + block, by_first)
        passed += 1
        number += 1
        barrier(memory, thread, threads, number)
        on_diagonal = own_scale * folded(sums, 0, blocks)
        store(numbers, diagonal + last, on_diagonal)
        # rounding reintroduces the direction that grows most
        astray = first_scale * folded(sums, 1, blocks) - on_diagonal * along - beside_before * along_before
        of_first = first_scale * astray if last > 0 else 0.0
        before = max(last - 1, np.int64(0))
        of_last, of_before = on_diagonal * own_scale, beside_before * load(numbers, scale + before)
        for block in range(first_block, end_block):
            square, size, by_first = 0.0, 0.0, 0.0
            for v in range(block * BLOCK, min((block + 1) * BLOCK, n)):
                first = load(basis, v)
                left = load(basis, y + v) - of_last * load(basis, x + v)
                left -= of_before * load(basis, before * n + v) + of_first * first
                store(basis, y + v, left)
                square += left * left
                size += abs(left)
                by_first += first * left
            store(sums, 2 * blocks + block, square)
            store(sums, 3 * blocks + block, size)
            store(sums, 4 * blocks + block, by_first)
        number += 1
        barrier(memory, thread, threads, number)
        length = np.sqrt(folded(sums, 2, blocks))
        store(numbers, beside + last, length)
        value = leading(numbers, diagonal, beside, vector, last + 1, value if last > 0 else on_diagonal)
        change = load(numbers, vector + last) * folded(sums, 3, blocks) / max(value, _TINY)
        exhausted = length <= EXHAUSTED * abs(load(numbers, diagonal))
        if last + 1 == most or exhausted or change < tolerance:
            break
        along_before, along = along, first_scale * folded(sums, 4, blocks) / length
        beside_before = length
        last += 1
        store(numbers, scale + last, 1.0 / length)
    for block in range(first_block, end_block):
        begin, end = block * BLOCK, min((block + 1) * BLOCK, n)
        part = load(numbers, vector) * first_scale
        for v in range(begin, end):
            store(best, v, part * load(basis, v))
        for number in range(1, last + 1):
            part = load(numbers, vector + number) * load(numbers, scale + number)
            for v in range(begin, end):
                store(best, v, load(best, v) + part * load(basis, number * n + v))
        for v in range(begin, end):  # the entries of the eigenvector have one sign: values below zero are rounding
            store(best, v, abs(load(best, v)))
    if thread == 0:
        store(told, 0, last + 1)
