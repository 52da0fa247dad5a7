"""The diagonal of a symmetric matrix's cube: threads take chunks of rows, each with n numbers of its own."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import kernel

CHUNK = 64


@kernel
def sum_walks(thread, threads, offsets, targets, weights, lower, mark, total, cursor, stop):
    """Walks over u and x back to v: ``mark``, which is zero, gets v's row, the weights of their last steps.

    Of each row the targets below its own vertex come first, up to ``lower``. Only these are looked at, so that of the
    two ways round a triangle one is found, and counts twice. Vertices stand by falling degree, so that the rows of hubs
    are short there, and what is looked up lies together.
    """
    n = offsets.size - 1
    mine = thread * n
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= n:
            break
        for v in range(begin, min(begin + CHUNK, n)):
            first, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
            for last in range(first, end):
                store(mark, mine + np.int64(load(targets, last)), load(weights, last))
            found = 0.0
            for arc in range(first, end):
                u = np.int64(load(targets, arc))
                inner = 0.0
                for second in range(np.int64(load(offsets, u)), np.int64(load(lower, u))):
                    inner += load(weights, second) * load(mark, mine + np.int64(load(targets, second)))
                found += load(weights, arc) * inner
            store(total, v, 2 * found)
            for last in range(first, end):
                store(mark, mine + np.int64(load(targets, last)), 0.0)
