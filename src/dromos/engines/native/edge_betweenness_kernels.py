"""Dependencies of edges: one search and one backward pass for each source, each by one thread.

If there are more paths than a float can represent, they are counted again as a float times a power of 2^512
(``path_counts.py``), which is in ``power``.

Shared memory. All but ``cursor`` is private to each thread: a row of n vertices in ``level``, ``paths``, ``power``,
``depends`` and ``queue``, one of all arcs in ``through``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.path_counts import PER_UNIT, TOP
from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import inline, kernel

_MOST = 2.0**900  # counts up to this are plain floats


@inline
def _count_again(mine, last, offsets, targets, level, paths, power, queue):
    """Count the paths of the vertices in the queue with powers."""
    for i in range(last):
        v = mine + np.int64(queue[mine + i])
        paths[v], power[v] = 0.0, 0
    paths[mine + np.int64(queue[mine])] = 1.0
    for i in range(last):
        v = np.int64(queue[mine + i])
        next_level, here, unit = level[mine + v] + 1, paths[mine + v], power[mine + v]
        for arc in range(offsets[v], offsets[v + 1]):
            u = mine + np.int64(targets[arc])
            if level[u] == next_level:
                if unit > power[u]:  # of what is there, two powers less is beyond the last digit
                    paths[u] = here + (paths[u] * PER_UNIT if unit == power[u] + 1 else 0.0)
                    power[u] = unit
                elif unit == power[u]:
                    paths[u] += here
                elif unit + 1 == power[u]:
                    paths[u] += here * PER_UNIT
                if paths[u] >= TOP:
                    paths[u] *= PER_UNIT
                    power[u] += 1


@kernel
def accumulate(thread, threads, offsets, targets, sources, level, paths, power, depends, queue, through, cursor, stop):
    """Add to ``through`` the share of the shortest paths from all sources that use each arc.

    ``level`` is -1 and ``power`` 0, before and after.
    """
    mine, own = thread * (offsets.size - 1), thread * targets.size
    while load_relaxed(stop, 0) == 0:
        at = atomic_add(cursor, 0, 1)
        if at >= sources.size:
            break
        source = np.int64(sources[at])
        level[mine + source], paths[mine + source], queue[mine] = 0, 1.0, source
        first, last, far = np.int64(0), np.int64(1), False
        while first < last:
            v = np.int64(queue[mine + first])
            first += 1
            depends[mine + v] = 0.0
            next_level, here = level[mine + v] + 1, paths[mine + v]
            far = far or here > _MOST
            for arc in range(offsets[v], offsets[v + 1]):
                u = mine + np.int64(targets[arc])
                if level[u] < 0:
                    level[u], paths[u] = next_level, here
                    queue[mine + last] = u - mine
                    last += 1
                elif level[u] == next_level:
                    paths[u] += here
        if far:
            _count_again(mine, last, offsets, targets, level, paths, power, queue)
        for i in range(last - 1, -1, -1):
            v = np.int64(queue[mine + i])
            next_level, here, total = level[mine + v] + 1, paths[mine + v], 0.0
            for arc in range(offsets[v], offsets[v + 1]):
                u = mine + np.int64(targets[arc])
                if level[u] == next_level:
                    part = here / paths[u] * (1.0 + depends[u])
                    if far:
                        for _ in range(min(power[u] - power[mine + v], 3)):
                            part *= PER_UNIT
                    through[own + arc] += part
                    total += part
            depends[mine + v] = total
        for i in range(last):
            v = mine + np.int64(queue[mine + i])
            level[v], power[v] = -1, 0
