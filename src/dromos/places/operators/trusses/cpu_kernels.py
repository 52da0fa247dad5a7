"""Truss numbers by the h-index of triangles: edges lowered in place, vertex by vertex, on all threads.

Shared memory. ``values`` only fall, and each edge is written by the thread that has its owner; others may read what it
was before. ``again`` and ``woken`` are only set. ``look`` is set before and only read, but for the edges that fell,
which their own thread marks. A thread's parts of ``mark`` and ``tally`` are its own, and zero before and after a vertex.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, load_relaxed, store, store_relaxed
from dromos.jit import LINE, inline, kernel

_CHUNK = 16  # vertices that a thread takes at once
_ROWS = 256


@kernel
def begin(thread, threads, offsets, targets, base, place, values, cursor, stop):
    """The edge of each arc to a lesser id, and the most triangles that the degrees of its ends allow an edge."""
    n = offsets.size - 1
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _ROWS)
        if start >= n:
            break
        for v in range(start, min(start + _ROWS, n)):
            low, end = load(offsets, v), load(offsets, v + 1)
            higher, degree = _higher(offsets, base, v), end - low
            for arc in range(low, higher):
                u = np.int64(load(targets, arc))
                first = _higher(offsets, base, u)
                at = _place(targets, first, load(offsets, u + 1), v)
                edge = load(base, u) + at - first
                store(place, arc - load(base, v), edge)
                store(values, edge, min(degree, load(offsets, u + 1) - load(offsets, u)) - 1)


@inline
def _higher(offsets, base, v):
    """The first arc of v to a greater id."""
    return load(offsets, v + 1) - (load(base, v + 1) - load(base, v))


@inline
def _place(targets, low, high, wanted):
    """The first place in ``low..high`` whose target is not below ``wanted``."""
    while low < high:
        middle = (low + high) >> 1
        if load(targets, middle) < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def _owns(offsets, x, y):
    """Whether x is the end that owns the edge to y: that of more arcs, or of as many and the greater id."""
    x_arcs, y_arcs = load(offsets, x + 1) - load(offsets, x), load(offsets, y + 1) - load(offsets, y)
    return x_arcs > y_arcs or (x_arcs == y_arcs and x > y)


@inline
def _wake(offsets, edge, u, v, again, woken):
    """Have an edge, and with it its owner, be looked at in the next round."""
    store_relaxed(again, edge, 1)
    store_relaxed(woken, u if _owns(offsets, u, v) else v, 1)


@kernel
def lower(
    thread, threads, offsets, targets, base, place, vertices, values, look, again, woken, mark, n, tally, most, cursor,
    stop, fell,
):  # fmt: skip
    """Lower edges as the contract says; ``fell[thread * LINE]`` is how many a thread lowered."""
    mine, counts, lowered = thread * n, thread * most, np.int64(0)
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _CHUNK)
        if start >= vertices.size:
            break
        for i in range(start, min(start + _CHUNK, vertices.size)):
            x = np.int64(load(vertices, i))
            x_begin, x_end = load(offsets, x), load(offsets, x + 1)
            x_higher, x_base, marked = _higher(offsets, base, x), load(base, x), False
            for arc in range(x_begin, x_end):
                edge = np.int64(load(place, arc - x_base)) if arc < x_higher else x_base + arc - x_higher
                if load(look, edge) == 0:
                    continue
                y, old = np.int64(load(targets, arc)), np.int64(load(values, edge))
                if old == 0 or not _owns(offsets, x, y):
                    continue
                if not marked:
                    marked = True
                    for own in range(x_begin, x_end):
                        of_own = np.int64(load(place, own - x_base)) if own < x_higher else x_base + own - x_higher
                        store(mark, mine + np.int64(load(targets, own)), of_own + 1)
                y_begin, y_end, y_base = load(offsets, y), load(offsets, y + 1), load(base, y)
                y_higher, enough = _higher(offsets, base, y), np.int64(0)
                for far in range(y_begin, y_end):
                    one = np.int64(load(mark, mine + np.int64(load(targets, far)))) - 1
                    if one < 0:
                        continue
                    other = np.int64(load(place, far - y_base)) if far < y_higher else y_base + far - y_higher
                    least = min(np.int64(load_relaxed(values, one)), np.int64(load_relaxed(values, other)))
                    if least >= old:
                        enough += 1
                        if enough == old:
                            break
                    else:
                        store(tally, counts + least, load(tally, counts + least) + 1)
                new = old
                while enough < new:
                    new -= 1
                    enough += load(tally, counts + new)
                for at in range(counts, counts + old):
                    store(tally, at, 0)
                if new == old:
                    continue
                store_relaxed(values, edge, new)
                store_relaxed(look, edge, 2)
                lowered += 1
                for far in range(y_begin, y_end):
                    w = np.int64(load(targets, far))
                    one = np.int64(load(mark, mine + w)) - 1
                    if one < 0:
                        continue
                    other = np.int64(load(place, far - y_base)) if far < y_higher else y_base + far - y_higher
                    of_one, of_other = np.int64(load_relaxed(values, one)), np.int64(load_relaxed(values, other))
                    one_moves, other_moves = load_relaxed(look, one) != 0, load_relaxed(look, other) != 0
                    if of_one > new and (one_moves or (of_one <= old and (of_one <= of_other or other_moves))):
                        _wake(offsets, one, x, w, again, woken)
                    if of_other > new and (other_moves or (of_other <= old and (of_other <= of_one or one_moves))):
                        _wake(offsets, other, y, w, again, woken)
            if marked:
                for own in range(x_begin, x_end):
                    store(mark, mine + np.int64(load(targets, own)), 0)
    store(fell, thread * LINE, lowered)
