"""Topological levels by one queue, on one thread: every edge is visited once, and no level waits for threads."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load_relaxed
from dromos.jit import kernel

_PATIENCE = 4095  # vertices between two checks of the stop flag


@kernel
def order(thread, threads, offsets, targets, left, level, queue, stop):
    """Lower ``left``, which starts as the in-degrees, and write ``level``, which starts as zeros."""
    n = offsets.size - 1
    last = np.int64(0)
    for v in range(n):
        if left[v] == 0:
            queue[last] = v
            last += 1
    first = np.int64(0)
    while first < last:
        if first & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        v = queue[first]
        first += 1
        below = level[v] + 1
        for arc in range(offsets[v], offsets[v + 1]):
            u = targets[arc]
            left[u] -= 1
            if left[u] == 0:  # the queue is in the order of levels: v is on the deepest one before u
                level[u] = below
                queue[last] = u
                last += 1
