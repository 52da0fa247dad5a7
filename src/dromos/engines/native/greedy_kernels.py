"""Greedy choices by one thread (spanning forests, matchings, colorings), and filtering of what is left by all."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import count_bits, load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel

_PATIENCE = 4095  # choices between two checks of the stop flag
_AHEAD = 16  # choices between the prefetch of an edge and its use
_BATCH = 256  # arcs whose colors are prefetched at once
_TAKEN = 255  # more binary digits than any degree has


@inline
def _root(root, v):
    """The root of ``v``'s tree; halves the path."""
    above = np.int64(root[v])
    while above != v:
        next_above = np.int64(root[above])
        root[v] = next_above
        v, above = above, next_above
    return v


@kernel
def span(thread, threads, src, dst, order, root, taken, stop):
    """Take edges in ``order`` that join two trees; ``root`` is a forest of all vertices, ``taken`` is zeros."""
    final = order.size - 1
    for i in range(order.size):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        coming = load(order, min(i + 2 * _AHEAD, final))
        prefetch(src, coming)
        prefetch(dst, coming)
        coming = load(order, min(i + _AHEAD, final))
        prefetch(root, np.int64(load(src, coming)))
        prefetch(root, np.int64(load(dst, coming)))
        edge = load(order, i)
        u, v = _root(root, np.int64(load(src, edge))), _root(root, np.int64(load(dst, edge)))
        if u != v:
            store(root, max(u, v), min(u, v))
            store(taken, edge, 1)


@kernel
def hang_on_roots(thread, threads, root, stop):
    """Make each vertex point at its root; no trees are joined meanwhile."""
    for v in range(root.size * thread // threads, root.size * (thread + 1) // threads):
        if v & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        above = np.int64(load_relaxed(root, v))
        while above != np.int64(load_relaxed(root, above)):
            above = np.int64(load_relaxed(root, above))
        store(root, v, above)


@kernel
def between_trees(thread, threads, src, dst, edges, root, wanted, stop):
    """Whether the ends of each of ``edges`` have different ``root``s."""
    for i in range(edges.size * thread // threads, edges.size * (thread + 1) // threads):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        edge = load(edges, i)
        u, v = np.int64(load(src, edge)), np.int64(load(dst, edge))
        store(wanted, i, load(root, u) != load(root, v))


@kernel
def between_free(thread, threads, src, dst, edges, mate, wanted, stop):
    """Whether each of ``edges`` has two ends without a ``mate`` (-1)."""
    for i in range(edges.size * thread // threads, edges.size * (thread + 1) // threads):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        edge = load(edges, i)
        u, v = np.int64(load(src, edge)), np.int64(load(dst, edge))
        store(wanted, i, (load(mate, u) < 0) & (load(mate, v) < 0))


@kernel
def match(thread, threads, src, dst, order, mate, taken, count, stop):
    """Take edges in ``order`` whose ends are both free (``mate`` -1) into ``taken``; ``count[0]`` gets their number."""
    at = 0
    for i in range(order.size):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        coming = load(order, min(i + _AHEAD, order.size - 1))
        prefetch(src, coming)
        prefetch(dst, coming)
        edge = load(order, i)
        u, v = load(src, edge), load(dst, edge)
        if u != v and load(mate, u) < 0 and load(mate, v) < 0:
            store(mate, u, v)
            store(mate, v, u)
            store(taken, at, edge)
            at += 1
    count[0] = at


@inline
def _digits(number):
    """The number of binary digits of a nonnegative integer: set all bits below the highest, and count."""
    for shift in (1, 2, 4, 8, 16, 32):
        number |= number >> shift
    return count_bits(number)


@kernel
def match_rows(thread, threads, offsets, targets, is_sorted, order, digits, mate, stop):
    """Let each vertex in ``order`` without a ``mate`` (-1) take a free neighbor, of the fewest digits of its degree.

    Neighbors of few others are taken while they can be: later there may be no vertex left to take them. Of degrees that
    differ by less than a factor of two the least id goes first: a sweep over a mesh leaves fewer holes behind.

    ``order`` is by degree. A vertex that was left free in its turn has no free neighbor, so the free neighbors of a
    vertex at its turn come later in the order. In sorted rows the first free neighbor of no more digits is therefore
    the best. ``digits`` has a byte per vertex: the digits of its degree, and more than any has when it is taken.
    """
    for v in range(mate.size):
        store(digits, v, _TAKEN if load(mate, v) >= 0 else _digits(load(offsets, v + 1) - load(offsets, v)))
    final = order.size - 1
    for i in range(order.size):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        prefetch(offsets, np.int64(load(order, min(i + 2 * _AHEAD, final))))
        prefetch(targets, load(offsets, np.int64(load(order, min(i + _AHEAD, final)))))
        v = np.int64(load(order, i))
        own = np.int64(load(digits, v))
        if own == _TAKEN:
            continue
        store(digits, v, _TAKEN)  # so that a self-loop finds it taken
        enough = own if is_sorted else np.int64(-1)
        chosen, least = np.int64(-1), np.int64(_TAKEN)
        for arc in range(load(offsets, v), load(offsets, v + 1)):
            u = np.int64(load(targets, arc))
            count = np.int64(load(digits, u))
            if count < least or (count == least and u < chosen):
                chosen, least = u, count
                if count <= enough:
                    break
        if chosen >= 0:
            store(digits, chosen, _TAKEN)
            store(mate, chosen, v)
            store(mate, v, chosen)


@kernel
def color(thread, threads, offsets, targets, order, colors, last, stop):
    """Give vertices in ``order`` the least color that no neighbor has.

    ``colors`` is -1; ``last[c]`` is the last vertex that had a neighbor of color c: one entry more than degrees, all
    -1.
    """
    final = order.size - 1
    for i in range(order.size):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        prefetch(offsets, np.int64(load(order, min(i + 2 * _AHEAD, final))))
        prefetch(targets, np.int64(load(offsets, np.int64(load(order, min(i + _AHEAD, final))))))
        v = np.int64(load(order, i))
        first, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
        while first < end:
            stopping = min(end, first + _BATCH)
            # Colors are requested first: a processor that lets no load pass a store whose address is not yet known
            # would wait for each in turn.
            for arc in range(first, stopping):
                prefetch(colors, np.int64(load(targets, arc)))
            for arc in range(first, stopping):
                u = np.int64(load(targets, arc))
                c = np.int64(load(colors, u))
                if c >= 0 and u != v:
                    store(last, c, v)
            first = stopping
        c = np.int64(0)
        while load(last, c) == v:
            c += 1
        store(colors, v, c)
