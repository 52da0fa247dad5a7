"""Local moving, the first step of Louvain and Leiden, on one thread.

The order of the moves decides the result, so one thread makes them, and the same seed gives the same communities on any
machine. Large levels use :mod:`dromos.engines.native.communities_batch_kernels`.

A vertex compares the weights of its edges to the communities around it, minus their expected value: the product of both
sums of weights times ``scale``, the resolution over twice the weight of all edges.

A level's graph has no self-loops: the weight inside one of its vertices is only part of its ``strength``. ``weights``
of size 0 stand for ones.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.communities_group_kernels import (
    PATIENCE,
    ROWS_AHEAD,
    add,
    ask_for_row,
    number_all,
    shuffle_all,
)
from dromos.engines.native.community_levels import HUB, LEAST_GAIN
from dromos.intrinsics import load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel

_USUAL = 8  # more long rows of late that lead into their own community than others
_LONG = 16  # arcs
_WAITING = 1  # in the queue
_TOUCHED = 2  # a hub whose neighbors have moved, but too few for another community to gain more
_HUB = 4  # and one of the others, or none


@inline
def count_members(strength, community, table, size, free):
    """Add up the total strength and members of each community, and list the numbers that are not in use."""
    n = strength.size
    for v in range(n):
        c = np.int64(load(community, v))
        store(table, 2 * c + 1, load(table, 2 * c + 1) + load(strength, v))
        store(size, c, load(size, c) + 1)
    unused = np.int64(0)
    for c in range(n):
        store(free, unused, c)
        unused += np.int64(load(size, c) == 0)
    store(free, n, unused)


@inline
def sum_up(begin, end, v, old, targets, weights, community, table, seen, inner):
    """Add up the weights of a vertex's edges by community; return the number of communities ``seen``.

    ``inner``: most edges are expected to lead into its own community, whose sum is then kept in a register, since in
    memory each addition would wait for the one before. Otherwise the branch for it would often be mispredicted.
    """
    found = np.int64(0)
    if weights.size:  # several loops: a test for each arc is a tenth of the time
        for arc in range(begin, end):
            u, weight = load(targets, arc), np.float64(load(weights, arc))
            if u != v and weight > 0:
                c = load(community, u)
                found = add(table, 2 * np.int64(c), c, weight, seen, found)
    elif inner:
        own = np.int64(0)
        for arc in range(begin, end):
            u = load(targets, arc)
            c = load(community, u)
            if c == old:
                own += np.int64(u != v)
            else:
                found = add(table, 2 * np.int64(c), c, 1.0, seen, found)
        store(table, 2 * old, np.float64(own))
    else:
        for arc in range(begin, end):
            u = load(targets, arc)
            if u != v:
                c = load(community, u)
                found = add(table, 2 * np.int64(c), c, 1.0, seen, found)
    return found


@inline
def choose(v, old, k, scale, table, size, free, seen, found):
    """The community that gains most for a vertex, its gain and that of the next best; resets the sums to 0."""
    least, share = LEAST_GAIN * k, scale * k
    alone = load(size, old) == 1
    best, gain = old, load(table, 2 * old) - share * (load(table, 2 * old + 1) - k)
    store(table, 2 * old, 0.0)
    second, enough = -np.inf if alone else 0.0, gain + least  # being alone is an option too
    for i in range(found):
        c = np.int64(load(seen, i))
        gained = load(table, 2 * c) - share * load(table, 2 * c + 1)
        store(table, 2 * c, 0.0)
        if c != old:
            if gained > enough:
                second = max(second, gain)
                best, gain, enough = c, gained, gained + least
            else:
                second = max(second, gained)
    if gain < -least and not alone:
        last = free.size - 1
        free[last] -= 1
        best = np.int64(free[free[last]])
        gain, second = 0.0, gain
    return best, gain, second


@inline
def leave(v, old, best, k, community, table, size, free):
    """Make a move."""
    store(community, v, best)
    store(table, 2 * best + 1, load(table, 2 * best + 1) + k)
    store(size, best, load(size, best) + 1)
    left = load(size, old) - 1
    store(size, old, left)
    if left > 0:
        store(table, 2 * old + 1, load(table, 2 * old + 1) - k)
    else:
        store(table, 2 * old + 1, 0.0)  # exactly 0, without rounding errors
        last = free.size - 1
        free[free[last]] = old
        free[last] += 1


@inline
def _call_neighbours(begin, end, old, best, n, last, length, targets, weights, community, queue, state, room):
    """Put neighbors of a vertex that moved into the queue, from ``last`` on; return its new length.

    Whether a neighbor waits already is as good as random, so there is no branch for it: an entry is always written, and
    counts or not. There is room for it, since the vertex itself does not wait.
    """
    for arc in range(begin, end):
        u = np.int64(load(targets, arc))
        was, there = np.int64(load(state, u)), np.int64(load(community, u))
        if was >= _HUB:
            if was != _HUB + _WAITING and there != best:
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                left = load(room, u) - (weight + weight if there == old else weight)
                store(room, u, left)
                if left >= 0:
                    store(state, u, _HUB + _TOUCHED)
                    continue
                store(state, u, _HUB + _WAITING)
                store(queue, last, u)
                length += 1
                last = last + 1 if last + 1 < n else np.int64(0)
        else:
            joins = np.int64(there != best) & (was ^ _WAITING)
            store(queue, last, u)
            store(state, u, was | joins)
            length += joins
            last += joins
            last = last if last < n else np.int64(0)
    return length


@inline
def move_all(
    offsets, targets, weights, strength, scale, seed, community, queue, table, size, state, room, free, seen, stop
):  # fmt: skip
    """Move vertices to the community around them that gains most, until no move gains; then number the communities.

    Returns the number of communities. All arrays but the graph and ``community`` are overwritten. ``queue`` gets the
    first visits, in an order drawn from ``seed``; ``table`` a sum of weights and the total strength of each community;
    ``size`` its members; ``free`` the numbers of communities without members, with their count in its last entry.

    A hub always has neighbors that move, and each visit is long, so it is visited again only when they may matter:
    ``room`` is the lead of its community over the next best. A neighbor that moves uses up its weight of it, twice that
    if it was in the same community, and until it is used up no other community gains more. As totals change too, all
    hubs that were touched are visited in the end.
    """
    n = strength.size
    for v in range(n):
        store(table, 2 * v, 0.0)
        store(table, 2 * v + 1, 0.0)
        store(size, v, 0)
        store(state, v, _HUB + _WAITING if load(offsets, v + 1) - load(offsets, v) >= HUB else _WAITING)
    count_members(strength, community, table, size, free)
    shuffle_all(queue, n, seed)
    first, length, steps, inner = np.int64(0), np.int64(n), np.int64(0), np.int64(0)
    while True:
        if length == 0:
            for v in range(n):
                if load(state, v) == _HUB + _TOUCHED:
                    store(state, v, _HUB + _WAITING)
                    store(queue, length, v)
                    length += 1
            if length == 0:
                break
            first = np.int64(0)
        steps += 1
        if steps & PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return np.int64(0)
        v = np.int64(load(queue, first))
        latest = np.int64(load(queue, min(first + 2 * ROWS_AHEAD, n - 1)))
        later = np.int64(load(queue, min(first + ROWS_AHEAD, n - 1)))
        ask_for_row(later, latest, offsets, targets)
        prefetch(strength, latest)
        prefetch(community, latest)
        prefetch(table, 2 * np.int64(load(community, later)))
        first = first + 1 if first + 1 < n else np.int64(0)
        length -= 1
        kind = np.int64(load(state, v)) & _HUB
        store(state, v, kind)
        old, k = np.int64(load(community, v)), load(strength, v)
        begin, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
        found = sum_up(begin, end, v, old, targets, weights, community, table, seen, inner >= _USUAL)
        if end - begin >= _LONG:
            is_inner = 4 * load(table, 2 * old) >= 3.0 * np.float64(end - begin)
            inner = min(inner + 1, 2 * _USUAL) if is_inner else max(inner - 1, 0)
        best, gain, second = choose(v, old, k, scale, table, size, free, seen, found)
        if kind != 0:
            store(room, v, gain - second)
        if best != old:
            leave(v, old, best, k, community, table, size, free)
            last = first + length if first + length < n else first + length - n
            length = _call_neighbours(
                begin, end, old, best, n, last, length, targets, weights, community, queue, state, room
            )
    return number_all(community, 1, 0, seen, n, community)


@kernel
def move(
    offsets, targets, weights, strength, scale, seed, community, queue, table, size, state, room, free, seen, stop
):  # fmt: skip
    """See :func:`move_all`."""
    return move_all(
        offsets, targets, weights, strength, scale, seed, community, queue, table, size, state, room, free, seen, stop
    )
