"""The pull half of a joint traversal's level: a pass over all vertices that lack bits.

Each gathers the rows of its in-neighbors and stops as soon as it lacks none that can be gathered; bits that were pushed
to it before are taken up on the way. All rows of a vertex but ``front`` belong to the thread that took it. A row to
which nothing was added is not written either, so it keeps bits of an older level. They do no harm: a vertex that lacks
a bit has no in-neighbor that had it two levels ago, and the bits that it has itself are not new to it.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.joint_counts_kernels import consume
from dromos.engines.native.joint_push_kernels import BUFFER, flush
from dromos.engines.native.joint_rows import load_row, row_and, row_any, row_or, row_without, store_row
from dromos.intrinsics import atomic_add, load, prefetch, store
from dromos.jit import inline, kernel

_AHEAD = 16  # arcs; those of the next vertex at the end of a row
_NEXT = 4  # arcs of the next vertex, for rows that are left early
_WIDE = 4  # several shorter rows share a cache line, and the processor prefetches by itself


@inline
def _gather(front, in_targets, begin, end, lacking, like):
    """The bits of ``lacking`` that the rows of a vertex's in-neighbors have; stops once all are found."""
    width = len(like)
    left = lacking
    for arc in range(begin, end):
        if width >= _WIDE:
            prefetch(front, np.int64(load(in_targets, min(arc + _AHEAD, in_targets.size - 1))) * width)
        left = row_without(left, load_row(front, np.int64(load(in_targets, arc)) * width, like))
        if not row_any(left):
            break
    return row_without(lacking, left)


@kernel
def pull(cursor, heavy, merged, level, like, live, offsets, in_offsets, in_targets, seen, front, following, after,
         counts, counts_base, into, used, n, buffer, base, cursors, tail):  # fmt: skip
    """Find what is new at every vertex: ``(found, bits, their arcs, arcs into vertices that still lack bits)``.

    Bits of ``heavy`` are gathered; if ``merged``, bits that were pushed are in ``following``.
    """
    width = len(like)
    none = row_without(like, like)
    found, bits, arcs, unfilled = np.int64(0), none, np.int64(0), np.int64(0)
    while True:
        first = atomic_add(cursors, cursor, BUFFER)
        if first >= used:
            break
        filled = np.int64(0)
        for v in range(first, min(first + BUFFER, used)):
            known = load_row(seen, v * width, like)
            missing = row_without(live, known)
            if row_any(missing):
                begin, end = np.int64(load(in_offsets, v)), np.int64(load(in_offsets, v + 1))
                fresh = none
                if merged:
                    fresh = row_and(missing, load_row(following, v * width, like))
                lacking = row_and(missing, heavy)
                if row_any(lacking):
                    if width >= _WIDE:
                        for arc in range(end, min(end + _NEXT, in_targets.size)):
                            prefetch(front, np.int64(load(in_targets, arc)) * width)
                    fresh = row_or(fresh, _gather(front, in_targets, begin, end, lacking, like))
                if row_any(fresh):
                    store_row(seen, v * width, row_or(known, fresh))
                    store_row(following, v * width, fresh)
                    bits = row_or(bits, fresh)
                    arcs += np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v))
                    store(buffer, base + filled, v)
                    filled += 1
                if row_any(row_without(missing, fresh)):
                    unfilled += end - begin
        if filled:
            consume(buffer, base, base + filled, following, width, level, counts, counts_base, into, n)
            flush(after, cursors, tail, buffer, base, filled)
            found += filled
    return found, bits, arcs, unfilled
