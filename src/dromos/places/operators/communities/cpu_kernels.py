"""The steps of Louvain and Leiden on blocks of rows; threads take chunks of vertices, each with sums of its own.

``sums`` has one entry per vertex of the graph for each thread, all 0 before and after a vertex; ``seen`` has one entry
more than the longest row.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.communities_group_kernels import AHEAD, add
from dromos.engines.native.community_levels import LEAST_GAIN
from dromos.intrinsics import atomic_add, load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel

CHUNK = 256  # vertices that a thread takes at a time


@inline
def _weight(weights, arc):
    return np.float64(load(weights, arc)) if weights.size else 1.0


@kernel
def look_around(thread, threads, first, offsets, targets, weights, community, moved, inside, called, cursor, stop):
    """Sum each row's arcs to others of its community, and check whether a neighbor in another one has moved."""
    rows = offsets.size - 1
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= rows:
            break
        for row in range(begin, min(begin + CHUNK, rows)):
            v, here = first + row, load(community, first + row)
            whole, again = 0.0, np.int64(0)
            end = np.int64(load(offsets, row + 1))
            for arc in range(load(offsets, row), end):
                later = np.int64(load(targets, min(arc + AHEAD, end - 1)))
                prefetch(community, later)
                prefetch(moved, later)
                u = np.int64(load(targets, arc))
                weight = _weight(weights, arc)
                if u != v and weight > 0:
                    if load(community, u) == here:
                        whole += weight
                    else:
                        again |= np.int64(load(moved, u))
            store(inside, row, whole)
            store(called, row, again)


@inline
def _is_better(gained, gain, candidate, choice, own):
    """Whether a gain exceeds that of the choice so far, or equals it with a candidate of a lesser number."""
    return gained > gain or (gained == gain and choice != own and candidate < choice)


@inline
def _sum_up(first, v, offsets, targets, weights, group, sums, base, seen, front):
    """Sum the weights of a vertex's arcs by group; return how many groups were ``seen``, from ``front`` on."""
    found, end = front, np.int64(load(offsets, v - first + 1))
    for arc in range(load(offsets, v - first), end):
        prefetch(group, np.int64(load(targets, min(arc + AHEAD, end - 1))))
        u = np.int64(load(targets, arc))
        weight = _weight(weights, arc)
        if u != v and weight > 0:
            c = load(group, u)
            found = add(sums, base + np.int64(c), c, weight, seen, found)
    return found


@kernel
def choose_moves(
    thread, threads, first, offsets, targets, weights, vertices, strength, scale, community, total, sums, seen, best,
    cursor, stop,
):  # fmt: skip
    """Write the community with the greatest gain for each of ``vertices``."""
    n, front = strength.size, thread * (seen.size // threads)
    base = thread * n
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= vertices.size:
            break
        for i in range(begin, min(begin + CHUNK, vertices.size)):
            v = np.int64(load(vertices, i))
            old, k = np.int64(load(community, v)), load(strength, v)
            share = scale * k
            found = _sum_up(first, v, offsets, targets, weights, community, sums, base, seen, front)
            stays = load(sums, base + old) - share * (load(total, old) - k)
            choice, gain = old, stays + LEAST_GAIN * k
            for j in range(front, found):
                c = np.int64(load(seen, j))
                gained = load(sums, base + c) - share * load(total, c)
                store(sums, base + c, 0.0)
                if c != old and _is_better(gained, gain, c, choice, old):
                    choice, gain = c, gained
            store(best, i, choice)


@kernel
def choose_joins(
    thread, threads, first, offsets, targets, weights, vertices, strength, scale, community, whole, part, total, cut,
    mobile, sums, seen, best, cursor, stop,
):  # fmt: skip
    """Write for each of ``vertices``, which are alone, the part that it joins, or itself."""
    n, front = strength.size, thread * (seen.size // threads)
    base = thread * n
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= vertices.size:
            break
        for i in range(begin, min(begin + CHUNK, vertices.size)):
            v = np.int64(load(vertices, i))
            here, k = np.int64(load(community, v)), load(strength, v)
            around = load(whole, here)
            found = _sum_up(first, v, offsets, targets, weights, part, sums, base, seen, front)
            choice, gain = v, LEAST_GAIN * k
            for j in range(front, found):
                p = np.int64(load(seen, j))
                common, other = load(sums, base + p), load(total, p)
                store(sums, base + p, 0.0)
                gained = common - scale * k * other
                is_well = load(cut, p) >= scale * other * (around - other)
                is_free = load(mobile, p) == 0 and load(community, p) == here
                if is_well and is_free and _is_better(gained, gain, p, choice, v):
                    choice, gain = p, gained
            store(best, i, choice)


@kernel
def weigh_joined(thread, threads, first, offsets, targets, weights, vertices, part, new, late, early, cursor, stop):
    """Sum the arcs of each of ``vertices`` to others of its part: those that are new there, and those that are not."""
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= vertices.size:
            break
        for i in range(begin, min(begin + CHUNK, vertices.size)):
            v = np.int64(load(vertices, i))
            here, to_new, to_old = load(part, v), 0.0, 0.0
            for arc in range(load(offsets, v - first), load(offsets, v - first + 1)):
                u = np.int64(load(targets, arc))
                if u != v and load(part, u) == here:
                    weight = _weight(weights, arc)
                    if weight > 0:
                        if load(new, u):
                            to_new += weight
                        else:
                            to_old += weight
            store(late, i, to_new)
            store(early, i, to_old)


@kernel
def sort_by_target(sources, targets, weights, cursors, rows, sums):
    """Write the sources and weights of arcs to the rows of their targets, which begin at ``cursors``."""
    for arc in range(targets.size):
        target = np.int64(load(targets, arc))
        at = load(cursors, target)
        store(rows, at, load(sources, arc))
        store(sums, at, load(weights, arc))
        store(cursors, target, at + 1)
