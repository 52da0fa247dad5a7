"""Brandes's two sweeps from one source, in one call: count paths level by level, then gather dependencies backward.

There are two copies of each gathered number (paths, and dependencies per path), for even and for odd levels. A vertex
writes the copy of its own level's parity and reads the other. There, only its neighbors of the level just finished are
nonzero: those of its own level are in the copy that it does not read, those of later levels are not yet written, and no
arc leads two levels on. So a row is a plain sum: no test of levels, and no atomic.

A level is found either by a push, in which the vertices of the level before claim their neighbors, or, if that level
has many of the remaining arcs, by a pull of the unreached vertices: a vertex is reached if its sum is not zero.

Shared memory. A bit of ``seen`` is claimed by an atomic; in a pull a chunk has whole words, which belong to its thread.
``order`` lists vertices by level; a thread fills its own buffer and reserves a place for it by an atomic on the tail.
Every other entry is written by the thread that took the vertex's chunk, and read after a barrier. Two cursors alternate
by phase; the unused one is reset after the barrier.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.levels import chunk_of, ready
from dromos.engines.native.path_counts import LARGE, far_dependencies, far_paths, row_sum
from dromos.intrinsics import atomic_add, atomic_or, load, load_relaxed, prefetch, store, store_relaxed
from dromos.jit import LINE, barrier, inline, kernel, publish, total

BUFFER = 1024  # whole words of 64 bits
PULL = 15  # a level with more arcs than one in so many of all vertices and of the remaining arcs is pulled from
CURSORS = 3  # two for chunks, one for the tail of ``order``
_TAIL = 2 * LINE
# what threads publish at a barrier
_FOUND, _ARCS, _LARGE, _STOP = 0, 1, 2, 3
_ONE = np.uint64(1)


@inline
def _finish(memory, cursors, stop, thread, threads, number, found, arcs, high):
    """End a phase at barrier ``number``: publish what it found, wait for all threads, and reset the other cursor."""
    publish(memory, thread, number, _FOUND, found)
    publish(memory, thread, number, _ARCS, arcs)
    publish(memory, thread, number, _LARGE, np.int64(high >= LARGE))
    publish(memory, thread, number, _STOP, np.int64(load_relaxed(stop, 0)) if thread == 0 else np.int64(0))
    ready(memory, cursors, thread, threads, number)


@inline
def _flush(order, cursors, buffer, base, filled):
    at = atomic_add(cursors, _TAIL, filled)
    for k in range(filled):
        store(order, at + k, load(buffer, base + k))


@inline
def _ask_ahead(order, at, last, offsets, targets):
    """Prefetch the rows of vertices that come soon."""
    prefetch(offsets, load(order, min(at + 16, last)))
    row = load(offsets, load(order, min(at + 8, last)))
    prefetch(targets, row)
    prefetch(targets, row + 16)


@inline
def _visit(
    begin, end, cursor, threads, counting, claiming, far, offsets, targets, in_offsets, in_targets, seen,
    order, read, write, exponent, buffer, base, cursors,
):  # fmt: skip
    """Process a level: count the paths to its vertices, let them claim those of the next level, or both.

    Returns ``(claimed vertices, their arcs, the largest count)``.
    """
    found, arcs, filled, high = np.int64(0), np.int64(0), np.int64(0), 0.0
    chunk = chunk_of(end - begin, threads, 16, BUFFER)
    while True:
        first = begin + atomic_add(cursors, cursor, chunk)
        if first >= end:
            break
        for at in range(first, min(first + chunk, end)):
            _ask_ahead(order, at, end - 1, in_offsets, in_targets)
            v = load(order, at)
            if counting:
                row, after = load(in_offsets, v), load(in_offsets, v + 1)
                if far:
                    paths, power = far_paths(read, exponent, in_targets, row, after)
                    store(exponent, v, power)
                else:
                    paths = row_sum(read, in_targets, row, after)
                store(write, v, paths)
                high = max(high, paths)
            if claiming:
                for arc in range(load(offsets, v), load(offsets, v + 1)):
                    w = np.int64(load(targets, arc))
                    bit = _ONE << np.uint64(w & 63)
                    if load_relaxed(seen, w >> 6) & bit == 0 and atomic_or(seen, w >> 6, bit) & bit == 0:
                        arcs += load(offsets, w + 1) - load(offsets, w)
                        found += 1
                        store(buffer, base + filled, w)
                        filled += 1
                        if filled == BUFFER:
                            _flush(order, cursors, buffer, base, filled)
                            filled = np.int64(0)
    if filled:
        _flush(order, cursors, buffer, base, filled)
    return found, arcs, high


@inline
def _pull(cursor, offsets, in_offsets, in_targets, seen, order, read, write, buffer, base, cursors):
    """Find and count the next level by the sums of all unreached vertices; returns as :func:`_visit`."""
    n = offsets.size - 1
    found, arcs, high = np.int64(0), np.int64(0), 0.0
    while True:
        first = atomic_add(cursors, cursor, BUFFER)
        if first >= n:
            break
        filled = np.int64(0)
        for v in range(first, min(first + BUFFER, n)):
            bit = _ONE << np.uint64(v & 63)
            if load(seen, v >> 6) & bit == 0:
                paths = row_sum(read, in_targets, load(in_offsets, v), load(in_offsets, v + 1))
                if paths > 0:
                    store(seen, v >> 6, load(seen, v >> 6) | bit)
                    store(write, v, paths)
                    high = max(high, paths)
                    arcs += load(offsets, v + 1) - load(offsets, v)
                    store(buffer, base + filled, v)
                    filled += 1
        if filled:
            _flush(order, cursors, buffer, base, filled)
            found += filled
    return found, arcs, high


@inline
def _forward(
    thread, threads, source, offsets, targets, in_offsets, in_targets, seen, order, starts, even, odd, exponent, buffer,
    cursors, memory, stop,
):  # fmt: skip
    """Levels and paths: ``(the last level, the first one with powers, the number of the last barrier, stopped)``."""
    n, base = offsets.size - 1, thread * BUFFER
    begin, end, d, number = np.int64(0), np.int64(1), np.int64(0), np.int64(1)
    counted, far, first_far = True, False, np.int64(1) << np.int64(40)
    arcs = load(offsets, source + 1) - load(offsets, source)
    left = targets.size - arcs
    if thread == 0:
        store(order, 0, source)
        store(seen, source >> 6, _ONE << np.uint64(source & 63))
        store(even, source, 1.0)
        store(starts, 0, 0)
        store(starts, 1, 1)
        store_relaxed(cursors, 0, 0)
        store_relaxed(cursors, LINE, 0)
        store_relaxed(cursors, _TAIL, 1)
    barrier(memory, thread, threads, number)
    while True:
        pulling = arcs * PULL > left + n and not far
        own = odd if d & 1 else even
        other = even if d & 1 else odd
        cursor = (number & 1) * LINE
        if pulling and counted:
            found, reached, high = _pull(
                cursor, offsets, in_offsets, in_targets, seen, order, own, other, buffer, base, cursors
            )
        else:
            found, reached, high = _visit(
                begin, end, cursor, threads, not counted, not pulling, far, offsets, targets, in_offsets,
                in_targets, seen, order, other, own, exponent, buffer, base, cursors,
            )  # fmt: skip
        number += 1
        _finish(memory, cursors, stop, thread, threads, number, found, reached, high)
        found, reached = total(memory, threads, number, _FOUND), total(memory, threads, number, _ARCS)
        stopped = total(memory, threads, number, _STOP) > 0
        pulled = pulling and counted
        if total(memory, threads, number, _LARGE) > 0 and not far:
            far, first_far = True, d + 2 if pulled else d + 1
        if pulling and not counted and not stopped:
            counted = True  # now its vertices can be pulled from
            continue
        if found == 0 or stopped:
            return d, first_far, number, stopped
        counted = pulled
        arcs = reached
        left -= reached
        d += 1
        begin, end = end, end + found
        if thread == 0:
            store(starts, d + 1, end)


@inline
def _gather(begin, end, cursor, threads, last, far, offsets, targets, order, own, read, write, exponent, cursors):
    """Gather the dependencies of a level's vertices from the next level; written in place of their paths."""
    chunk = chunk_of(end - begin, threads, 16, BUFFER)
    while True:
        first = begin + atomic_add(cursors, cursor, chunk)
        if first >= end:
            return
        for at in range(first, min(first + chunk, end)):
            _ask_ahead(order, at, end - 1, offsets, targets)
            v = load(order, at)
            paths = load(own, v)
            if last:
                dependency = 0.0
            elif far:
                row, after = load(offsets, v), load(offsets, v + 1)
                dependency = paths * far_dependencies(read, exponent, targets, row, after, load(exponent, v))
            else:
                dependency = paths * row_sum(read, targets, load(offsets, v), load(offsets, v + 1))
            store(own, v, dependency)
            store(write, v, (1.0 + dependency) / paths)


@inline
def _collect(v, even, odd, even_back, odd_back, exponent, score, extra):
    """Add the vertex's dependency to its score, and reset all entries to zero."""
    store(score, v, load(score, v) + (load(even, v) + load(odd, v)) + extra)
    store(even, v, 0.0)
    store(odd, v, 0.0)
    store(even_back, v, 0.0)
    store(odd_back, v, 0.0)
    store(exponent, v, 0)


@kernel
def sweep(
    thread, threads, source, extra, offsets, targets, in_offsets, in_targets, seen, order, starts, even, odd,
    even_back, odd_back, exponent, score, buffer, cursors, memory, stop,
):  # fmt: skip
    """Add the dependencies of ``source`` to ``score``, and ``extra`` to every other vertex that it reaches.

    ``seen``, the copies and ``exponent`` are all zeros, before and, unless it was stopped, after the call; ``order``
    and ``starts`` need not be. The source's own entry gets its credit as an endpoint: ``extra`` for each vertex
    reached.
    """
    n = offsets.size - 1
    d, first_far, number, stopped = _forward(
        thread, threads, source, offsets, targets, in_offsets, in_targets, seen, order, starts, even, odd, exponent,
        buffer, cursors, memory, stop,
    )  # fmt: skip
    last = d
    while d > 0 and not stopped:
        own = odd if d & 1 else even
        read = even_back if d & 1 else odd_back
        write = odd_back if d & 1 else even_back
        _gather(
            load(starts, d), load(starts, d + 1), (number & 1) * LINE, threads, d == last, d + 1 >= first_far,
            offsets, targets, order, own, read, write, exponent, cursors,
        )  # fmt: skip
        d -= 1
        number += 1
        _finish(memory, cursors, stop, thread, threads, number, 0, 0, 0.0)
        stopped = total(memory, threads, number, _STOP) > 0
    if stopped:
        return
    reached = load(starts, last + 1)
    if thread == 0:
        store(even, source, extra * (reached - 1) - extra)
    barrier(memory, thread, threads, number + 1)
    if reached < n // 8:
        for at in range(reached * thread // threads, reached * (thread + 1) // threads):
            v = np.int64(load(order, at))
            _collect(v, even, odd, even_back, odd_back, exponent, score, extra)
            store(seen, v >> 6, np.uint64(0))
    else:
        words = seen.size
        for word in range(words * thread // threads, words * (thread + 1) // threads):
            bits = load(seen, word)
            store(seen, word, np.uint64(0))
            for v in range(word << 6, min((word + 1) << 6, n)):
                here = extra if (bits >> np.uint64(v & 63)) & _ONE else 0.0
                _collect(v, even, odd, even_back, odd_back, exponent, score, here)
