"""Dependencies along weighted shortest paths: for each source, Dijkstra's search and a backward pass, by one thread.

An arc of infinite weight, or a sum beyond all floats, leads nowhere, as in a search for distances.

Shared memory. All but ``cursor`` is each thread's own row of n vertices. ``heap`` has the waiting vertices, the nearest
first; ``place`` is a vertex's index in it, or ``UNSEEN``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import inline, kernel

UNSEEN = -1


@inline
def _rise(distance, heap, place, mine, at, v):
    """Move ``v``, which is at or enters at ``at``, up the heap before all that are farther away."""
    while at > 0:
        above = (at - 1) >> 1
        other = heap[mine + above]
        if distance[mine + other] <= distance[mine + v]:
            break
        heap[mine + at] = other
        place[mine + other] = at
        at = above
    heap[mine + at] = v
    place[mine + v] = at


@inline
def _sink(distance, heap, place, mine, size, v):
    """Put ``v`` at the top of the heap, and move it down below all that are nearer."""
    at = np.int64(0)
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = heap[mine + below]
        if below + 1 < size and distance[mine + heap[mine + below + 1]] < distance[mine + other]:
            below += 1
            other = heap[mine + below]
        if distance[mine + v] <= distance[mine + other]:
            break
        heap[mine + at] = other
        place[mine + other] = at
        at = below
    heap[mine + at] = v
    place[mine + v] = at


@kernel
def accumulate(
    thread, threads, offsets, targets, weights, sources, endpoints, distance, paths, depends, total, heap, place, order,
    cursor, stop,
):  # fmt: skip
    """Add the dependencies of every source to ``total``; ``distance`` is infinite, ``place`` is ``UNSEEN``."""
    mine = thread * (offsets.size - 1)
    while load_relaxed(stop, 0) == 0:
        at = atomic_add(cursor, 0, 1)
        if at >= sources.size:
            break
        source = np.int64(sources[at])
        distance[mine + source], paths[mine + source] = 0.0, 1.0
        heap[mine] = source
        size, count = np.int64(1), np.int64(0)
        while size > 0:
            v = heap[mine]
            order[mine + count] = v
            count += 1
            size -= 1
            if size > 0:
                _sink(distance, heap, place, mine, size, heap[mine + size])
            depends[mine + v] = 0.0
            here, ways = distance[mine + v], paths[mine + v]
            for arc in range(offsets[v], offsets[v + 1]):
                u, length = np.int64(targets[arc]), here + weights[arc]
                if length < distance[mine + u]:
                    distance[mine + u], paths[mine + u] = length, ways
                    spot = place[mine + u]
                    if spot == UNSEEN:
                        spot = size
                        size += 1
                    _rise(distance, heap, place, mine, spot, u)
                elif length == distance[mine + u] and length < np.inf:
                    paths[mine + u] += ways
        for i in range(count - 1, -1, -1):
            v = order[mine + i]
            here, ways, gathered = distance[mine + v], paths[mine + v], 0.0
            for arc in range(offsets[v], offsets[v + 1]):
                u, length = np.int64(targets[arc]), here + weights[arc]
                if length == distance[mine + u] and length < np.inf:
                    gathered += ways / paths[mine + u] * (1.0 + depends[mine + u])
            depends[mine + v] = gathered
            if v != source:
                total[mine + v] += gathered + (1.0 if endpoints else 0.0)
        if endpoints:
            total[mine + source] += count - 1
        for i in range(count):
            v = order[mine + i]
            distance[mine + v], place[mine + v] = np.inf, UNSEEN
