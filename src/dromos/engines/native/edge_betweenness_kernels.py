"""Dependencies of edges: one search and one way back for each source, each by one thread.

Shared memory. All but ``cursor`` is each thread's own part: a row of n vertices in ``level``, ``paths``, ``depends``
and ``queue``, one of all arcs in ``through``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import kernel


@kernel
def accumulate(thread, threads, offsets, targets, sources, level, paths, depends, queue, through, cursor, stop):
    """Add to ``through`` what part of the shortest paths from all sources leads over each arc; ``level`` is -1."""
    mine, own = thread * (offsets.size - 1), thread * targets.size
    while load_relaxed(stop, 0) == 0:
        at = atomic_add(cursor, 0, 1)
        if at >= sources.size:
            break
        source = np.int64(sources[at])
        level[mine + source], paths[mine + source], queue[mine] = 0, 1.0, source
        first, last = np.int64(0), np.int64(1)
        while first < last:
            v = np.int64(queue[mine + first])
            first += 1
            depends[mine + v] = 0.0
            next_level, here = level[mine + v] + 1, paths[mine + v]
            for arc in range(offsets[v], offsets[v + 1]):
                u = mine + np.int64(targets[arc])
                if level[u] < 0:
                    level[u], paths[u] = next_level, here
                    queue[mine + last] = u - mine
                    last += 1
                elif level[u] == next_level:
                    paths[u] += here
        for i in range(last - 1, -1, -1):
            v = np.int64(queue[mine + i])
            next_level, here, total = level[mine + v] + 1, paths[mine + v], 0.0
            for arc in range(offsets[v], offsets[v + 1]):
                u = mine + np.int64(targets[arc])
                if level[u] == next_level:
                    part = here / paths[u] * (1.0 + depends[u])
                    through[own + arc] += part
                    total += part
            depends[mine + v] = total
        for i in range(last):
            level[mine + np.int64(queue[mine + i])] = -1
