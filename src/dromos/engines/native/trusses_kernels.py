"""Truss numbers: triangles of each edge, then edges peeled from the fewest on.

Vertices are numbered by rising degree, and every triangle is found from its two lesser corners. Peeling is that of core
numbers by buckets (Batagelj and Zaveršnik) on edges instead of vertices: ``order`` has them by rising support,
``place[e]`` is where, ``begin[s]`` is where those of support s begin.

Shared memory. ``support`` is added to by relaxed atomics while triangles are counted; ``mark`` is each thread's own.
One thread peels.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import inline, lean_kernel

_CHUNK = 64
_PATIENCE = 1023


@lean_kernel
def count_support(thread, threads, offsets, targets, edge_of, higher, support, mark, cursor, stop):
    """The triangles of every edge; ``higher[v]`` is the first arc of v to a greater id; ``mark``: n zeros each."""
    n = offsets.size - 1
    mine = thread * n
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _CHUNK)
        if start >= n:
            break
        for u in range(start, min(start + _CHUNK, n)):
            if offsets[u + 1] - higher[u] < 2:
                continue
            for arc in range(higher[u], offsets[u + 1]):
                mark[mine + targets[arc]] = edge_of[arc] + 1
            for arc in range(higher[u], offsets[u + 1]):
                v = np.int64(targets[arc])
                found = np.int64(0)
                for other in range(higher[v], offsets[v + 1]):
                    third = mark[mine + targets[other]]
                    if third:
                        found += 1
                        atomic_add(support, edge_of[other], 1)
                        atomic_add(support, third - 1, 1)
                if found:
                    atomic_add(support, edge_of[arc], found)
            for arc in range(higher[u], offsets[u + 1]):
                mark[mine + targets[arc]] = 0


@inline
def _lower(edge, level, support, order, place, begin):
    """An edge loses a triangle: it goes to the front of its bucket, which begins one later."""
    s = support[edge]
    if s > level:
        first = begin[s]
        other = order[first]
        at = place[edge]
        order[first], order[at] = edge, other
        place[edge], place[other] = first, at
        begin[s] += 1
        support[edge] = s - 1


@lean_kernel
def peel(thread, threads, offsets, targets, edge_of, src, dst, support, order, place, begin, gone, stop):
    """Lower ``support`` to the truss number less two. One thread; ``gone`` is zeros."""
    for i in range(order.size):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        edge = order[i]
        level = support[edge]
        gone[edge] = 1
        if level == 0:
            continue
        u, v = np.int64(src[edge]), np.int64(dst[edge])
        if offsets[u + 1] - offsets[u] > offsets[v + 1] - offsets[v]:
            u, v = v, u
        low, end = offsets[v], offsets[v + 1]
        for arc in range(offsets[u], offsets[u + 1]):  # ids rise in both rows
            if gone[edge_of[arc]]:
                continue
            w = targets[arc]
            # the place of w in the other row: steps that double, then halves
            step = np.int64(1)
            while low + step < end and targets[low + step] < w:
                low += step
                step *= 2
            high = min(low + step, end - 1)
            while low < high:
                middle = (low + high) >> 1
                if targets[middle] < w:
                    low = middle + 1
                else:
                    high = middle
            if low < end and targets[low] == w and gone[edge_of[low]] == 0:
                _lower(edge_of[arc], level, support, order, place, begin)
                _lower(edge_of[low], level, support, order, place, begin)
