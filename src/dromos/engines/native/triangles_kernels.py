"""Triangles for even degrees: in the order of ids, on the graph's own rows.

Every triangle u > v > w is found once, at ``u``: the neighbors of ``u`` below it are marked, and those of each such
``v`` below it are looked up. If ``u`` has few neighbors, two rows are merged. If the row of ``v`` is much longer than
that of ``u``, the few are searched in the long one, so that a hub costs each of its neighbors a search instead of a
pass over its row. All edges together cost at most the sum of the smaller degree of their ends, times a logarithm.

Shared memory. The graph is only read. ``counts`` is updated by relaxed atomics. A thread's marks are private: a table
of bytes by the low bits of an id, which stays in the L1 cache and rejects nearly all, and after it a bit per vertex,
which is exact. Vertices are taken in chunks from ``cursor``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, load_relaxed, prefetch, store
from dromos.jit import LINE, inline, kernel

CHUNK = 1024
SHORT = 8  # neighbors; up to here rows are merged
LONG = 16  # times the neighbors of ``u``: from here they are searched in a row
FILTER = 1 << 14  # bytes
_LOW = np.int64(FILTER - 1)
_ONE = np.uint64(1)


@inline
def find(targets, first, last, wanted):
    """The first index of the sorted ``targets[first:last]`` whose entry is not below ``wanted``."""
    while first < last:
        middle = (first + last) >> 1
        if load(targets, middle) < wanted:
            first = middle + 1
        else:
            last = middle
    return first


@inline
def _search(targets, counts, few, end, first, last):
    """How many of ``targets[few:end]`` are in the longer row ``targets[first:last]``; each is credited."""
    found = np.int64(0)
    for at in range(few, end):
        w = load(targets, at)
        first = find(targets, first, last, w)
        if first < last and load(targets, first) == w:
            atomic_add(counts, w, np.int64(1))
            found += 1
    return found


@inline
def _merge(offsets, targets, counts, u, begin, end):
    """The triangles below ``u``, whose row is short."""
    found = np.int64(0)
    second = begin + 1  # the lowest neighbor has none below it to share
    while second < end:
        v = np.int64(load(targets, second))
        if v >= u:
            break
        first, last = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
        if last - first > LONG * SHORT:
            of_v = _search(targets, counts, begin, second, first, last)
        else:
            of_v = np.int64(0)
            for at in range(begin, second):
                w = load(targets, at)
                while load(targets, first) < w:  # ends: the row of v holds u, which is above w
                    first += 1
                if load(targets, first) == w:
                    atomic_add(counts, np.int64(w), np.int64(1))
                    of_v += 1
        if of_v:
            atomic_add(counts, v, of_v)
            found += of_v
        second += 1
    return found


@inline
def _marked(bits, base, w):
    return (load(bits, base + (w >> 6)) >> np.uint64(w & 63)) & _ONE != 0


@inline
def _look_up(offsets, targets, counts, begin, end, near, mine, bits, bit_base):
    """The triangles below a vertex whose lower neighbors are ``targets[begin:end]``, marked."""
    found = np.int64(0)
    for second in range(begin + 1, end):
        v = np.int64(load(targets, second))
        first, last = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
        if last - first > LONG * (second - begin):
            of_v = _search(targets, counts, begin, second, first, last)
        else:
            of_v = np.int64(0)
            w = np.int64(load(targets, first))
            while w < v:  # ends: the row of v holds u, which is above v
                if load(near, mine + (w & _LOW)) != 0 and _marked(bits, bit_base, w):
                    atomic_add(counts, w, np.int64(1))
                    of_v += 1
                first += 1
                w = np.int64(load(targets, first))
        if of_v:
            atomic_add(counts, v, of_v)
            found += of_v
    return found


@kernel
def count_in_order(thread, threads, offsets, targets, counts, near, bits, cursor, stop, totals):
    """Add every triangle to the counts of its three corners; ``totals[thread * LINE]`` gets this thread's number.

    Rows are sorted and without duplicates. ``near`` has ``FILTER`` bytes per thread and ``bits`` one bit per vertex and
    thread; both are all zeros, before and after.
    """
    n = offsets.size - 1
    mine = thread * FILTER
    bit_base = thread * ((n + 63) >> 6)
    total = np.int64(0)
    while True:
        start = atomic_add(cursor, 0, CHUNK)
        if start >= n or load_relaxed(stop, 0) != 0:
            break
        for u in range(start, min(start + CHUNK, n)):
            begin, end = np.int64(load(offsets, u)), np.int64(load(offsets, u + 1))
            if end - begin <= SHORT:
                found = _merge(offsets, targets, counts, u, begin, end)
            else:
                end = find(targets, begin, end, u)
                if end - begin < 2:
                    continue
                for at in range(begin, end):
                    w = np.int64(load(targets, at))
                    word = bit_base + (w >> 6)
                    store(near, mine + (w & _LOW), np.uint8(1))
                    store(bits, word, load(bits, word) | (_ONE << np.uint64(w & 63)))
                    prefetch(offsets, w)
                for at in range(begin + 1, end):
                    row = np.int64(load(offsets, load(targets, at)))
                    prefetch(targets, row)
                    prefetch(targets, row + 16)
                found = _look_up(offsets, targets, counts, begin, end, near, mine, bits, bit_base)
                for at in range(begin, end):
                    w = np.int64(load(targets, at))
                    store(near, mine + (w & _LOW), np.uint8(0))
                    store(bits, bit_base + (w >> 6), np.uint64(0))
            if found:
                atomic_add(counts, u, found)
                total += found
    store(totals, thread * LINE, total)
