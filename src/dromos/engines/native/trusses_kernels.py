"""Truss numbers: triangles of each edge, then edges peeled from the fewest on.

Vertices are numbered by rising degree, and every triangle is found from its two lesser corners. Edges are peeled level
by level, all that are at the level at once (Kabir and Madduri, "Parallel k-truss decomposition on multicore systems",
2017).

Shared memory. ``support`` is added to by relaxed atomics; ``mark`` is each thread's own; ``gone`` is only read while
edges are peeled, and lists are appended to by an atomic count. An edge is named by the thread that has its lesser end.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import inline, kernel

_CHUNK = 64  # vertices that a thread takes at once
_EDGES = 16
_RUN = 4096  # of a list that is looked through


@kernel
def find_higher(thread, threads, offsets, targets, higher):
    """``higher[v]``: the first arc of v to a greater id."""
    n = offsets.size - 1
    for v in range(n * thread // threads, n * (thread + 1) // threads):
        higher[v] = _place(targets, offsets[v], offsets[v + 1], v)


@kernel
def name_edges(thread, threads, offsets, targets, higher, base, edge_of, src, dst, cursor, stop):
    """The edge of each arc and the ends of each edge; those of v to greater ids are named from ``base[v]`` on."""
    n = offsets.size - 1
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _CHUNK)
        if start >= n:
            break
        for v in range(start, min(start + _CHUNK, n)):
            edge = base[v]
            for arc in range(higher[v], offsets[v + 1]):
                w = np.int64(targets[arc])
                src[edge] = v
                dst[edge] = w
                edge_of[arc] = edge
                edge_of[_place(targets, offsets[w], higher[w], v)] = edge
                edge += 1


@kernel
def tell(thread, threads, offsets, targets, higher, base, rank, src, dst, support, truss):
    """The truss number of the edges between the given ids ``src`` and ``dst``; ``rank`` names vertices as rows do."""
    for i in range(src.size * thread // threads, src.size * (thread + 1) // threads):
        a, b = np.int64(rank[src[i]]), np.int64(rank[dst[i]])
        u, v = min(a, b), max(a, b)
        edge = base[u] + _place(targets, higher[u], offsets[u + 1], v) - higher[u]
        truss[i] = support[edge] + 2


@inline
def _place(targets, low, high, wanted):
    """The first place in ``low..high`` whose target is not below ``wanted``."""
    while low < high:
        middle = (low + high) >> 1
        if targets[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def sift(thread, threads, left, size, support, gone, kept, count, least, cursor, stop):
    """Those of the first ``size`` of ``left`` that are not gone, into ``kept``; the least support that a thread saw."""
    lowest = np.int64(1 << 62)
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _RUN)
        if start >= size:
            break
        end, here = min(start + _RUN, size), 0
        for i in range(start, end):
            here += gone[left[i]] == 0
        at = atomic_add(count, 0, here)
        for i in range(start, end):
            if gone[left[i]] == 0:
                kept[at] = left[i]
                at += 1
                lowest = min(lowest, support[left[i]])
    least[thread] = lowest


@kernel
def take(thread, threads, left, size, support, level, taken, count, cursor, stop):
    """Those of the first ``size`` of ``left`` that have ``level`` triangles, into ``taken``."""
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _RUN)
        if start >= size:
            break
        end, here = min(start + _RUN, size), 0
        for i in range(start, end):
            here += support[left[i]] == level
        at = atomic_add(count, 0, here)
        for i in range(start, end):
            if support[left[i]] == level:
                taken[at] = left[i]
                at += 1


@kernel
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
def _lower(edge, level, support, following, count):
    """An edge loses a triangle; it follows on this level if that was the last one above it."""
    before = atomic_add(support, edge, -1)
    if before == level + 1:
        following[atomic_add(count, 0, 1)] = edge
    elif before <= level:
        atomic_add(support, edge, 1)  # others were quicker, and it is of this level already


@inline
def _find(targets, low, end, wanted):
    """The first place from ``low`` on whose target is not below ``wanted``: steps that double, then halves."""
    step = np.int64(1)
    while low + step < end and targets[low + step] < wanted:
        low += step
        step *= 2
    return _place(targets, low, min(low + step, end), wanted)


@kernel
def peel(
    thread, threads, offsets, targets, edge_of, src, dst, support, gone, current, size, level, following, count, cursor,
    stop,
):  # fmt: skip
    """Take the triangles of the first ``size`` edges of ``current`` from the edges above ``level``.

    ``gone[e]`` is 0 for an edge that is left, 1 for one of ``current``, 2 for one that went before.
    """
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _EDGES)
        if start >= size:
            break
        for i in range(start, min(start + _EDGES, size)):
            edge = np.int64(current[i])
            u, v = np.int64(src[edge]), np.int64(dst[edge])
            if offsets[u + 1] - offsets[u] > offsets[v + 1] - offsets[v]:
                u, v = v, u
            low, end = offsets[v], offsets[v + 1]
            for arc in range(offsets[u], offsets[u + 1]):  # ids rise in both rows
                one = np.int64(edge_of[arc])
                if gone[one] == 2 or one == edge:
                    continue
                w = targets[arc]
                low = _find(targets, low, end, w)
                if low == end:
                    break
                if targets[low] != w:
                    continue
                other = np.int64(edge_of[low])
                if gone[other] == 2:
                    continue
                # of two edges of a triangle that go at once, the lesser lowers the third
                if gone[one] == 0 and (gone[other] == 0 or edge < other) and load_relaxed(support, one) > level:
                    _lower(one, level, support, following, count)
                if gone[other] == 0 and (gone[one] == 0 or edge < one) and load_relaxed(support, other) > level:
                    _lower(other, level, support, following, count)
