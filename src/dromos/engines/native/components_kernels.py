"""Afforest in one call: hook trees together by compare-and-swap, and flatten them.

Shared memory. ``label`` is read by all threads (relaxed). A root is hooked, by compare-and-swap, only below a vertex of
lower id, so pointers always lead to lower ids and no interleaving makes a cycle. Flattening and halving write an
ancestor into a vertex that is not a root; a racing writer also writes an ancestor. An entry's value is its whole
message, so relaxed is enough. Each phase has its own cursor, and phases are separated by barriers.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import (
    atomic_add,
    atomic_min,
    compare_and_swap,
    load,
    load_relaxed,
    prefetch,
    store,
    store_relaxed,
)
from dromos.jit import LINE, barrier, inline, kernel, publish, total

CHUNK = 2048  # vertices that a thread takes at a time, or eight times as many arcs
LEAST_SHARE = 16384  # the same, while the first arcs of rows are linked
ROWS = 16  # long rows that a thread takes at a time
SAMPLES = 1024
AHEAD = 24  # rows between the prefetch of a row and its use
PHASES = 4


@inline
def _link(label, a, v):
    """Join the tree of label ``a`` with that of ``v``; return a label near the root of both.

    The caller passes that label to its next link: loading its own label again, right after the atomic that wrote it,
    would stall.
    """
    b = load_relaxed(label, v)
    while a != b:
        high, low = max(a, b), min(a, b)
        above = load_relaxed(label, high)
        if above == low or (above == high and compare_and_swap(label, high, high, low)):
            return low
        ancestor = load_relaxed(label, above)
        if ancestor != above:  # halve the path: the chains of a lattice's rows need it
            store_relaxed(label, high, ancestor)
        a = ancestor
        b = load_relaxed(label, low)
    return a


@inline
def _flatten(label, cursors, phase, n, stop):
    """Make every vertex point at its root."""
    while True:
        first = atomic_add(cursors, phase * LINE, CHUNK)
        if first >= n or load_relaxed(stop, 0):
            return
        for v in range(first, min(first + CHUNK, n)):
            parent = load_relaxed(label, v)
            above = load_relaxed(label, parent)
            if parent != above:
                while parent != above:
                    parent = above
                    above = load_relaxed(label, parent)
                store_relaxed(label, v, parent)


@inline
def _majority(label, n):
    """The most frequent label of a sample, if most have the same one; the sample is the same on all threads."""
    best = np.int64(-1)
    votes = 0
    state = np.uint64(88172645463325252)  # xorshift
    for _ in range(SAMPLES):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        seen = np.int64(load_relaxed(label, np.int64(state % np.uint64(n))))
        if votes == 0:
            best = seen
        votes += 1 if seen == best else -1
    return best


@kernel
def afforest(thread, threads, offsets, targets, symmetric, label, cursors, memory, stop):
    """Set every vertex's label to the least id of its component.

    First links the first two neighbors of every vertex, which joins most of a large component. In a symmetric graph the
    other arcs of its vertices are skipped: each is seen from its other end, or lies inside. Once ``stop[0]`` is set, no
    thread takes new vertices; all still reach every barrier.
    """
    n = offsets.size - 1
    for v in range(n * thread // threads, n * (thread + 1) // threads):
        store(label, v, v)
    barrier(memory, thread, threads, 1)
    # rows cost the same here, and chains arise where the ranges of two threads meet: use large shares
    share = max(np.int64(LEAST_SHARE), n // (8 * threads))
    while True:
        first = atomic_add(cursors, 0, share)
        if first >= n or load_relaxed(stop, 0):
            break
        for u in range(first, min(first + share, n)):
            begin, end = np.int64(load(offsets, u)), np.int64(load(offsets, u + 1))
            prefetch(targets, np.int64(load(offsets, min(u + AHEAD, n))))
            if begin < end:
                near = _link(label, load_relaxed(label, u), load(targets, begin))
                if begin + 1 < end:
                    _link(label, near, load(targets, begin + 1))
    barrier(memory, thread, threads, 2)
    _flatten(label, cursors, 1, n, stop)
    barrier(memory, thread, threads, 3)
    skipped = _majority(label, n) if symmetric else np.int64(-1)
    linked = np.int64(0)
    while True:
        first = atomic_add(cursors, 2 * LINE, CHUNK)
        if first >= n or load_relaxed(stop, 0):
            break
        for u in range(first, min(first + CHUNK, n)):
            near = load_relaxed(label, u)
            if near == skipped:
                continue
            for arc in range(np.int64(load(offsets, u)) + 2, np.int64(load(offsets, u + 1))):
                near = _link(label, near, load(targets, arc))
                linked += 1
    publish(memory, thread, 4, 0, linked)
    barrier(memory, thread, threads, 4)
    if total(memory, threads, 4, 0) > 0:
        _flatten(label, cursors, 3, n, stop)


@kernel
def link_rows(thread, threads, start, offsets, targets, label, giant, cursors, memory, stop):
    """As ``afforest`` along some rows of a graph, from vertex ``start`` on, in a forest of all vertices.

    ``giant[0]``: a vertex of the tree whose rows are skipped; -1: find it; -2: skip no row.
    """
    rows = offsets.size - 1
    n = label.size
    shift = np.int64(load(offsets, 0))
    share = max(np.int64(LEAST_SHARE), rows // (8 * threads))
    while True:
        first = atomic_add(cursors, 0, share)
        if first >= rows or load_relaxed(stop, 0):
            break
        for row in range(first, min(first + share, rows)):
            begin, end = np.int64(load(offsets, row)) - shift, np.int64(load(offsets, row + 1)) - shift
            if begin < end:
                near = _link(label, load_relaxed(label, start + row), load(targets, begin))
                if begin + 1 < end:
                    _link(label, near, load(targets, begin + 1))
    barrier(memory, thread, threads, 1)
    _flatten(label, cursors, 1, n, stop)
    barrier(memory, thread, threads, 2)
    skipped = load_relaxed(giant, 0)
    if skipped == -1:
        skipped = _majority(label, n)
    elif skipped >= 0:
        skipped = np.int64(load_relaxed(label, skipped))
    linked = np.int64(0)
    while True:
        first = atomic_add(cursors, 2 * LINE, ROWS)
        if first >= rows or load_relaxed(stop, 0):
            break
        for row in range(first, min(first + ROWS, rows)):
            near = load_relaxed(label, start + row)
            if near == skipped:
                continue
            begin, end = np.int64(load(offsets, row)) - shift, np.int64(load(offsets, row + 1)) - shift
            for arc in range(begin + 2, end):
                near = _link(label, near, load(targets, arc))
                linked += 1
    publish(memory, thread, 3, 0, linked)
    barrier(memory, thread, threads, 3)
    if thread == 0:
        giant[0] = skipped
    if total(memory, threads, 3, 0) > 0:
        _flatten(label, cursors, 3, n, stop)


@kernel
def link_arcs(thread, threads, start, offsets, targets, label, first, wanted, giant, cursor, stop):
    """Join trees along rows of a slice that begins with vertex ``start``: the rows of ``first + i`` with ``wanted[i]``.

    Rows may be split; threads take equal numbers of arcs. ``giant``: the root of a tree that needs no more arcs, so
    that a row is left as soon as it is joined to that tree; -1 for none.
    """
    rows = offsets.size - 1
    shift = np.int64(load(offsets, 0))
    arcs = np.int64(load(offsets, rows)) - shift
    while True:
        begin = atomic_add(cursor, 0, 8 * CHUNK)
        if begin >= arcs or load_relaxed(stop, 0):
            return
        end = min(begin + 8 * CHUNK, arcs)
        low, high = np.int64(0), rows - 1  # the row of the first arc: the last one that begins at or before it
        while low < high:
            middle = (low + high + 1) // 2
            if np.int64(load(offsets, middle)) - shift <= begin:
                low = middle
            else:
                high = middle - 1
        row = max(low, first - start)
        while row < min(rows, first + wanted.size - start):
            arc = max(begin, np.int64(load(offsets, row)) - shift)
            if arc >= end:
                break
            stays = min(end, np.int64(load(offsets, row + 1)) - shift) if load(wanted, start + row - first) else arc
            near = load_relaxed(label, start + row)
            while arc < stays and near != giant:
                near = _link(label, near, load(targets, arc))
                arc += 1
            row += 1


@kernel
def flatten(thread, threads, label, cursor, stop):
    """Make every vertex point at its root."""
    _flatten(label, cursor, 0, label.size, stop)


@kernel
def name_trees(thread, threads, parent, given_ids, new_ids, crowded, least, label, memory):
    """Give all vertices of every tree its least given id; for the ``crowded`` root, each thread merges only once."""
    n = parent.size
    begin, end = n * thread // threads, n * (thread + 1) // threads
    mine = np.int64(n)
    for v in range(begin, end):
        store(least, v, n)
    barrier(memory, thread, threads, 1)
    for v in range(begin, end):
        root = np.int64(load(parent, v))
        name = np.int64(load(given_ids, v))
        if root == crowded:
            mine = min(mine, name)
        elif name < load_relaxed(least, root):
            atomic_min(least, root, name)
    if mine < n:
        atomic_min(least, crowded, mine)
    barrier(memory, thread, threads, 2)
    for name in range(begin, end):
        store(label, name, load_relaxed(least, np.int64(load(parent, np.int64(load(new_ids, name))))))
