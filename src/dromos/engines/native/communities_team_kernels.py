"""Refinement and aggregation on a team of threads, with the results of one thread.

A community's refinement reads and writes only data of its own vertices, and the row of a group depends only on the rows
of its vertices. So threads take communities, or groups, those with most arcs first.

Shared memory. Data of a vertex, a part or a group is written by the thread that took its community or group; of other
communities only the label is read, which is not written meanwhile. Sums and ``seen`` are private to each thread.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.communities_aggregate_kernels import add_row
from dromos.engines.native.communities_refine_kernels import ask_for_part, join_part, start_part
from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import LINE, barrier, inline, kernel

CURSORS = 2
_VERTICES = 256  # vertices that a thread takes at a time
_GROUPS = 64
_ARCS = 1 << 14


@inline
def _take(cursors, cursor, large, size):
    """The groups that a thread takes next, ``first..last``: those in ``large`` one by one, then all."""
    taken = np.int64(atomic_add(cursors, cursor * LINE, 1))
    if taken < large.size:
        first = np.int64(load(large, taken))
        return first, first + 1, True
    first = (taken - large.size) * _GROUPS
    return first, min(first + _GROUPS, size), False


@kernel
def refine(
    thread, threads, offsets, targets, weights, strength, scale, community, total, order, starts, is_large, large,
    label, table, seen, cursors, memory, stop,
):  # fmt: skip
    """As on one thread; ``order`` has the vertices by community, and ``large`` the large ones."""
    n, count = strength.size, starts.size - 1
    while True:
        first = np.int64(atomic_add(cursors, 0, _VERTICES))
        if first >= n or load_relaxed(stop, 0) != 0:
            break
        for v in range(first, min(first + _VERTICES, n)):
            begin, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
            start_part(v, begin, end, targets, weights, strength, community, label, table, True)
    barrier(memory, thread, threads, 1)
    front = thread * (seen.size // threads)
    while True:
        first, last, alone = _take(cursors, 1, large, count)
        if first >= count or load_relaxed(stop, 0) != 0:
            return
        for c in range(first, last):
            if alone or load(is_large, c) == 0:
                end = np.int64(load(starts, c + 1))
                for i in range(load(starts, c), end):
                    ask_for_part(order, i, end - 1, offsets, targets, label, table)
                    v = np.int64(load(order, i))
                    join_part(
                        v, np.int64(load(offsets, v)), np.int64(load(offsets, v + 1)), targets, weights, strength,
                        scale, total, label, table, seen, front, True, True,
                    )  # fmt: skip


@kernel
def aggregate(
    thread, threads, offsets, targets, weights, group, starts, order, is_large, large, bounds, ends, new_targets,
    new_weights, sums, counts, seen, cursors, stop,
):  # fmt: skip
    """As on one thread, but the row of group ``c`` is from ``bounds[c]`` up to ``ends[c]``."""
    count = starts.size - 1
    base = front = thread * (sums.size // threads)
    while True:
        first, last, alone = _take(cursors, 0, large, count)
        if first >= count or load_relaxed(stop, 0) != 0:
            return
        for c in range(first, last):
            if alone or load(is_large, c) == 0:
                store(ends, c, add_row(
                    c, offsets, targets, weights, group, starts, order, new_targets, new_weights,
                    np.int64(load(bounds, c)), sums, counts, base, seen, front, True,
                ))  # fmt: skip
