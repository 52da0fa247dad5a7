"""The push half of a joint traversal's level: the frontier's rows are merged into those of its out-neighbors.

A frontier of few arcs is pushed with a list: rows of ``following`` grow by atomics, the thread that set a vertex's bit
of ``listed`` queues it, and the queued vertices are settled afterwards. A frontier of many arcs is pushed without a
test and without a list: rows are merged into ``following``, and a pass over all vertices, which a pull needs anyhow,
finds what is new. If out-neighbors are sorted, each thread then takes a *range of targets* of every row, so that no row
of the table is written by two threads: no atomics, and each core has its own part of the table in its cache.

Why relaxed is enough. A bit of ``following`` that is not yet in ``seen`` was set in this level, by a thread that lists
the vertex itself before the barrier; ``listed`` is cleared after that barrier, when no thread lists vertices. A thread
that sees an older row merges bits that are there already, which changes nothing. Merged rows are read after the
barrier.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.joint_counts_kernels import MOST, consume
from dromos.engines.native.joint_rows import load_row, merge_row, row_and, row_any, row_or, row_without, store_row
from dromos.engines.native.levels import chunk_of
from dromos.intrinsics import atomic_add, atomic_or, load, load_relaxed, prefetch, store, store_relaxed
from dromos.jit import inline, kernel

BUFFER = MOST  # vertices that a thread settles, counts and queues at once; whole words of bits
_AHEAD = 8  # entries of the queue between a prefetch and its use
_LINES = 3  # cache lines of a row's arcs
_SHARES = 2  # ranges of targets for each thread, at most
_PART = 16  # arcs of a row that a share of the targets should have on average
_ONE = np.uint64(1)


@inline
def flush(order, cursors, tail, buffer, base, filled):
    """Append a thread's buffer to the queue ``order``."""
    at = atomic_add(cursors, tail, filled)
    for k in range(filled):
        store(order, at + k, load(buffer, base + k))


@inline
def _look_ahead(order, at, size, offsets, targets, front, width):
    """Prefetch what the queue's next vertices need: first the offsets of a row, later its arcs."""
    far = np.int64(load(order, min(at + 2 * _AHEAD, size - 1)))
    prefetch(offsets, far)
    prefetch(front, far * width)
    begin = np.int64(load(offsets, np.int64(load(order, min(at + _AHEAD, size - 1)))))
    for line in range(_LINES):
        prefetch(targets, begin + 16 * line)


@kernel
def push_listed(size, cursor, threads, like, offsets, targets, seen, front, following, listed, order, after, buffer,
                base, cursors, tail):  # fmt: skip
    """Give the bits of the frontier's vertices to neighbors that lack them, and queue these in ``after``."""
    width = len(like)
    filled = np.int64(0)
    chunk = chunk_of(size, threads, 1, BUFFER)
    while True:
        first = atomic_add(cursors, cursor, chunk)
        if first >= size:
            break
        for at in range(first, min(first + chunk, size)):
            _look_ahead(order, at, size, offsets, targets, front, width)
            u = np.int64(load(order, at))
            row = load_row(front, u * width, like)
            begin, end = np.int64(load(offsets, u)), np.int64(load(offsets, u + 1))
            for arc in range(begin, end):
                soon = np.int64(load(targets, min(arc + 8, end - 1))) * width
                prefetch(seen, soon)
                prefetch(following, soon)
                v = np.int64(load(targets, arc))
                lacking = row_without(row, load_row(seen, v * width, like))
                if row_any(lacking):
                    lacking = row_without(lacking, load_row(following, v * width, like))
                    if row_any(lacking):
                        merge_row(following, v * width, lacking)
                        bit = _ONE << np.uint64(v & 63)
                        if load_relaxed(listed, v >> 6) & bit == 0 and atomic_or(listed, v >> 6, bit) & bit == 0:
                            store(buffer, base + filled, v)
                            filled += 1
                            if filled == BUFFER:
                                flush(after, cursors, tail, buffer, base, filled)
                                filled = np.int64(0)
    if filled:
        flush(after, cursors, tail, buffer, base, filled)


@kernel
def settle(size, cursor, threads, level, like, live, offsets, in_offsets, seen, following, listed, after, counts,
           counts_base, into, n, cursors):  # fmt: skip
    """Mark what a push found as seen. Returns ``(bits, arcs of the vertices, arcs into saturated vertices)``."""
    width = len(like)
    bits, arcs, closed = row_without(like, like), np.int64(0), np.int64(0)
    chunk = chunk_of(size, threads, 1, BUFFER)
    while True:
        first = atomic_add(cursors, cursor, chunk)
        if first >= size:
            break
        last = min(first + chunk, size)
        for at in range(first, last):
            v = np.int64(load(after, at))
            known = load_row(seen, v * width, like)
            fresh = row_without(load_row(following, v * width, like), known)
            known = row_or(known, fresh)
            store_row(following, v * width, fresh)
            store_row(seen, v * width, known)
            bits = row_or(bits, fresh)
            arcs += np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v))
            if not row_any(row_without(live, known)):
                closed += np.int64(load(in_offsets, v + 1)) - np.int64(load(in_offsets, v))
            store_relaxed(listed, v >> 6, np.uint64(0))
        consume(after, first, last, following, width, level, counts, counts_base, into, n)
    return bits, arcs, closed


@kernel
def pick(light, size, thread, threads, like, offsets, front, order, picked, buffer, base, cursors, tail):
    """Queue the vertices of the frontier that searches of ``light`` reached; return the sum of their arcs."""
    width, filled, arcs = len(like), np.int64(0), np.int64(0)
    for at in range(size * thread // threads, size * (thread + 1) // threads):
        u = np.int64(load(order, at))
        if row_any(row_and(light, load_row(front, u * width, like))):
            arcs += np.int64(load(offsets, u + 1)) - np.int64(load(offsets, u))
            store(buffer, base + filled, u)
            filled += 1
            if filled == BUFFER:
                flush(picked, cursors, tail, buffer, base, filled)
                filled = np.int64(0)
    if filled:
        flush(picked, cursors, tail, buffer, base, filled)
    return arcs


@inline
def first_from(keys, begin, end, key):
    """The first index in the ascending ``keys[begin:end]`` with ``key`` or more."""
    left = end - begin
    while left > 0:
        half = left >> 1
        if np.int64(load(keys, begin + half)) < key:
            begin += half + 1
            left -= half + 1
        else:
            left = half
    return begin


@inline
def _merge_arcs(begin, end, row, like, targets, following):
    width = len(like)
    for arc in range(begin, end):
        if width >= 4:
            prefetch(following, np.int64(load(targets, min(arc + 12, end - 1))) * width)
        place = np.int64(load(targets, arc)) * width
        store_row(following, place, row_or(row, load_row(following, place, like)))


@kernel
def push_shares(light, size, arcs, cursor, threads, like, offsets, targets, in_offsets, front, following, order,
                cursors):  # fmt: skip
    """Merge the bits ``light`` of the queued vertices into their out-neighbors' rows, by ranges of targets.

    Rows of ``targets`` are sorted, unless there is one thread and so one range.
    """
    width, n, total = len(like), in_offsets.size - 1, np.int64(load(in_offsets, in_offsets.size - 1))
    shares = np.int64(1) if threads == 1 else min(max(arcs // (size * _PART), threads), _SHARES * threads)
    while True:
        share = atomic_add(cursors, cursor, np.int64(1))
        if share >= shares:
            break
        low = first_from(in_offsets, np.int64(0), n, total * share // shares) if share else np.int64(0)
        high = first_from(in_offsets, np.int64(0), n, total * (share + 1) // shares) if share + 1 < shares else n
        for at in range(size):
            _look_ahead(order, at, size, offsets, targets, front, width)
            u = np.int64(load(order, at))
            begin, end = np.int64(load(offsets, u)), np.int64(load(offsets, u + 1))
            if low > 0:
                begin = first_from(targets, begin, end, low)
            if high < n:
                end = first_from(targets, begin, end, high)
            _merge_arcs(begin, end, row_and(light, load_row(front, u * width, like)), like, targets, following)


@kernel
def push_merging(light, size, cursor, threads, like, offsets, targets, front, following, order, cursors):
    """As :func:`push_shares`, by ranges of the queue and with atomics."""
    width = len(like)
    chunk = chunk_of(size, threads, 1, BUFFER)
    while True:
        first = atomic_add(cursors, cursor, chunk)
        if first >= size:
            break
        for at in range(first, min(first + chunk, size)):
            _look_ahead(order, at, size, offsets, targets, front, width)
            u = np.int64(load(order, at))
            row = row_and(light, load_row(front, u * width, like))
            end = np.int64(load(offsets, u + 1))
            for arc in range(np.int64(load(offsets, u)), end):
                prefetch(following, np.int64(load(targets, min(arc + 8, end - 1))) * width)
                place = np.int64(load(targets, arc)) * width
                merge_row(following, place, row_without(row, load_row(following, place, like)))
