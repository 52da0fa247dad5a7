"""Longest paths by one queue, on one thread: every edge is visited once, and no level waits for threads."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load, load_relaxed, store
from dromos.jit import kernel

_PATIENCE = 4095  # vertices between two checks of the stop flag


@kernel
def relax(thread, threads, offsets, targets, weights, left, level, distance, parent, queue, stop):
    """Lower ``left``, which starts as the in-degrees, and write the ``distance`` and ``parent`` of later vertices.

    Distances start as 0, and parents as the vertices themselves. The queue is in the order of levels, like supersteps:
    of two ways of the same length the one from the lesser level stays, and within a level the one from the greater
    vertex wins, as by a program's ARGMAX.
    """
    n, weighted = offsets.size - 1, weights.size != 0
    last = np.int64(0)
    for v in range(n):
        if load(left, v) == 0:
            store(queue, last, v)
            last += 1
    first = np.int64(0)
    while first < last:
        if first & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        v = np.int64(load(queue, first))
        first += 1
        here, base = load(level, v), load(distance, v)
        for arc in range(load(offsets, v), load(offsets, v + 1)):
            u = np.int64(load(targets, arc))
            along = base + (np.float64(load(weights, arc)) if weighted else 1.0)
            known = load(distance, u)
            if along > known:
                store(distance, u, along)
                store(parent, u, v)
            elif along == known:
                other = np.int64(load(parent, u))
                if other < v and other != u and load(level, other) == here:
                    store(parent, u, v)
            rest = load(left, u) - 1
            store(left, u, rest)
            if rest == 0:
                store(level, u, here + 1)
                store(queue, last, u)
                last += 1
