"""Vertices with common neighbors: two steps along edges from each vertex, and the best few kept.

Shared memory. A thread's rows of ``common`` (n zeros before and after a vertex) and ``seen`` are private; the rows of
``best`` and ``score`` of a vertex are written by the thread that took it.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import inline, kernel

JACCARD, OVERLAP, COSINE = 0, 1, 2
_CHUNK = 16


@inline
def _score(metric, shared, a, b):
    if metric == JACCARD:
        return shared / (a + b - shared)
    return shared / min(a, b) if metric == OVERLAP else shared / np.sqrt(a * b)


@kernel
def most_similar(
    thread, threads, degrees, offsets, targets, back_offsets, back_targets, sources, rows, metric, k, common, seen,
    best, score, cursor, stop,
):  # fmt: skip
    """The ``k`` vertices most similar to each source, best first and ties by id; ``best`` is -1, ``score`` 0 before.

    ``degrees`` are the offsets of all vertices. ``rows`` are the numbers of the sources' rows in ``offsets``, whose
    ``targets`` are numbers of rows in ``back_offsets``: ids if all rows are there.
    """
    n = degrees.size - 1
    mine = thread * n
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _CHUNK)
        if start >= sources.size:
            break
        for row in range(start, min(start + _CHUNK, sources.size)):
            u, own = np.int64(sources[row]), np.int64(rows[row])
            found = np.int64(0)
            for arc in range(offsets[own], offsets[own + 1]):
                w = np.int64(targets[arc])
                for other in range(back_offsets[w], back_offsets[w + 1]):
                    v = np.int64(back_targets[other])
                    if common[mine + v] == 0:
                        seen[mine + found] = v
                        found += 1
                    common[mine + v] += 1
            degree, held = offsets[own + 1] - offsets[own], np.int64(0)
            for i in range(found):
                v = np.int64(seen[mine + i])
                shared = np.float64(common[mine + v])
                common[mine + v] = 0
                if v == u:
                    continue
                value = _score(metric, shared, np.float64(degree), np.float64(degrees[v + 1] - degrees[v]))
                at = held
                while at > 0 and (
                    value > score[row * k + at - 1] or (value == score[row * k + at - 1] and v < best[row * k + at - 1])
                ):
                    at -= 1
                if at < k:
                    held = min(held + 1, k)
                    for place in range(held - 1, at, -1):
                        best[row * k + place] = best[row * k + place - 1]
                        score[row * k + place] = score[row * k + place - 1]
                    best[row * k + at], score[row * k + at] = v, value
