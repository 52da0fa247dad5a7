"""Local moving, refinement and aggregation, the three steps of Louvain and Leiden, on one thread.

The order of the moves decides the answer, so that one thread makes them, and the same seed gives the same communities
on any machine. What a vertex compares are the weights of its edges to the communities around it, less what chance would
give: the product of both sums of weights times ``scale``, the resolution over twice the weight of all edges.

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

from dromos.engines.native.community_levels import HUB, LEAST_GAIN
from dromos.intrinsics import load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel

_AHEAD = 16  # arcs between the request for a neighbour's group and its use, and between that for a group and its use
_ROWS_AHEAD = 4  # vertices between the request for a row and its use, and between that for its place and its use
_PATIENCE = 1023  # vertices between two looks at the stop flag
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
    for i in range(n):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        latest = np.int64(load(order, min(i + 2 * _ROWS_AHEAD, n - 1)))
        prefetch(table, 4 * latest)
        prefetch(label, 2 * latest)
        _ask_for_row(np.int64(load(order, min(i + _ROWS_AHEAD, n - 1))), latest, offsets, targets)
        v = np.int64(load(order, i))
        here, k = load(label, 2 * v), load(strength, v)
        around, inside = load(total, here), load(table, 4 * v + 2)
        if load(table, 4 * v + 3) != 1.0 or load(label, 2 * v + 1) != v or inside < scale * k * (around - k):
            continue
        found, end = np.int64(0), np.int64(load(offsets, v + 1))
        for arc in range(load(offsets, v), end):
            prefetch(label, 2 * np.int64(load(targets, min(arc + _AHEAD, end - 1))))
            u = np.int64(load(targets, arc))
            weight = np.float64(load(weights, arc)) if weights.size else 1.0
            if load(label, 2 * u) == here and u != v and weight > 0:
                r = load(label, 2 * u + 1)
                found = _add(table, 4 * np.int64(r), r, weight, seen, found)
        best, gain, joined = v, LEAST_GAIN * k, 0.0
        for j in range(found):
            r = np.int64(load(seen, j))
            weight, other = load(table, 4 * r), load(table, 4 * r + 1)
            gained = weight - scale * k * other
            if gained > gain and load(table, 4 * r + 2) >= scale * other * (around - other):
                best, gain, joined = r, gained, weight
            store(table, 4 * r, 0.0)
        if best != v:
            label[2 * v + 1] = best
            table[4 * best + 1] += k
            table[4 * best + 2] += inside - 2 * joined
            table[4 * best + 3] += 1.0
            table[4 * v + 3] = 0.0


@kernel
def aggregate(
    offsets, targets, weights, group, starts, order, new_offsets, new_targets, new_weights, sums, seen,
    stop,
):  # fmt: skip
    """The graph whose vertices are the groups ``0..starts.size - 2``; ``order`` has the vertices by group."""
    at, n = np.int64(0), order.size
    new_offsets[0] = 0
    for c in range(starts.size - 1):
        if c & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        found = np.int64(0)
        for i in range(starts[c], starts[c + 1]):
            latest = np.int64(load(order, min(i + 2 * _ROWS_AHEAD, n - 1)))
            _ask_for_row(np.int64(load(order, min(i + _ROWS_AHEAD, n - 1))), latest, offsets, targets)
            v = np.int64(load(order, i))
            end = np.int64(load(offsets, v + 1))
            for arc in range(load(offsets, v), end):
                prefetch(group, np.int64(load(targets, min(arc + 2 * _AHEAD, end - 1))))
                prefetch(sums, np.int64(load(group, load(targets, min(arc + _AHEAD, end - 1)))))
                d = load(group, load(targets, arc))
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                if weight > 0:
                    found = _add(sums, np.int64(d), d, weight, seen, found)
        for i in range(found):
            d = load(seen, i)
            if d != c:
                store(new_targets, at, d)
                store(new_weights, at, load(sums, d))
                at += 1
            store(sums, d, 0.0)
        new_offsets[c + 1] = at


@kernel
def within(offsets, targets, weights, group, found, stop):
    """The weight of the arcs within groups, into ``found``."""
    inside = 0.0
    for v in range(offsets.size - 1):
        if v & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        end, here = np.int64(load(offsets, v + 1)), load(group, v)
        for arc in range(load(offsets, v), end):
            prefetch(group, np.int64(load(targets, min(arc + _AHEAD, end - 1))))
            weight = np.float64(load(weights, arc)) if weights.size else 1.0
            inside += weight if load(group, load(targets, arc)) == here else 0.0
    found[0] = inside
