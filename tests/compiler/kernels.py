"""Kernels that say what the compiler knows; the tests run them by it and by Numba."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.intrinsics import (
    atomic_add,
    atomic_and,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_swap,
    atomic_swap_acq_rel,
    compare_and_swap,
    compare_and_swap_relaxed,
    count_bits,
    load,
    load_acquire,
    load_relaxed,
    load_unaligned,
    load_unordered,
    prefetch,
    store,
    store_relaxed,
    store_release,
    trailing_zeros,
)
from dromos.jit import inline, kernel

STEP = 3
SMALL = np.uint8(200)
WANTED = False


@kernel
def integers(thread, threads, a, b, out):
    for i in range(a.size):
        x, y = a[i], b[i]
        out[0, i] = np.int64(x + y)
        out[1, i] = np.int64(x - y)
        out[2, i] = np.int64(x * y)
        out[3, i] = np.int64(x // y)
        out[4, i] = np.int64(x % y)
        out[5, i] = np.int64(x & y) ^ np.int64(x | y)
        out[6, i] = np.int64(x ^ y)
        out[7, i] = np.int64(x << (y & 31)) + np.int64(x >> (y & 31))
        out[8, i] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y)
        out[9, i] = np.int64(~x) + np.int64(-y)
        out[10, i] = np.int64(min(x, y)) - np.int64(max(x, y, x))
        out[11, i] = np.int64(abs(x))
        out[12, i] = np.int64(np.int8(x)) + np.int64(np.uint16(y)) + np.int64(np.uint32(x)) + np.int64(np.int32(y))
        out[13, i] = np.int64(np.float64(x) / 3.0) + np.int64(x / 7)
        out[14, i] = np.int64(count_bits(x)) + np.int64(trailing_zeros(y))
        out[15, i] = np.int64(x + SMALL) + (1 if x else 0) + (5 if not y else 0)
        out[16, i] = x // STEP + x % -STEP if x < STEP else y // np.int64(8)


@kernel
def fractions(thread, threads, a, b, out):
    for i in range(a.size):
        x, y = a[i], b[i]
        out[0, i] = x + y
        out[1, i] = x - y * x
        out[2, i] = x / y
        out[3, i] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y)
        out[4, i] = min(x, y)
        out[5, i] = max(x, y)
        out[6, i] = abs(x) - (-y)
        out[7, i] = np.sqrt(abs(x)) + np.floor(y) - np.ceil(x)
        out[8, i] = np.isnan(x) + 2 * np.isfinite(y)
        out[9, i] = np.exp(-abs(x)) + np.log(1 + abs(y)) + np.tanh(x) + np.arctan(y) + np.log1p(abs(x))
        out[10, i] = np.float32(x) * np.float32(0.1)
        out[11, i] = x + 1 if 0.5 < x < np.inf else y * np.int32(3)
        out[12, i] = np.float32(1) / 3 + x
        out[13, i] = x if y else -x
        out[14, i] = x % y
        out[15, i] = np.remainder(x, y) + y % 0.75
        out[16, i] = abs(x) ** y + x**3.0


@inline
def sign(x):
    if x < 0:
        return np.int32(-1), False
    if x == 0:
        return np.int64(0), True
    return np.int64(1), False


@inline
def last_below(values, limit):
    found = -1
    for i in range(values.size):
        if values[i] >= limit:
            break
        if values[i] % 2 == 0:
            continue
        found = i
    return found


@inline
def nothing(values, i):
    if values[i] > 3:
        return
    values[i] = 4


@kernel
def control(thread, threads, values, pair, flags, out):
    first, (second, scale) = pair
    for i in range(values.size - 1, -1, -1):
        number, is_zero = sign(values[i])
        out[0] += number + 10 * is_zero
    out[1] = last_below(values, 7)
    nothing(values, 0)
    step = STEP - 2 * thread
    for i in range(0, 10, step):
        out[2] += i * i
    for i in range(thread + 10, 0, -step):
        out[3] += i
    count = 0
    while True:
        count += 1
        if count > 5 and (count % 4 == 0 or count == 11):
            break
        first, second = second, first
        if first.size > 2 and not (second[0] < 2):
            reached = count  # read behind the block
    out[4] = count + first[0] + reached
    narrow = np.int32(7)
    for _ in range(3):
        narrow = narrow * np.int32(1000)
    out[5] = narrow
    some = flags[0] or flags[1]
    some &= values.shape[0] > 2 and flags[2]
    flags[3] = some
    joined = (1, scale) + pair[1][1:] + (2,)  # noqa: RUF005
    out[6] = np.int64(joined[1] * joined[-1]) + np.int64(joined[2])
    left, right = (out[0], 1) if flags[0] else (np.int32(2), out[1])
    out[7] = left + right
    if WANTED:
        out[8] = 99
    elif thread == 0 and threads == 1:
        out[8] = values[-1] + values[np.uint8(1)]
    else:
        pass
    out[-1] = first.size


@kernel
def places(thread, threads, strided, table, turned, truths, out):
    total = 0.0
    for i in range(strided.size):
        total += strided[i] - load(strided, i)
        for j in range(table.shape[1]):
            total += table[i, j] * turned[j, i]
            total += load_relaxed(table, (i, j))
            store_relaxed(turned, (j, i), total)
        truths[i] = truths[i - 1] != (i % 3 == 1)
        strided[i] = truths[i]
    out[0] = total


@kernel
def atomics(thread, threads, whole, real, narrow, raw, out):
    for i in range(whole.size):
        prefetch(whole, i + 100)
        v = whole[i]
        out[0] += atomic_add(whole, i, 5) + atomic_or(whole, i, 2) + atomic_and(whole, i, -4)
        out[1] += atomic_min(whole, i, v) + atomic_max(whole, i, i) + atomic_swap(whole, i, v + 1)
        out[2] += compare_and_swap(whole, i, v + 1, v) + 2 * compare_and_swap_relaxed(whole, i, v + 1, v)
        out[3] += np.int64(1000 * (atomic_add(real, i, 0.5) + atomic_min(real, i, -0.25) + atomic_max(real, i, 0.75)))
        out[3] += np.int64(1000 * (atomic_min(real, i, 0.125) + atomic_max(real, i, -8.0) + atomic_swap(real, i, v)))
        out[4] += atomic_max(narrow, i, 250) + atomic_min(narrow, i, 3) + atomic_swap_acq_rel(narrow, i, i)
        out[5] += load_acquire(whole, i) + np.int64(load_unordered(real, i)) + load_relaxed(narrow, i)
        store_release(narrow, i, 255)
        store(real, i, i)
        out[6] += np.int64(load_unaligned(raw, i) >> np.uint64(3))


@kernel
def loops(thread, threads, values, out):
    for i in range(values.size):
        if values[i] < 0:
            continue
        out[0] += values[i]
    left = values.size
    while left > 0:
        left -= 1
        if values[left] == 2:
            continue
        out[1] += left
    while True:
        out[2] += 1
        if out[2] < 4:
            continue
        break
