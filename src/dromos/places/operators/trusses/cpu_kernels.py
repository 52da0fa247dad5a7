"""Truss numbers over whole rows: triangles of each edge, then edges peeled, those with the fewest first.

Shared memory. ``values`` are updated by relaxed atomics; ``gone`` is only read while edges are peeled, and the queue
is appended to by an atomic count. Common neighbors are found by galloping search in the longer of two rows, so that
threads need no memory of their own.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.triangles_kernels import find
from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import inline, kernel

_ROWS = 64  # vertices that a thread takes at once
_EDGES = 16


@inline
def _higher(offsets, base, v):
    """The first arc of v to a greater id."""
    return load(offsets, v + 1) - (load(base, v + 1) - load(base, v))


@inline
def _gallop(targets, low, end, wanted):
    """The first place from ``low`` on whose target is not below ``wanted``: steps that double, then bisection."""
    step = np.int64(1)
    while low + step < end and load(targets, low + step) < wanted:
        low += step
        step *= 2
    return find(targets, low, min(low + step, end), wanted)


@kernel
def number(thread, threads, offsets, targets, base, place, cursor, stop):
    """Set the edge of each arc to a lesser id."""
    n = offsets.size - 1
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _ROWS)
        if start >= n:
            break
        for v in range(start, min(start + _ROWS, n)):
            for arc in range(load(offsets, v), _higher(offsets, base, v)):
                u = np.int64(load(targets, arc))
                first = _higher(offsets, base, u)
                at = find(targets, first, load(offsets, u + 1), v)
                store(place, arc - load(base, v), load(base, u) + at - first)


@inline
def _count_common(targets, values, few, few_end, few_edges, low, end, edges):
    """Count the targets ``few..few_end`` that are among ``low..end``; each adds one to the edges of both its arcs."""
    found = np.int64(0)
    for arc in range(few, few_end):
        wanted = load(targets, arc)
        low = _gallop(targets, low, end, wanted)
        if low == end:
            break
        if load(targets, low) == wanted:
            found += 1
            atomic_add(values, few_edges + arc, 1)
            atomic_add(values, edges + low, 1)
    return found


@kernel
def count(thread, threads, offsets, targets, base, vertices, values, cursor, stop):
    """Add to each edge its triangles; each is found from its least corner, one of ``vertices``."""
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _ROWS)
        if start >= vertices.size:
            break
        for i in range(start, min(start + _ROWS, vertices.size)):
            u = np.int64(load(vertices, i))
            first, end = _higher(offsets, base, u), load(offsets, u + 1)
            for arc in range(first, end):
                v = np.int64(load(targets, arc))
                v_first, v_end = _higher(offsets, base, v), load(offsets, v + 1)
                of_u, of_v = load(base, u) - first, load(base, v) - v_first  # from arcs to edges
                if end - arc <= v_end - v_first:
                    found = _count_common(targets, values, arc + 1, end, of_u, v_first, v_end, of_v)
                else:
                    found = _count_common(targets, values, v_first, v_end, of_v, arc + 1, end, of_u)
                if found:
                    atomic_add(values, of_u + arc, found)


@inline
def _lower(edge, level, values, queue, size):
    """Take a triangle from an edge; it follows on this level if that was the last one above it."""
    before = atomic_add(values, edge, -1)
    if before == level + 1:
        store(queue, atomic_add(size, 0, 1), edge)
    elif before <= level:
        atomic_add(values, edge, 1)  # other threads were faster: it is on this level already


@kernel
def peel(
    thread, threads, offsets, targets, base, place, leaving, level, values, gone, queue, size, cursor, stop
):  # fmt: skip
    """Take the triangles of the edges ``leaving`` from the edges above ``level``; those that reach it are queued."""
    n = offsets.size - 1
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _EDGES)
        if start >= leaving.size:
            break
        for i in range(start, min(start + _EDGES, leaving.size)):
            edge = np.int64(load(leaving, i))
            u = find(base, 0, n, edge + 1) - 1
            v = np.int64(load(targets, _higher(offsets, base, u) + edge - load(base, u)))
            if load(offsets, u + 1) - load(offsets, u) > load(offsets, v + 1) - load(offsets, v):
                u, v = v, u
            u_higher, u_base = _higher(offsets, base, u), load(base, u)
            v_higher, v_base = _higher(offsets, base, v), load(base, v)
            low, end = load(offsets, v), load(offsets, v + 1)
            for arc in range(load(offsets, u), load(offsets, u + 1)):  # both rows are sorted by id
                one = np.int64(load(place, arc - u_base)) if arc < u_higher else u_base + arc - u_higher
                if load(gone, one) == 2 or one == edge:
                    continue
                w = load(targets, arc)
                low = _gallop(targets, low, end, w)
                if low == end:
                    break
                if load(targets, low) != w:
                    continue
                other = np.int64(load(place, low - v_base)) if low < v_higher else v_base + low - v_higher
                if load(gone, other) == 2:
                    continue
                # if two edges of a triangle leave at once, the lesser lowers the third
                stays, also = load(gone, one) == 0, load(gone, other) == 0
                if stays and (also or edge < other) and load_relaxed(values, one) > level:
                    _lower(one, level, values, queue, size)
                if also and (stays or edge < one) and load_relaxed(values, other) > level:
                    _lower(other, level, values, queue, size)
