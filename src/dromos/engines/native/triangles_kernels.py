"""Counting triangles by merging sorted rows."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from dromos.jit import atomic_add, kernel

_CHUNK = 64


@kernel
def count_triangles(thread, num_threads, offsets, targets, counts, cursor):
    """Add every triangle u > v > w once to the counts of its three corners. Rows are sorted and without duplicates."""
    n = len(offsets) - 1
    while True:
        begin = atomic_add(cursor, 0, _CHUNK)
        if begin >= n:
            return
        for u in range(begin, min(begin + _CHUNK, n)):
            of_u = 0
            for arc in range(offsets[u], offsets[u + 1]):
                v = targets[arc]
                if v >= u:
                    break
                of_v = 0
                at, end = offsets[u], offsets[u + 1]
                for other in range(offsets[v], offsets[v + 1]):
                    w = targets[other]
                    if w >= v:
                        break
                    while at < end and targets[at] < w:
                        at += 1
                    if at < end and targets[at] == w:
                        of_v += 1
                        atomic_add(counts, w, 1)
                if of_v:
                    of_u += of_v
                    atomic_add(counts, v, of_v)
            if of_u:
                atomic_add(counts, u, of_u)
