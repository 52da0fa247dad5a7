"""Draws from rows: the arcs with the least random numbers of each row, in the order of the row.

The random number of an arc is a hash of its position, so the draws do not depend on threads.

Shared memory. The draws from a row are written by the thread that took the row.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.walks_kernels import STEP, mixed
from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import inline, kernel

_CHUNK = 16


@inline
def _sift(keys, arcs, base, at, size):
    """Move the key at ``at`` down in a heap whose first key is the greatest."""
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and load(keys, base + child + 1) > load(keys, base + child):
            child += 1
        if load(keys, base + at) >= load(keys, base + child):
            break
        key, arc = load(keys, base + at), load(arcs, base + at)
        store(keys, base + at, load(keys, base + child))
        store(arcs, base + at, load(arcs, base + child))
        store(keys, base + child, key)
        store(arcs, base + child, arc)
        at = child


@kernel
def draw(thread, threads, offsets, vertices, limit, salt, starts, arcs, keys, cursor, stop):
    """Write up to ``limit`` arcs of each vertex from ``starts`` on, in any order; ``keys`` is as long as ``arcs``."""
    while load_relaxed(stop, 0) == 0:
        first = atomic_add(cursor, 0, _CHUNK)
        if first >= vertices.size:
            break
        for row in range(first, min(first + _CHUNK, vertices.size)):
            v = np.int64(load(vertices, row))
            begin, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
            base, size = np.int64(load(starts, row)), min(end - begin, limit)
            for place in range(size):
                store(arcs, base + place, begin + place)
                store(keys, base + place, mixed((np.uint64(begin + place) ^ salt[0]) + STEP))
            if end - begin <= limit:
                continue
            for at in range(size // 2 - 1, -1, -1):
                _sift(keys, arcs, base, np.int64(at), size)
            for arc in range(begin + size, end):
                key = mixed((np.uint64(arc) ^ salt[0]) + STEP)
                if key < load(keys, base):
                    store(keys, base, key)
                    store(arcs, base, arc)
                    _sift(keys, arcs, base, np.int64(0), size)
