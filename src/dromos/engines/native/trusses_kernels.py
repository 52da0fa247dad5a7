"""Truss numbers: count the triangles of each edge, then peel edges from the fewest triangles on.

Vertices are numbered by ascending degree, and every triangle is found from its two lesser corners. Edges are peeled
level by level, all edges of a level at once (Kabir and Madduri, "Parallel k-truss decomposition on multicore systems",
2017).

Shared memory. ``support`` is updated by relaxed atomics; ``mark`` is private to each thread; ``gone`` is only read
while edges are peeled, and lists are appended to by an atomic count. The thread that has an edge's lesser end numbers
it.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import inline, kernel

_CHUNK = 64  # vertices that a thread takes at once
_EDGES = 16
_RUN = 4096  # entries of a list that a thread takes at once


@kernel
def find_higher(thread, threads, offsets, targets, higher):
    """``higher[v]``: the first arc of v to a greater id."""
    n = offsets.size - 1
    for v in range(n * thread // threads, n * (thread + 1) // threads):
        higher[v] = _place(targets, offsets[v], offsets[v + 1], v)


@kernel
def name_edges(thread, threads, offsets, targets, higher, base, edge_of, src, dst, cursor, stop):
    """Number the edge of each arc and write the ends of each edge; edges of v to greater ids begin at ``base[v]``."""
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
    """The truss number of the edges between the given ids ``src`` and ``dst``; ``rank`` maps ids to rows."""
    for i in range(src.size * thread // threads, src.size * (thread + 1) // threads):
        a, b = np.int64(rank[src[i]]), np.int64(rank[dst[i]])
        u, v = min(a, b), max(a, b)
        edge = base[u] + _place(targets, higher[u], offsets[u + 1], v) - higher[u]
        truss[i] = support[edge] + 2


@inline
def _place(targets, low, high, wanted):
    """The first index in ``low..high`` whose target is not below ``wanted``."""
    while low < high:
        middle = (low + high) >> 1
        if targets[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def sift(thread, threads, left, size, support, gone, kept, count, least, cursor, stop):
    """Copy those of the first ``size`` of ``left`` that are not gone to ``kept``; find each thread's least support."""
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
    """Copy those of the first ``size`` of ``left`` that have ``level`` triangles to ``taken``."""
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
    """Count the triangles of every edge; ``higher[v]``: the first arc of v to a greater id; ``mark``: n zeros each."""
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
    """Remove a triangle from an edge; if that was the last one above ``level``, the edge follows on this level."""
    before = atomic_add(support, edge, -1)
    if before == level + 1:
        following[atomic_add(count, 0, 1)] = edge
    elif before <= level:
        atomic_add(support, edge, 1)  # another thread was faster, and the edge is on this level already


@inline
def _find(targets, low, end, wanted):
    """The first index from ``low`` on whose target is not below ``wanted``, by galloping search."""
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
    """Remove the triangles of the first ``size`` edges of ``current`` from the edges above ``level``.

    ``gone[e]`` is 0 for a remaining edge, 1 for one of ``current``, 2 for one that was removed before.
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
            for arc in range(offsets[u], offsets[u + 1]):  # ids ascend in both rows
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
                # if two edges of a triangle are removed at once, the lesser one lowers the third
                if gone[one] == 0 and (gone[other] == 0 or edge < other) and load_relaxed(support, one) > level:
                    _lower(one, level, support, following, count)
                if gone[other] == 0 and (gone[one] == 0 or edge < one) and load_relaxed(support, other) > level:
                    _lower(other, level, support, following, count)
