"""What the steps of Louvain and Leiden share: sums by group, orders of vertices, and groups with their members.

The sums that a step makes for a group are stored next to the other data that it reads of the group, so that both are in
one cache line; the sums are 0 before and after each step.

Rows are visited in random order, and the groups around a vertex are at random places. So the data is prefetched, which
saves a third of the time if it exceeds the cache. The inner loops use ``load`` and ``store``, which do not check for
negative indices, and save a sixth.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.community_numbers import SPREAD
from dromos.intrinsics import load, prefetch, store
from dromos.jit import inline, kernel

AHEAD = 16  # arcs between the prefetch of a neighbor's group and its use, and between that of a group and its use
ROWS_AHEAD = 4  # vertices between the prefetch of a row and its use, and between that of its offset and its use
IN_CACHE = 1 << 16  # vertices whose groups need no prefetch
PATIENCE = 1023  # vertices between two checks of the stop flag
_SPREAD = np.uint64(SPREAD)


@inline
def ask_for_row(later, latest, offsets, targets):
    """Prefetch the offset of the row of ``latest``, and the row of ``later``, whose offset was prefetched before."""
    prefetch(offsets, latest)
    prefetch(targets, np.int64(load(offsets, later)))


@inline
def add(table, place, c, weight, seen, found):
    """Add a weight to the sum of group ``c``; return the new number of groups ``seen``."""
    so_far = load(table, place)
    store(seen, found, c)  # overwritten by the next one if it was seen before: no branch to predict
    store(table, place, so_far + weight)
    return found + np.int64(so_far == 0)


@inline
def shuffle_all(order, n, seed):
    """Write the numbers below ``n`` in an order drawn from a seed; see ``community_numbers.shuffled``."""
    for i in range(n):
        store(order, i, i)
    mix(order, n, seed)


@inline
def mix(order, n, seed):
    """Shuffle the first ``n`` entries by a seed; 0 leaves them as they are."""
    if seed == np.uint64(0):
        return
    for i in range(n - 1, 0, -1):
        count = np.uint64(i + 1)
        random = seed + count * _SPREAD
        random = (random ^ (random >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        random = (random ^ (random >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        random ^= random >> np.uint64(31)
        j = np.int64(((random >> np.uint64(32)) * count) >> np.uint64(32))
        moved = load(order, i)
        store(order, i, load(order, j))
        store(order, j, moved)


@inline
def number_all(group, stride, first, numbers, groups, found):
    """Number the groups at every ``stride``-th entry from ``first`` on by their first vertex; return their number.

    The result goes into ``found``, which may be the same array. The old numbers are below ``groups``.
    """
    for c in range(groups):
        store(numbers, c, -1)
    count = np.int64(0)
    for v in range(found.size):
        c = np.int64(load(group, stride * v + first))
        given = np.int64(load(numbers, c))
        if given < 0:
            given = count
            store(numbers, c, given)
            count += 1
        store(found, v, given)
    return count


@inline
def list_members(group, groups, starts, order):
    """Write where each group begins into ``starts``, and the vertices by group into ``order``."""
    for c in range(groups + 1):
        store(starts, c, 0)
    for v in range(group.size):
        c = np.int64(load(group, v))
        store(starts, c, load(starts, c) + 1)
    end = np.int64(0)
    for c in range(groups + 1):
        end += load(starts, c)
        store(starts, c, end)
    for v in range(group.size - 1, -1, -1):
        c = np.int64(load(group, v))
        end = load(starts, c) - 1
        store(starts, c, end)
        store(order, end, v)


@kernel
def number(group, numbers, found):
    """Number groups by their first vertex, into ``found``; ``numbers`` has room for all. Return how many there are."""
    return number_all(group, 1, 0, numbers, numbers.size, found)


@kernel
def cut(fine, coarse, starts, order, latest, numbers, found):
    """Number the pairs of groups that vertices are in by their first vertex, into ``found``.

    It goes by groups of ``fine``: ``latest`` gets, for each group of ``coarse``, the last group of ``fine`` seen with
    it.
    """
    list_members(fine, starts.size - 1, starts, order)
    for c in range(latest.size):
        store(latest, c, -1)
    count = np.int64(0)
    for i in range(order.size):
        v = np.int64(load(order, i))
        c = np.int64(load(coarse, v))
        if load(latest, c) != load(fine, v):
            store(latest, c, load(fine, v))
            store(numbers, c, count)
            count += 1
        store(found, v, load(numbers, c))
    number_all(found, 1, 0, order, count, found)


@kernel
def sort_by_group(order, group, cursors, found):
    """Write the vertices of ``order`` by group into ``found``; ``cursors`` are where groups begin."""
    for i in range(order.size):
        v = np.int64(load(order, i))
        c = np.int64(load(group, v))
        at = load(cursors, c)
        store(found, at, v)
        store(cursors, c, at + 1)


@kernel
def shuffle(order, seed):
    """Write the numbers below ``order.size`` in an order drawn from a seed; see ``community_numbers.shuffled``."""
    shuffle_all(order, order.size, seed)
