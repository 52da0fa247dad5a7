"""The steps of Louvain and Leiden on blocks of rows, for a graph whose rows are not all in memory at once.

A block has the rows of the vertices from ``start`` on; its ``offsets`` begin with 0. The data of all vertices and
communities is in memory. Blocks are processed in the order of their vertices, or from one in the middle on, and
vertices within a block in an order drawn from a seed; one thread makes the moves.

See :mod:`dromos.engines.native.communities_move_kernels` and its neighbors for the meaning of the arrays.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.communities_group_kernels import AHEAD, ROWS_AHEAD, mix, shuffle_all
from dromos.engines.native.communities_move_kernels import choose, count_members, leave, sum_up
from dromos.engines.native.communities_refine_kernels import join_part, start_part
from dromos.engines.native.community_numbers import SPREAD
from dromos.intrinsics import load, prefetch, store
from dromos.jit import inline, kernel

LISTED = 1  # a vertex that is visited in this pass
CALLED = 2  # one whose neighbors have moved since: it is visited in the next pass, unless this one still visits it
GAIN, MOVES, ENTRIES = 0, 1, 2  # the results of a block
EMPTY = -1  # a key
NEW_PAIRS, ADDED_TO = 0, 1  # the results of adding pairs
_SPREAD = np.uint64(SPREAD)


@kernel
def begin_moves(strength, community, table, size, free):
    """Write the initial data of communities: total strengths, members, and the numbers that are not in use."""
    count_members(strength, community, table, size, free)


@inline
def _order_rows(start, rows, flags, seed, order):
    """Write the listed rows of a block in an order drawn from a seed; return their number."""
    count = np.int64(0)
    for row in range(rows):
        if load(flags, start + row) & LISTED:
            store(order, count, row)
            count += 1
    mix(order, count, seed)
    return count


@kernel
def move_rows(
    start, offsets, targets, weights, strength, scale, seed, community, table, size, free, flags, order, seen, told
):  # fmt: skip
    """Move the listed vertices of a block to the community around them that gains most, and mark their neighbors.

    ``order`` has room for the rows of the block, ``seen`` for one entry more than the longest row. ``told`` gets the
    gain of all moves, as a weight of edges, and their number.
    """
    count = _order_rows(start, offsets.size - 1, flags, seed, order)
    whole, moves = 0.0, np.int64(0)
    for i in range(count):
        later = start + np.int64(load(order, min(i + ROWS_AHEAD, count - 1)))
        prefetch(strength, later)
        prefetch(table, 2 * np.int64(load(community, later)))
        prefetch(targets, np.int64(load(offsets, later - start)))
        row = np.int64(load(order, i))
        v = start + row
        store(flags, v, 0)
        begin, end = np.int64(load(offsets, row)), np.int64(load(offsets, row + 1))
        old, k = np.int64(load(community, v)), load(strength, v)
        found = sum_up(begin, end, v, old, targets, weights, community, table, seen, False)
        before = load(table, 2 * old) - scale * k * (load(table, 2 * old + 1) - k)
        best, gain, _ = choose(v, old, k, scale, table, size, free, seen, found)
        if best != old:
            leave(v, old, best, k, community, table, size, free)
            whole += gain - before
            moves += 1
            for arc in range(begin, end):
                u = np.int64(load(targets, arc))
                if load(community, u) != best:
                    store(flags, u, np.int64(load(flags, u)) | CALLED)
    store(told, GAIN, whole)
    store(told, MOVES, np.float64(moves))


@kernel
def start_parts(start, offsets, targets, weights, strength, community, label, table):
    """Make each vertex of a block its own part."""
    for row in range(offsets.size - 1):
        begin, end = np.int64(load(offsets, row)), np.int64(load(offsets, row + 1))
        start_part(start + row, begin, end, targets, weights, strength, community, label, table, True)


@kernel
def join_parts(start, offsets, targets, weights, strength, scale, seed, total, label, table, order, seen):
    """Let the vertices of a block that are still alone join parts."""
    rows = offsets.size - 1
    shuffle_all(order, rows, seed)
    for i in range(rows):
        row = np.int64(load(order, i))
        join_part(
            start + row, np.int64(load(offsets, row)), np.int64(load(offsets, row + 1)), targets, weights, strength,
            scale, total, label, table, seen, np.int64(0), True, False,
        )  # fmt: skip


@inline
def _root(parent, v):
    """The root of a tree; halves the path to it."""
    above = np.int64(load(parent, v))
    while above != v:
        top = np.int64(load(parent, above))
        store(parent, v, top)
        v, above = top, np.int64(load(parent, top))
    return v


@kernel
def join_pieces(start, offsets, targets, weights, community, parent):
    """Join the trees of vertices along the arcs of a block that lie within communities."""
    for row in range(offsets.size - 1):
        v = start + row
        here = load(community, v)
        for arc in range(load(offsets, row), load(offsets, row + 1)):
            u = np.int64(load(targets, arc))
            if load(community, u) == here and (weights.size == 0 or load(weights, arc) > 0):
                a, b = _root(parent, v), _root(parent, u)
                store(parent, max(a, b), min(a, b))


@kernel
def end_pieces(parent):
    """Make every vertex point at the root of its tree."""
    for v in range(parent.size):
        store(parent, v, load(parent, load(parent, v)))


@inline
def _slot(key, shift):
    return np.int64((np.uint64(key) * _SPREAD) >> np.uint64(shift))


@inline
def _place(keys, key, shift):
    """Where a key is, or would be, in a table of ``1 << (64 - shift)`` slots."""
    last = keys.size - 1
    at = _slot(key, shift)
    there = load(keys, at)
    while there != key and there != EMPTY:
        at = (at + 1) & last
        there = load(keys, at)
    return at, there


@kernel
def add_pairs(start, offsets, targets, weights, group, groups, keys, sums, shift, begin, most, told):
    """Add the arcs of a block, from ``begin`` on, to the sums of weights between groups.

    An edge has two arcs, and the one from the lesser group counts. Sums are in the order of the arcs, whatever their
    place in the table. ``told`` gets the number of new pairs, and the first arc that is left, if its pair would exceed
    ``most``.
    """
    new = np.int64(0)
    store(told, ADDED_TO, np.int64(targets.size))
    for row in range(offsets.size - 1):
        a = np.int64(load(group, start + row))
        end = np.int64(load(offsets, row + 1))
        for arc in range(max(np.int64(load(offsets, row)), begin), end):
            prefetch(group, np.int64(load(targets, min(arc + 2 * AHEAD, end - 1))))
            b = np.int64(load(group, load(targets, min(arc + AHEAD, end - 1))))
            if a < b:
                prefetch(keys, _slot(a * groups + b, shift))
                prefetch(sums, _slot(a * groups + b, shift))
            b = np.int64(load(group, load(targets, arc)))
            if a < b:
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                if weight > 0:
                    at, there = _place(keys, a * groups + b, shift)
                    if there == EMPTY:
                        if new == most:
                            store(told, NEW_PAIRS, new)
                            store(told, ADDED_TO, np.int64(arc))
                            return
                        store(keys, at, a * groups + b)
                        new += 1
                    store(sums, at, load(sums, at) + weight)
    store(told, NEW_PAIRS, new)


@kernel
def mark_pairs(start, offsets, targets, weights, group, groups, marks, shift):
    """Mark pairs of groups joined by a block's arcs in a filter of ``1 << (64 - shift)`` bits; count the new ones."""
    new = np.int64(0)
    for row in range(offsets.size - 1):
        a = np.int64(load(group, start + row))
        end = np.int64(load(offsets, row + 1))
        for arc in range(load(offsets, row), end):
            prefetch(group, np.int64(load(targets, min(arc + AHEAD, end - 1))))
            b = np.int64(load(group, load(targets, arc)))
            if a < b and (weights.size == 0 or load(weights, arc) > 0):
                key = np.uint64(a * groups + b) * _SPREAD
                slot = _slot(key ^ (key >> np.uint64(32)), shift)  # one product spreads keys more evenly than chance
                marked, bit = np.int64(load(marks, slot >> 3)), np.int64(1) << (slot & 7)
                new += np.int64((marked & bit) == 0)
                store(marks, slot >> 3, marked | bit)
    return new


@kernel
def move_pairs(keys, sums, new_keys, new_sums, shift):
    """Insert all pairs into a larger table."""
    for i in range(keys.size):
        key = load(keys, i)
        if key != EMPTY:
            at, _ = _place(new_keys, key, shift)
            store(new_keys, at, key)
            store(new_sums, at, load(sums, i))


@kernel
def count_arcs(keys, groups, offsets):
    """Add the arcs of each group to ``offsets``, at its index plus one."""
    for i in range(keys.size):
        key = load(keys, i)
        if key != EMPTY:
            a = key // groups
            b = key - a * groups
            store(offsets, a + 1, load(offsets, a + 1) + 1)
            store(offsets, b + 1, load(offsets, b + 1) + 1)


@kernel
def write_rows(keys, sums, groups, cursors, targets, weights):
    """Write both arcs of each pair; ``cursors`` are where the rows begin."""
    for i in range(keys.size):
        key = load(keys, i)
        if key != EMPTY:
            a = key // groups
            b = key - a * groups
            at = load(cursors, a)
            store(targets, at, b)
            store(weights, at, load(sums, i))
            store(cursors, a, at + 1)
            at = load(cursors, b)
            store(targets, at, a)
            store(weights, at, load(sums, i))
            store(cursors, b, at + 1)
