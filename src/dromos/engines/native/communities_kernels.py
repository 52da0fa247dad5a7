"""Local moving, refinement and aggregation: the three steps of Louvain and Leiden, on one thread.

The order of the moves decides the answer, so that one thread makes them, and the same seed gives the same communities
on any machine. What a vertex compares are the weights of its edges to the communities around it, less what chance would
give: the product of both sums of weights times ``scale``, the resolution over twice the weight of all edges.

A level's graph has no self-loops: what lies inside a vertex of it is only part of its ``strength``. ``weights`` of size
0 stand for ones. ``sums`` has an entry for each vertex, all 0 before and after each step.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.direct import direct_kernel, load_relaxed
from dromos.engines.native.community_levels import LEAST_GAIN

_PATIENCE = 1023  # vertices between two looks at the stop flag


def _gather(v, offsets, targets, weights, group, within, sums, seen):
    """Add up the weights to each group around ``v``, of vertices with the same value in ``within`` (of size 0: all)."""
    found = np.int64(0)
    for arc in range(offsets[v], offsets[v + 1]):
        u = targets[arc]
        weight = weights[arc] if weights.size else 1.0
        if u != v and weight > 0 and (within.size == 0 or within[u] == within[v]):
            c = group[u]
            if sums[c] == 0:
                seen[found] = c
                found += 1
            sums[c] += weight
    return found


@direct_kernel
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
        v = np.int64(queue[first])
        first = first + 1 if first + 1 < n else np.int64(0)
        length -= 1
        waiting[v] = 0
        old, k = np.int64(community[v]), strength[v]
        found = _gather(v, offsets, targets, weights, community, nowhere, sums, seen)
        total[old] -= k
        least = LEAST_GAIN * k
        best, gain = old, sums[old] - scale * k * total[old]
        for i in range(found):
            c = np.int64(seen[i])
            gained = sums[c] - scale * k * total[c]
            if gained > gain + least:
                best, gain = c, gained
            sums[c] = 0
        if gain < -least and size[old] > 1:  # better alone
            free[n] -= 1
            best = np.int64(free[free[n]])
        total[best] += k
        if best == old:
            continue
        community[v] = best
        size[best] += 1
        size[old] -= 1
        if size[old] == 0:
            total[old] = 0  # without what rounding left
            free[free[n]] = old
            free[n] += 1
        for arc in range(offsets[v], offsets[v + 1]):
            u = np.int64(targets[arc])
            if waiting[u] == 0 and community[u] != best:
                waiting[u] = 1
                last = first + length
                queue[last if last < n else last - n] = u
                length += 1


@direct_kernel
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
        inside = 0.0
        for arc in range(offsets[v], offsets[v + 1]):
            if targets[arc] != v and community[targets[arc]] == community[v]:
                inside += weights[arc] if weights.size else 1.0
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
            r = np.int64(seen[j])
            gained = sums[r] - scale * k * part[r]
            if gained > gain and outside[r] >= scale * part[r] * (around - part[r]):
                best, gain, joined = r, gained, sums[r]
            sums[r] = 0
        if best != v:
            refined[v] = best
            part[best] += k
            size[best] += 1
            size[v] = 0
            outside[best] += outside[v] - 2 * joined


@direct_kernel
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
            for arc in range(offsets[v], offsets[v + 1]):
                d = group[targets[arc]]
                weight = weights[arc] if weights.size else 1.0
                if d != c and weight > 0:
                    if sums[d] == 0:
                        seen[found] = d
                        found += 1
                    sums[d] += weight
        for i in range(found):
            new_targets[at] = seen[i]
            new_weights[at] = sums[seen[i]]
            sums[seen[i]] = 0
            at += 1
        new_offsets[c + 1] = at
