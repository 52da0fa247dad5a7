"""Local moving, refinement and aggregation, the three steps of Louvain and Leiden, on one thread.

The order of the moves decides the answer, so that one thread makes them, and the same seed gives the same communities
on any machine. For large levels there are :mod:`dromos.engines.native.communities_batch_kernels` and
:mod:`dromos.engines.native.communities_team_kernels`.

What a vertex compares are the weights of its edges to the communities around it, less what chance would give: the
product of both sums of weights times ``scale``, the resolution over twice the weight of all edges.

A level's graph has no self-loops: what lies inside a vertex of it is only part of its ``strength``. ``weights`` of size
0 stand for ones. What a step adds up for a group lies beside what else it reads of the group, so that both come with
one line of memory; the sums are 0 before and after each step.

Rows are visited in random order, and groups around a vertex lie anywhere: what is needed is asked for ahead, which
spares a third of the time where it does not fit the cache. The inner loops use ``load`` and ``store``, which do not
ask whether an index is negative, and save a sixth.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.community_levels import BLOCK, HUB, LEAST_GAIN
from dromos.engines.native.community_numbers import SPREAD
from dromos.intrinsics import atomic_add, load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel

_AHEAD = 16  # arcs between the request for a neighbour's group and its use, and between that for a group and its use
_ROWS_AHEAD = 4  # vertices between the request for a row and its use, and between that for its place and its use
_PATIENCE = 1023  # vertices between two looks at the stop flag
_SPREAD = np.uint64(SPREAD)
_WAITING = 1  # in the queue
_TOUCHED = 2  # a hub whose neighbours have moved, but too few for another community to gain more


@inline
def _ask_for_row(later, latest, offsets, targets):
    """Ask for where the row of ``latest`` begins, and for the row of ``later``, of which that was asked before."""
    prefetch(offsets, latest)
    prefetch(targets, np.int64(load(offsets, later)))


@inline
def _add(table, place, c, weight, seen, found):
    """Add a weight to the sum of group ``c``; how many were ``seen`` now."""
    so_far = load(table, place)
    store(seen, found, c)  # written over by the next one if it was seen before: no branch to guess
    store(table, place, so_far + weight)
    return found + np.int64(so_far == 0)


@kernel
def move(
    offsets, targets, weights, strength, scale, community, table, size, queue, state, room, free, seen, stop
):  # fmt: skip
    """Move vertices to the community around them that gains most, until no move gains.

    ``table`` has for each community a sum of weights, 0, and its total strength; ``size`` its members; ``queue`` is the
    order of the first visits, ``state`` all ``_WAITING``; ``free`` has the numbers of communities without members,
    their count in its last entry.

    A hub always has neighbours that move, and each visit is long, so it is looked at again only when they may matter:
    ``room`` is what its community gains over the next best. A neighbour that moves takes its weight of it, twice where
    it was in the same community, and until it is used up no other community gains more. As totals change too, all hubs
    that were touched are looked at in the end.
    """
    n = strength.size
    first, length, steps = np.int64(0), np.int64(n), np.int64(0)
    while True:
        if length == 0:
            for v in range(n):
                if load(state, v) == _TOUCHED:
                    store(state, v, _WAITING)
                    store(queue, length, v)
                    length += 1
            if length == 0:
                return
            first = np.int64(0)
        steps += 1
        if steps & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        v = np.int64(load(queue, first))
        latest = np.int64(load(queue, min(first + 2 * _ROWS_AHEAD, n - 1)))
        later = np.int64(load(queue, min(first + _ROWS_AHEAD, n - 1)))
        _ask_for_row(later, latest, offsets, targets)
        prefetch(strength, latest)
        prefetch(community, latest)
        prefetch(table, 2 * np.int64(load(community, later)))
        first = first + 1 if first + 1 < n else np.int64(0)
        length -= 1
        store(state, v, 0)
        old, k = np.int64(load(community, v)), load(strength, v)
        begin, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
        found = np.int64(0)
        for arc in range(begin, end):
            prefetch(community, np.int64(load(targets, min(arc + 2 * _AHEAD, end - 1))))
            prefetch(table, 2 * np.int64(load(community, load(targets, min(arc + _AHEAD, end - 1)))))
            u = load(targets, arc)
            weight = np.float64(load(weights, arc)) if weights.size else 1.0
            if u != v and weight > 0:
                c = load(community, u)
                found = _add(table, 2 * np.int64(c), c, weight, seen, found)
        rest = load(table, 2 * old + 1) - k
        store(table, 2 * old + 1, rest)
        least = LEAST_GAIN * k
        best, gain = old, load(table, 2 * old) - scale * k * rest
        second = 0.0 if load(size, old) > 1 else -np.inf  # it may also be alone
        for i in range(found):
            c = np.int64(load(seen, i))
            gained = load(table, 2 * c) - scale * k * load(table, 2 * c + 1)
            store(table, 2 * c, 0.0)
            if gained > gain + least:
                second = max(second, gain)
                best, gain = c, gained
            elif c != old:
                second = max(second, gained)
        if gain < -least and load(size, old) > 1:  # better alone
            free[n] -= 1
            best = np.int64(free[free[n]])
            gain, second = 0.0, gain
        store(room, v, gain - second if end - begin >= HUB else -1.0)
        store(table, 2 * best + 1, load(table, 2 * best + 1) + k)
        if best == old:
            continue
        community[v] = best
        size[best] += 1
        size[old] -= 1
        if size[old] == 0:
            table[2 * old + 1] = 0  # without what rounding left
            free[free[n]] = old
            free[n] += 1
        for arc in range(begin, end):
            ahead = np.int64(load(targets, min(arc + _AHEAD, end - 1)))
            prefetch(state, ahead)
            prefetch(community, ahead)
            prefetch(room, ahead)
            u = np.int64(load(targets, arc))
            there = np.int64(load(community, u))
            if load(state, u) != _WAITING and there != best:
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                left = load(room, u) - (weight + weight if there == old else weight)
                store(room, u, left)
                if left >= 0:
                    store(state, u, _TOUCHED)
                    continue
                store(state, u, _WAITING)
                last = first + length
                store(queue, last if last < n else last - n, u)
                length += 1


@inline
def start_part(v, offsets, targets, weights, strength, community, label, table):
    """Make a vertex a part of its own; see :func:`refine`."""
    inside, end, here = 0.0, np.int64(load(offsets, v + 1)), load(community, v)
    for arc in range(load(offsets, v), end):
        prefetch(community, np.int64(load(targets, min(arc + _AHEAD, end - 1))))
        u = load(targets, arc)
        weight = np.float64(load(weights, arc)) if weights.size else 1.0
        inside += weight if u != v and load(community, u) == here else 0.0
    store(label, 2 * v, here)
    store(label, 2 * v + 1, v)
    store(table, 4 * v, 0.0)
    store(table, 4 * v + 1, load(strength, v))
    store(table, 4 * v + 2, inside)
    store(table, 4 * v + 3, 1.0)


@inline
def join_part(order, i, last, offsets, targets, weights, strength, scale, total, label, table, seen, front):
    """Let the vertex at place ``i`` of the order, which ends with ``last``, join the best part; see :func:`refine`.

    ``seen`` is used from ``front`` on.
    """
    latest = np.int64(load(order, min(i + 2 * _ROWS_AHEAD, last)))
    prefetch(table, 4 * latest)
    prefetch(label, 2 * latest)
    _ask_for_row(np.int64(load(order, min(i + _ROWS_AHEAD, last))), latest, offsets, targets)
    v = np.int64(load(order, i))
    here, k = load(label, 2 * v), load(strength, v)
    around, inside = load(total, here), load(table, 4 * v + 2)
    if load(table, 4 * v + 3) != 1.0 or load(label, 2 * v + 1) != v or inside < scale * k * (around - k):
        return
    found, end = front, np.int64(load(offsets, v + 1))
    for arc in range(load(offsets, v), end):
        prefetch(label, 2 * np.int64(load(targets, min(arc + _AHEAD, end - 1))))
        u = np.int64(load(targets, arc))
        weight = np.float64(load(weights, arc)) if weights.size else 1.0
        if load(label, 2 * u) == here and u != v and weight > 0:
            r = load(label, 2 * u + 1)
            found = _add(table, 4 * np.int64(r), r, weight, seen, found)
    best, gain, joined = v, LEAST_GAIN * k, 0.0
    for j in range(front, found):
        part = np.int64(load(seen, j))
        shared, other = load(table, 4 * part), load(table, 4 * part + 1)
        gained = shared - scale * k * other
        if gained > gain and load(table, 4 * part + 2) >= scale * other * (around - other):
            best, gain, joined = part, gained, shared
        store(table, 4 * part, 0.0)
    if best != v:
        store(label, 2 * v + 1, best)
        store(table, 4 * best + 1, load(table, 4 * best + 1) + k)
        store(table, 4 * best + 2, load(table, 4 * best + 2) + (inside - 2 * joined))
        store(table, 4 * best + 3, load(table, 4 * best + 3) + 1.0)
        store(table, 4 * v + 3, 0.0)


@kernel
def refine(
    offsets, targets, weights, strength, scale, community, total, order, label, table, seen, stop
):  # fmt: skip
    """Merge vertices within their communities, from single ones on, into well-connected parts.

    A vertex that is still alone joins the part that gains most, of those whose edges to the rest of the community are
    at least what chance would give. ``label`` gets for each vertex its community and its part; ``table``, for each
    part, a sum of weights, the sum of strengths, the weight of its edges to the rest, and the number of its members.
    """
    n = strength.size
    for v in range(n):
        if v & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        start_part(v, offsets, targets, weights, strength, community, label, table)
    for i in range(n):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        join_part(order, i, n - 1, offsets, targets, weights, strength, scale, total, label, table, seen, np.int64(0))


@inline
def add_row(c, offsets, targets, weights, group, starts, order, new_targets, new_weights, at, sums, base, seen, front):
    """Write the row of group ``c`` from ``at`` on; where it ends. Sums and ``seen`` are used from there on."""
    found, n = front, order.size
    for i in range(load(starts, c), load(starts, c + 1)):
        latest = np.int64(load(order, min(i + 2 * _ROWS_AHEAD, n - 1)))
        _ask_for_row(np.int64(load(order, min(i + _ROWS_AHEAD, n - 1))), latest, offsets, targets)
        v = np.int64(load(order, i))
        end = np.int64(load(offsets, v + 1))
        for arc in range(load(offsets, v), end):
            prefetch(group, np.int64(load(targets, min(arc + 2 * _AHEAD, end - 1))))
            prefetch(sums, base + np.int64(load(group, load(targets, min(arc + _AHEAD, end - 1)))))
            d = load(group, load(targets, arc))
            weight = np.float64(load(weights, arc)) if weights.size else 1.0
            if weight > 0:
                found = _add(sums, base + np.int64(d), d, weight, seen, found)
    for i in range(front, found):
        d = load(seen, i)
        place = base + np.int64(d)
        if d != c:
            store(new_targets, at, d)
            store(new_weights, at, load(sums, place))
            at += 1
        store(sums, place, 0.0)
    return at


@kernel
def aggregate(
    offsets, targets, weights, group, starts, order, new_offsets, new_targets, new_weights, sums, seen,
    stop,
):  # fmt: skip
    """The graph whose vertices are the groups ``0..starts.size - 2``; ``order`` has the vertices by group."""
    at, start = np.int64(0), np.int64(0)
    new_offsets[0] = 0
    for c in range(starts.size - 1):
        if c & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        at = add_row(
            c, offsets, targets, weights, group, starts, order, new_targets, new_weights, at, sums, start, seen, start
        )
        new_offsets[c + 1] = at


@kernel
def within(thread, threads, offsets, targets, weights, group, found, cursor, stop):
    """The weight of the arcs within groups, for each :data:`BLOCK` vertices; on any number of threads."""
    n = offsets.size - 1
    while True:
        block = np.int64(atomic_add(cursor, 0, 1))
        if block >= found.size or load_relaxed(stop, 0) != 0:
            return
        inside = 0.0
        for v in range(block * BLOCK, min((block + 1) * BLOCK, n)):
            end, here = np.int64(load(offsets, v + 1)), load(group, v)
            for arc in range(load(offsets, v), end):
                prefetch(group, np.int64(load(targets, min(arc + _AHEAD, end - 1))))
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                inside += weight if load(group, load(targets, arc)) == here else 0.0
        store(found, block, inside)


@kernel
def number(group, numbers, found):
    """Number groups by their first vertex, into ``found``; ``numbers`` are -1, one for each group. How many groups."""
    count = np.int64(0)
    for v in range(group.size):
        c = np.int64(load(group, v))
        given = np.int64(load(numbers, c))
        if given < 0:
            given = count
            store(numbers, c, given)
            count += 1
        store(found, v, given)
    return count


@kernel
def number_pairs(order, fine, coarse, latest, numbers, found):
    """Number the pairs of groups that vertices are in, into ``found``: in ``order``, which has vertices by ``fine``.

    ``latest`` is -1, and gets for each group of ``coarse`` the last of ``fine`` that it was seen with.
    """
    count = np.int64(0)
    for i in range(order.size):
        v = np.int64(load(order, i))
        c = np.int64(load(coarse, v))
        if load(latest, c) != load(fine, v):
            store(latest, c, load(fine, v))
            store(numbers, c, count)
            count += 1
        store(found, v, load(numbers, c))


@kernel
def sort_by_group(order, group, cursors, found):
    """Write the vertices of ``order`` by group into ``found``; ``cursors`` begin where each group does."""
    for i in range(order.size):
        v = np.int64(load(order, i))
        c = np.int64(load(group, v))
        at = load(cursors, c)
        store(found, at, v)
        store(cursors, c, at + 1)


@kernel
def shuffle(order, seed):
    """Write the numbers below ``order.size`` in an order drawn from a seed; see ``community_numbers.shuffled``."""
    for i in range(order.size):
        store(order, i, i)
    for i in range(order.size - 1, 0, -1):
        count = np.uint64(i + 1)
        random = seed + count * _SPREAD
        random = (random ^ (random >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        random = (random ^ (random >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        random ^= random >> np.uint64(31)
        j = np.int64(((random >> np.uint64(32)) * count) >> np.uint64(32))
        moved = load(order, i)
        store(order, i, load(order, j))
        store(order, j, moved)
