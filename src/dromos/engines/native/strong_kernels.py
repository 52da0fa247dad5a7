"""Tarjan's algorithm without recursion, on one thread: it is a single depth-first search."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load, load_relaxed, store
from dromos.jit import inline, kernel

_PATIENCE = 4095  # vertices between two checks of the stop flag


@inline
def _close(v, path, size, order, label, closed):
    """Remove a component, all from ``v`` on, from the path; return the path's new size."""
    first = size - 1
    least = np.int64(load(path, first))
    while load(path, first) != v:
        first -= 1
        least = min(least, np.int64(load(path, first)))
    for i in range(first, size):
        w = load(path, i)
        store(label, w, least)
        store(order, w, closed)
    return first


@kernel
def tarjan(thread, threads, offsets, targets, order, low, path, calls, arcs, label, stop):
    """Label every vertex whose ``order`` is 0 by the least vertex of its component among those.

    All others have the number of vertices plus 1 in ``order``, which is also the final value once a vertex's component
    is known. In between, ``order`` is a vertex's number in the search; ``low`` is the lowest number that it is known to
    reach. ``path`` holds vertices whose component is not known yet, ``calls`` and ``arcs`` the state of the search.
    """
    n = offsets.size - 1
    closed, count, size = np.int64(n + 1), np.int64(0), np.int64(0)
    for root in range(n):
        if load(order, root) != 0:
            continue
        v, depth, fresh = np.int64(root), np.int64(0), True
        at, begin, reach = np.int64(0), np.int64(0), np.int64(0)
        while True:
            if fresh:
                count += 1
                if count & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
                    return
                store(order, v, count)
                store(path, size, v)
                size += 1
                at, begin, reach, fresh = load(offsets, v + 1), load(offsets, v), count, False
            while at > begin:
                at -= 1
                w = np.int64(load(targets, at))
                number = np.int64(load(order, w))
                if number == 0:
                    store(calls, depth, v)
                    store(arcs, depth, at)
                    store(low, v, reach)
                    depth += 1
                    v, fresh = w, True
                    break
                reach = min(reach, number)
            if fresh:
                continue
            if reach == load(order, v):
                size = _close(v, path, size, order, label, closed)
                reach = closed
            if depth == 0:
                break
            depth -= 1
            v = np.int64(load(calls, depth))
            at, begin = load(arcs, depth), load(offsets, v)
            reach = min(np.int64(load(low, v)), reach)
