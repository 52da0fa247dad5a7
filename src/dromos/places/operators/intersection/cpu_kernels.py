"""Common members of rows: a row is marked in a byte per vertex, and the members of other rows are looked up.

Shared memory. Each thread has its own part of ``mark``, zero before and after a row; ``counts`` is updated by atomics.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import LINE, kernel

CHUNK = 64


@kernel
def count_common(
    thread, threads, left_offsets, left_targets, left_first, right_offsets, right_targets, right_first, mark, n, counts,
    cursor, stop, totals,
):  # fmt: skip
    """Count as the contract says; ``totals[thread * LINE]`` is the number of z that a thread found."""
    rows, right_rows, mine = left_offsets.size - 1, right_offsets.size - 1, thread * n
    total = np.int64(0)
    while load_relaxed(stop, 0) == 0:
        chunk = atomic_add(cursor, 0, CHUNK)
        if chunk >= rows:
            break
        for row in range(chunk, min(chunk + CHUNK, rows)):
            begin, end = load(left_offsets, row), load(left_offsets, row + 1)
            for arc in range(begin, end):
                store(mark, mine + np.int64(load(left_targets, arc)), 1)
            of_x = np.int64(0)
            for arc in range(begin, end):
                y = np.int64(load(left_targets, arc))
                other = y - right_first
                if other < 0 or other >= right_rows:
                    continue
                of_y = np.int64(0)
                for far in range(load(right_offsets, other), load(right_offsets, other + 1)):
                    z = np.int64(load(right_targets, far))
                    if load(mark, mine + z) != 0:
                        atomic_add(counts, z, 1)
                        of_y += 1
                if of_y:
                    atomic_add(counts, y, of_y)
                    of_x += of_y
            for arc in range(begin, end):
                store(mark, mine + np.int64(load(left_targets, arc)), 0)
            if of_x:
                atomic_add(counts, left_first + row, of_x)
                total += of_x
    store(totals, thread * LINE, total)
