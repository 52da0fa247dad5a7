"""Refinement, Leiden's step between moving and aggregation, on one thread.

Large levels use :mod:`dromos.engines.native.communities_team_kernels`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.communities_group_kernels import (
    AHEAD,
    IN_CACHE,
    PATIENCE,
    ROWS_AHEAD,
    add,
    ask_for_row,
    number_all,
    shuffle_all,
)
from dromos.engines.native.community_levels import LEAST_GAIN
from dromos.intrinsics import load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel


@inline
def start_part(v, begin, end, targets, weights, strength, community, label, table, ahead):
    """Make a vertex, whose row is from ``begin`` up to ``end``, its own part; see :func:`refine_all`.

    ``ahead``: prefetch communities.
    """
    inside, here = 0.0, load(community, v)
    if weights.size:
        for arc in range(begin, end):
            if ahead:
                prefetch(community, np.int64(load(targets, min(arc + AHEAD, end - 1))))
            u = load(targets, arc)
            inside += np.float64(load(weights, arc)) if u != v and load(community, u) == here else 0.0
    else:
        count = np.int64(0)
        for arc in range(begin, end):
            if ahead:
                prefetch(community, np.int64(load(targets, min(arc + AHEAD, end - 1))))
            u = load(targets, arc)
            count += np.int64(u != v) & np.int64(load(community, u) == here)
        inside = np.float64(count)
    store(label, 2 * v, here)
    store(label, 2 * v + 1, v)
    store(table, 4 * v, 0.0)
    store(table, 4 * v + 1, load(strength, v))
    store(table, 4 * v + 2, inside)
    store(table, 4 * v + 3, 1.0)


@inline
def ask_for_part(order, i, last, offsets, targets, label, table):
    """Prefetch what vertices soon after place ``i`` of the order, which ends with ``last``, need to join a part."""
    latest = np.int64(load(order, min(i + 2 * ROWS_AHEAD, last)))
    prefetch(table, 4 * latest)
    prefetch(label, 2 * latest)
    ask_for_row(np.int64(load(order, min(i + ROWS_AHEAD, last))), latest, offsets, targets)


@inline
def join_part(
    v, begin, end, targets, weights, strength, scale, total, label, table, seen, front, ahead, shared
):  # fmt: skip
    """Let a vertex, whose row is from ``begin`` up to ``end``, join the best part; see :func:`refine_all`.

    ``seen`` is used from ``front`` on; ``ahead``: prefetch labels; ``shared``: other threads write to other
    communities.
    """
    here, k = load(label, 2 * v), load(strength, v)
    around, inside = load(total, here), load(table, 4 * v + 2)
    if load(table, 4 * v + 3) != 1.0 or inside <= 0 or inside < scale * k * (around - k):
        return
    found = front
    if weights.size == 0 and not shared and 4 * inside >= 3.0 * np.float64(end - begin):
        for arc in range(begin, end):  # the few outside are counted too, and dropped below
            if ahead:
                prefetch(label, 2 * np.int64(load(targets, min(arc + AHEAD, end - 1))))
            r = load(label, 2 * np.int64(load(targets, arc)) + 1)
            found = add(table, 4 * np.int64(r), r, 1.0, seen, found)
    else:
        for arc in range(begin, end):
            if ahead:
                prefetch(label, 2 * np.int64(load(targets, min(arc + AHEAD, end - 1))))
            u = np.int64(load(targets, arc))
            if load(label, 2 * u) == here and u != v:
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                if weight > 0:
                    r = load(label, 2 * u + 1)
                    found = add(table, 4 * np.int64(r), r, weight, seen, found)
    best, gain, joined = v, LEAST_GAIN * k, 0.0
    for j in range(front, found):
        part = np.int64(load(seen, j))
        common, other = load(table, 4 * part), load(table, 4 * part + 1)
        gained = common - scale * k * other
        is_better = gained > gain and part != v and load(label, 2 * part) == here
        if is_better and load(table, 4 * part + 2) >= scale * other * (around - other):
            best, gain, joined = part, gained, common
        store(table, 4 * part, 0.0)
    if best != v:
        store(label, 2 * v + 1, best)
        store(table, 4 * best + 1, load(table, 4 * best + 1) + k)
        store(table, 4 * best + 2, load(table, 4 * best + 2) + (inside - 2 * joined))
        store(table, 4 * best + 3, load(table, 4 * best + 3) + 1.0)
        store(table, 4 * v + 3, 0.0)


@inline
def refine_all(
    offsets, targets, weights, strength, scale, seed, community, order, total, label, table, seen, part, stop
):  # fmt: skip
    """Merge vertices within their communities, from single ones on, into well-connected parts; return their number.

    A vertex that is still alone joins the part that gains most, of those whose edges to the rest of the community have
    at least their expected weight. ``part`` gets the numbers of the parts. All other arrays but the inputs are
    overwritten: ``label`` gets for each vertex its community and its part; ``table``, for each part, a sum of weights,
    the sum of strengths, the weight of its edges to the rest, and the number of its members.
    """
    n = strength.size
    for v in range(n):
        store(total, v, 0.0)
    for v in range(n):
        c = np.int64(load(community, v))
        store(total, c, load(total, c) + load(strength, v))
    shuffle_all(order, n, seed)
    ahead = n > IN_CACHE
    for v in range(n):
        if v & PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return np.int64(0)
        begin, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
        start_part(v, begin, end, targets, weights, strength, community, label, table, ahead)
    for i in range(n):
        if i & PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return np.int64(0)
        ask_for_part(order, i, n - 1, offsets, targets, label, table)
        v = np.int64(load(order, i))
        join_part(
            v, np.int64(load(offsets, v)), np.int64(load(offsets, v + 1)), targets, weights, strength, scale, total,
            label, table, seen, np.int64(0), ahead, False,
        )  # fmt: skip
    return number_all(label, 2, 1, seen, n, part)


@kernel
def refine(
    offsets, targets, weights, strength, scale, seed, community, order, total, label, table, seen, part, stop
):  # fmt: skip
    """See :func:`refine_all`."""
    return refine_all(
        offsets, targets, weights, strength, scale, seed, community, order, total, label, table, seen, part, stop
    )
