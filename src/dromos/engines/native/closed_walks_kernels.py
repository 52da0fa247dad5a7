"""The diagonal of a symmetric matrix's cube: threads take chunks of rows, each with n numbers of its own."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import kernel

CHUNK = 64


@kernel
def sum_walks(thread, threads, offsets, targets, weights, mark, total, cursor, stop):
    """Walks over u and x back to v: ``mark``, which is zero, gets v's row, the weights of their last steps."""
    n = offsets.size - 1
    mine = thread * n
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= n:
            break
        for v in range(begin, min(begin + CHUNK, n)):
            for last in range(offsets[v], offsets[v + 1]):
                mark[mine + targets[last]] = weights[last]
            found = 0.0
            for first in range(offsets[v], offsets[v + 1]):
                u = targets[first]
                inner = 0.0
                for second in range(offsets[u], offsets[u + 1]):
                    inner += weights[second] * mark[mine + targets[second]]
                found += weights[first] * inner
            total[v] = found
            for last in range(offsets[v], offsets[v + 1]):
                mark[mine + targets[last]] = 0.0
