"""Peeling on all threads (after Kabir and Madduri, "Parallel k-core decomposition on multicore platforms", 2017).

For ascending k, each thread peels those of its vertices that have k neighbors left. If a neighbor comes down to k, the
thread whose subtraction did it peels it. Then each thread goes over its remaining vertices, drops the peeled ones, and
picks those that are next if the next k is k + 1, which it mostly is.

Shared memory. ``left`` holds the number of neighbors left, and in the end the core number. It is lowered by relaxed
atomics; exactly one of them finds k + 1, so that every vertex is peeled once. One that finds k or less overshot, and is
undone; the value that others see meanwhile is at most k and means "peeled" either way. A thread looks for vertices only
between two barriers in which no thread subtracts. ``rest``, ``ready`` and ``queue`` are private to each thread;
``below`` links the vertices that did not fit into a queue, and a vertex is in one queue only.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, load_relaxed, prefetch, store
from dromos.jit import barrier, inline, kernel, publish, published

BLOCK = 1024  # vertices dealt to a thread at a time, so that hubs and ranges of ids are spread
QUEUE = 4096
_NO_DEGREE = np.int64(1) << np.int64(40)
_AHEAD = 8  # neighbors
_PATIENCE = 1023  # vertices between two checks of the stop flag


def share(vertices: int, threads: int) -> int:
    """The most vertices that one of ``threads`` gets."""
    blocks = -(-vertices // BLOCK)
    return -(-blocks // threads) * BLOCK


@inline
def _pick(k, rest, ready, base, size, left, peeled):
    """Drop vertices with up to ``peeled`` neighbors left, pick those with ``k``: ``(kept, picked, least left)``."""
    kept, picked, least = np.int64(0), np.int64(0), _NO_DEGREE
    for i in range(size):
        v = load(rest, base + i)
        d = np.int64(load_relaxed(left, v))
        if d > peeled:
            least = min(least, d)
            if d == k:
                store(ready, base + picked, v)
                picked += 1
            store(rest, base + kept, v)
            kept += 1
    return kept, picked, least


@inline
def _peel(k, offsets, targets, left, ready, base, picked, queue, front, below, stop):
    """Peel the picked vertices and all that come down to ``k`` by it.

    Vertices are peeled first come, first served, since then the next rows are known and can be prefetched.
    """
    final = targets.size - 1
    at, first, last, spilled, steps = np.int64(0), np.int64(0), np.int64(0), np.int64(-1), np.int64(0)
    while True:
        if first < last:
            v = np.int64(load(queue, front + (first & (QUEUE - 1))))
            first += 1
            prefetch(targets, load(offsets, load(queue, front + (min(first + 4, last - 1) & (QUEUE - 1)))))
        elif spilled >= 0:
            v = spilled
            spilled = np.int64(load(below, v))
        elif at < picked:
            v = np.int64(load(ready, base + at))
            at += 1
            prefetch(targets, load(offsets, load(ready, base + min(at + 4, picked - 1))))
        else:
            return
        steps += 1
        if steps & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        for arc in range(load(offsets, v), load(offsets, v + 1)):
            u = np.int64(load(targets, arc))
            prefetch(left, load(targets, min(arc + _AHEAD, final)))
            if load_relaxed(left, u) > k:
                before = np.int64(atomic_add(left, u, -1))
                if before == k + 1:
                    if last - first < QUEUE:
                        store(queue, front + (last & (QUEUE - 1)), u)
                        last += 1
                    else:
                        store(below, u, spilled)
                        spilled = u
                elif before <= k:
                    atomic_add(left, u, 1)


@kernel
def peel(thread, threads, offsets, targets, left, rest, ready, queue, below, core, memory, stop):
    """Write the core numbers into ``core``.

    ``rest`` and ``ready`` have ``share(n, threads)`` entries per thread, ``queue`` has ``QUEUE``; ``left`` and
    ``below`` one per vertex. They may be uninitialized.
    """
    n = offsets.size - 1
    blocks = (n + BLOCK - 1) // BLOCK
    base, front = thread * ((blocks + threads - 1) // threads) * BLOCK, thread * QUEUE
    size, least = np.int64(0), _NO_DEGREE
    for block in range(thread, blocks, threads):
        for v in range(block * BLOCK, min((block + 1) * BLOCK, n)):
            d = load(offsets, v + 1) - load(offsets, v)
            store(left, v, d)
            store(rest, base + size, v)
            size += 1
            least = min(least, d)
    number, k, picked = np.int64(1), np.int64(-1), np.int64(0)
    publish(memory, thread, number, 0, least)
    barrier(memory, thread, threads, number)
    while True:
        lowest = _NO_DEGREE
        for other in range(threads):
            lowest = min(lowest, published(memory, other, number, 0))
        if lowest == _NO_DEGREE:
            break
        if lowest != k + 1 or k < 0:
            size, picked, _ = _pick(lowest, rest, ready, base, size, left, k)
            number += 1
            barrier(memory, thread, threads, number)  # no thread subtracts before all have looked
        k = lowest
        _peel(k, offsets, targets, left, ready, base, picked, queue, front, below, stop)
        number += 1
        publish(memory, thread, number, 1, np.int64(load_relaxed(stop, 0)) if thread == 0 else np.int64(0))
        barrier(memory, thread, threads, number)
        if published(memory, 0, number, 1) != 0:
            return
        size, picked, least = _pick(k + 1, rest, ready, base, size, left, k)
        number += 1
        publish(memory, thread, number, 0, least)
        barrier(memory, thread, threads, number)
    for v in range(n * thread // threads, n * (thread + 1) // threads):
        store(core, v, np.int64(load_relaxed(left, v)))
