"""Aggregation, the last step of Louvain and Leiden on a level, on one thread; and the weight within groups.

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
    list_members,
)
from dromos.engines.native.community_levels import BLOCK
from dromos.intrinsics import atomic_add, load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel


@inline
def add_row(
    c, offsets, targets, weights, group, starts, order, new_targets, new_weights, at, sums, counts, base, seen,
    front, ahead,
):  # fmt: skip
    """Write the row of group ``c`` from ``at`` on; return its end. ``sums`` are used from ``base`` on, ``seen`` from
    ``front`` on. ``counts`` are the same memory as integers, which are added faster if each arc counts one.

    ``ahead``: prefetch groups.
    """
    found, n = front, order.size
    for i in range(load(starts, c), load(starts, c + 1)):
        latest = np.int64(load(order, min(i + 2 * ROWS_AHEAD, n - 1)))
        ask_for_row(np.int64(load(order, min(i + ROWS_AHEAD, n - 1))), latest, offsets, targets)
        v = np.int64(load(order, i))
        end = np.int64(load(offsets, v + 1))
        for arc in range(load(offsets, v), end):
            if ahead:
                prefetch(group, np.int64(load(targets, min(arc + 2 * AHEAD, end - 1))))
                prefetch(sums, base + np.int64(load(group, load(targets, min(arc + AHEAD, end - 1)))))
            d = load(group, load(targets, arc))
            if weights.size == 0:  # its own too: whether a neighbor is in it is hard to predict
                found = add(counts, base + np.int64(d), d, 1, seen, found)
            elif d != c and load(weights, arc) > 0:
                found = add(sums, base + np.int64(d), d, np.float64(load(weights, arc)), seen, found)
    for i in range(front, found):
        d = load(seen, i)
        place = base + np.int64(d)
        if d != c:
            store(new_targets, at, d)
            store(new_weights, at, load(sums, place) if weights.size else np.float64(load(counts, place)))
            at += 1
        store(sums, place, 0.0)
    return at


@inline
def aggregate_all(
    offsets, targets, weights, strength, group, starts, order, new_offsets, new_targets, new_weights, new_strength,
    sums, counts, seen, stop,
):  # fmt: skip
    """The graph whose vertices are the groups ``0..new_strength.size - 1``; return its number of arcs.

    ``starts``, ``order``, ``sums``, of which ``counts`` is another view, and ``seen`` are overwritten.
    """
    groups, start, at = new_strength.size, np.int64(0), np.int64(0)
    list_members(group, groups, starts, order)
    for c in range(groups):
        store(sums, c, 0.0)
        store(new_strength, c, 0.0)
    for v in range(group.size):
        c = np.int64(load(group, v))
        store(new_strength, c, load(new_strength, c) + load(strength, v))
    store(new_offsets, 0, 0)
    for c in range(groups):
        if c & PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return at
        at = add_row(
            c, offsets, targets, weights, group, starts, order, new_targets, new_weights, at, sums, counts, start,
            seen, start, group.size > IN_CACHE,
        )  # fmt: skip
        store(new_offsets, c + 1, at)
    return at


@kernel
def aggregate(
    offsets, targets, weights, strength, group, starts, order, new_offsets, new_targets, new_weights, new_strength,
    sums, counts, seen, stop,
):  # fmt: skip
    """See :func:`aggregate_all`."""
    return aggregate_all(
        offsets, targets, weights, strength, group, starts, order, new_offsets, new_targets, new_weights, new_strength,
        sums, counts, seen, stop,
    )  # fmt: skip


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
                prefetch(group, np.int64(load(targets, min(arc + AHEAD, end - 1))))
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                inside += weight if load(group, load(targets, arc)) == here else 0.0
        store(found, block, inside)
