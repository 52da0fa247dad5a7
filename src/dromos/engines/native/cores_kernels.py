"""Peeling by buckets."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from dromos.jit import kernel


@kernel
def peel(thread, num_threads, offsets, targets, core, bucket, position, order):
    """Core numbers in place of the degrees in ``core``.

    ``order`` holds the vertices by degree, ``position`` their places there, ``bucket[d]`` where those of degree ``d``
    begin. A vertex that loses a neighbour moves to the front of its bucket, and the bucket shrinks past it.
    """
    for place in range(len(order)):
        v = order[place]
        for arc in range(offsets[v], offsets[v + 1]):
            u = targets[arc]
            degree = core[u]
            if degree > core[v]:
                front = bucket[degree]
                first = order[front]
                if u != first:
                    at = position[u]
                    order[at], order[front] = first, u
                    position[first], position[u] = at, front
                bucket[degree] += 1
                core[u] = degree - 1
