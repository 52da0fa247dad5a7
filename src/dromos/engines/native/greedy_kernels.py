"""Greedy choices one after the other, by one thread: spanning forests, matchings, colours. What is left, by all."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import count_bits, load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel

_PATIENCE = 4095  # choices between two looks at the stop flag
_AHEAD = 16  # choices between the request for an edge and its use
_TAKEN = 255  # more binary digits than any degree has


@inline
def _root(root, v):
    """The root of ``v``'s tree; every second vertex on the way is hung higher."""
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
    """Let ``root`` be the root of each vertex's tree, not one on the way there. Nobody joins trees meanwhile."""
    for v in range(root.size * thread // threads, root.size * (thread + 1) // threads):
        if v & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        above = np.int64(load_relaxed(root, v))
        while above != np.int64(load_relaxed(root, above)):
            above = np.int64(load_relaxed(root, above))
        store(root, v, above)


@kernel
def between_trees(thread, threads, src, dst, edges, root, wanted, stop):
    """Whether each of ``edges`` has ends of two ``root``s."""
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
    """Take edges in ``order`` whose ends are both free, ``mate`` -1, into ``taken``; ``count[0]`` gets their number."""
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
    """How many binary digits a whole number from 0 on has: all below the highest are filled, and counted."""
    for shift in (1, 2, 4, 8, 16, 32):
        number |= number >> shift
    return count_bits(number)


@kernel
def match_rows(thread, threads, offsets, targets, is_sorted, order, digits, mate, stop):
    """In ``order`` each vertex without a ``mate`` (-1) takes a free neighbour, of the fewest digits of its degree.

    Neighbours of few others are taken while they can be: nobody may be left to take them later. Of degrees that differ
    by less than a factor of two the least id goes first: a sweep over a mesh leaves fewer holes behind.

    ``order`` is by degree. A vertex that was left free in its turn has no free neighbour, so those of one whose turn it
    is come later in the order. Of sorted rows the first free neighbour of no more digits is therefore the best.
    ``digits`` is room for a byte per vertex: the digits of its degree, and more than any has when it is taken.
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
    """Give vertices in ``order`` the least colour that no neighbour has.

    ``colors`` is -1; ``last[c]`` is the last vertex that had a neighbour of colour c: one more than degrees, all -1.
    """
    for i in range(order.size):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        v = order[i]
        for arc in range(offsets[v], offsets[v + 1]):
            c = colors[targets[arc]]
            if c >= 0 and targets[arc] != v:
                last[c] = v
        c = 0
        while last[c] == v:
            c += 1
        colors[v] = c
