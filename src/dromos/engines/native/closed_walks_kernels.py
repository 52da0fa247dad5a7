"""The diagonal of a symmetric matrix's cube: threads take chunks of rows, each with n private numbers."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import kernel

CHUNK = 64


@kernel
def add_walks(
    thread, threads, left_offsets, left_targets, left_weights, left_first, right_offsets, right_targets, right_weights,
    right_first, mark, n, total, cursor, stop,
):  # fmt: skip
    """Add to ``total`` of each row v of ``left`` its walks over a row u of ``right`` and a member x of u back to v.

    ``mark``, which is zero, gets v's row, the weights of the last steps. Sums are made in the order of the arcs, and
    continue from ``total``: they are the same whether the rows of ``right`` come at once or one range after another.
    """
    rows, right_rows, mine = left_offsets.size - 1, right_offsets.size - 1, thread * n
    while load_relaxed(stop, 0) == 0:
        chunk = atomic_add(cursor, 0, CHUNK)
        if chunk >= rows:
            break
        for row in range(chunk, min(chunk + CHUNK, rows)):
            begin, end = np.int64(load(left_offsets, row)), np.int64(load(left_offsets, row + 1))
            for arc in range(begin, end):
                store(mark, mine + np.int64(load(left_targets, arc)), load(left_weights, arc))
            found = load(total, left_first + row)
            for arc in range(begin, end):
                u = np.int64(load(left_targets, arc)) - right_first
                if u < 0 or u >= right_rows:
                    continue
                inner = 0.0
                for far in range(np.int64(load(right_offsets, u)), np.int64(load(right_offsets, u + 1))):
                    inner += load(right_weights, far) * load(mark, mine + np.int64(load(right_targets, far)))
                found += load(left_weights, arc) * inner
            store(total, left_first + row, found)
            for arc in range(begin, end):
                store(mark, mine + np.int64(load(left_targets, arc)), 0.0)
