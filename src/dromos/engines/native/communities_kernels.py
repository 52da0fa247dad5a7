"""Local moving, refinement and aggregation: the three steps of Louvain and Leiden, on one thread.

The order of the moves decides the answer, so that one thread makes them, and the same seed gives the same communities
on any machine. What a vertex compares are the weights of its edges to the communities around it, less what chance would
give: the product of both sums of weights times ``scale``, the resolution over twice the weight of all edges.

A level's graph has no self-loops: what lies inside a vertex of it is only part of its ``strength``. ``weights`` of size
0 stand for ones. ``sums`` has an entry for each vertex, all 0 before and after each step.

The inner loops use ``load`` and ``store``, which do not ask whether an index is negative, and save a sixth of the time.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.community_levels import LEAST_GAIN
from dromos.intrinsics import load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel

_AHEAD = 16  # arcs between the request for a neighbour's group and its use
_PATIENCE = 1023  # vertices between two looks at the stop flag


@inline
def _gather(v, offsets, targets, weights, group, within, sums, seen):
    """Add up the weights to each group around ``v``, of vertices with the same value in ``within`` (of size 0: all)."""
    found = np.int64(0)
    last = np.int64(load(offsets, v + 1)) - 1
    for arc in range(load(offsets, v), load(offsets, v + 1)):
        u = load(targets, arc)
        prefetch(group, np.int64(load(targets, min(arc + _AHEAD, last))))
        weight = load(weights, arc) if weights.size else 1.0
        if u != v and weight > 0 and (within.size == 0 or load(within, u) == load(within, v)):
            c = load(group, u)
            so_far = load(sums, c)
            store(seen, found, c)  # written over by the next one if it was seen before: no branch to guess
            found += np.int64(so_far == 0)
            store(sums, c, so_far + weight)
    return found


@kernel
def move(
    offsets, targets, weights, strength, scale, community, total, size, queue, waiting, free, sums,
    seen, nowhere, stop,
):  # fmt: skip
    """Move vertices to the community around them that gains most, until no move gains.

    ``total`` and ``size`` are those of the communities; ``queue`` is the order of the first visits, ``waiting`` all
    ones; ``free`` has the numbers of communities without members, their count in its last entry.
    """
    n = strength.size
    first, length, steps = np.int64(0), np.int64(n), np.int64(0)
    while length:
        steps += 1
        if steps & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        v = np.int64(load(queue, first))
        first = first + 1 if first + 1 < n else np.int64(0)
        length -= 1
        store(waiting, v, 0)
        old, k = np.int64(load(community, v)), load(strength, v)
        found = _gather(v, offsets, targets, weights, community, nowhere, sums, seen)
        rest = load(total, old) - k
        store(total, old, rest)
        least = LEAST_GAIN * k
        best, gain = old, load(sums, old) - scale * k * rest
        for i in range(found):
            c = np.int64(load(seen, i))
            gained = load(sums, c) - scale * k * load(total, c)
            if gained > gain + least:
                best, gain = c, gained
            store(sums, c, 0.0)
        if gain < -least and load(size, old) > 1:  # better alone
            free[n] -= 1
            best = np.int64(free[free[n]])
        store(total, best, load(total, best) + k)
        if best == old:
            continue
        community[v] = best
        size[best] += 1
        size[old] -= 1
        if size[old] == 0:
            total[old] = 0  # without what rounding left
            free[free[n]] = old
            free[n] += 1
        for arc in range(load(offsets, v), load(offsets, v + 1)):
            u = np.int64(load(targets, arc))
            if load(waiting, u) == 0 and load(community, u) != best:
                store(waiting, u, 1)
                last = first + length
                store(queue, last if last < n else last - n, u)
                length += 1


@kernel
def refine(
    offsets, targets, weights, strength, scale, community, total, order, refined, part, size, outside,
    sums, seen, stop,
):  # fmt: skip
    """Merge vertices within their communities, from single ones on, into well-connected parts.

    A vertex that is still alone joins the part that gains most, of those whose edges to the rest of the community are
    at least what chance would give. ``part`` is the sum of strengths of each part, ``outside`` its edges to the rest.
    """
    n = strength.size
    for v in range(n):
        refined[v] = v
        part[v] = strength[v]
        size[v] = 1
        inside, final = 0.0, np.int64(offsets[v + 1]) - 1
        for arc in range(offsets[v], offsets[v + 1]):
            prefetch(community, np.int64(load(targets, min(arc + _AHEAD, final))))
            u = load(targets, arc)
            weight = load(weights, arc) if weights.size else 1.0
            inside += weight if u != v and load(community, u) == load(community, v) else 0.0
        outside[v] = inside
    for i in range(n):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        v = np.int64(order[i])
        k, around = strength[v], total[community[v]]
        if size[v] != 1 or refined[v] != v or outside[v] < scale * k * (around - k):
            continue
        found = _gather(v, offsets, targets, weights, refined, community, sums, seen)
        best, gain, joined = v, LEAST_GAIN * k, 0.0
        for j in range(found):
            r = np.int64(load(seen, j))
            weight, other = load(sums, r), load(part, r)
            gained = weight - scale * k * other
            if gained > gain and load(outside, r) >= scale * other * (around - other):
                best, gain, joined = r, gained, weight
            store(sums, r, 0.0)
        if best != v:
            refined[v] = best
            part[best] += k
            size[best] += 1
            size[v] = 0
            outside[best] += outside[v] - 2 * joined


@kernel
def aggregate(
    offsets, targets, weights, group, starts, order, new_offsets, new_targets, new_weights, sums, seen,
    stop,
):  # fmt: skip
    """The graph whose vertices are the groups ``0..starts.size - 2``; ``order`` has the vertices by group."""
    at = np.int64(0)
    new_offsets[0] = 0
    for c in range(starts.size - 1):
        if c & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        found = np.int64(0)
        for i in range(starts[c], starts[c + 1]):
            v = np.int64(order[i])
            final = np.int64(offsets[v + 1]) - 1
            for arc in range(offsets[v], offsets[v + 1]):
                prefetch(group, np.int64(load(targets, min(arc + _AHEAD, final))))
                d = load(group, load(targets, arc))
                weight = load(weights, arc) if weights.size else 1.0
                if weight > 0:
                    so_far = load(sums, d)
                    store(seen, found, d)
                    found += np.int64(so_far == 0)
                    store(sums, d, so_far + weight)
        for i in range(found):
            d = load(seen, i)
            if d != c:
                store(new_targets, at, d)
                store(new_weights, at, load(sums, d))
                at += 1
            store(sums, d, 0.0)
        new_offsets[c + 1] = at
