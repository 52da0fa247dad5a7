"""Sums over the rows of a graph: threads take chunks of rows, each sum in the order of its arcs."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import kernel

CHUNK = 256


@kernel
def add_up(thread, threads, start, offsets, targets, weights, community, inside, total, loops, cursor, stop):
    """Add up each row's weights: of arcs into its own community, of all arcs, and of arcs to the vertex itself.

    The rows are those of the vertices from ``start`` on, and ``offsets[0]`` is the position of the first arc. Without
    weights, which are then empty, every arc counts 1.
    """
    n, base, weighted = offsets.size - 1, np.int64(load(offsets, 0)), weights.size != 0
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= n:
            break
        for row in range(begin, min(begin + CHUNK, n)):
            v = start + row
            own, inner, whole, back = load(community, v), load(inside, v), load(total, v), load(loops, v)
            first, last = np.int64(load(offsets, row)) - base, np.int64(load(offsets, row + 1)) - base
            if weighted:
                for arc in range(first, last):
                    u, weight = load(targets, arc), np.float64(load(weights, arc))
                    whole += weight
                    inner += weight if load(community, u) == own else 0.0
                    back += weight if u == v else 0.0
            else:
                same, selves = np.int64(0), np.int64(0)
                for arc in range(first, last):
                    u = load(targets, arc)
                    same += load(community, u) == own
                    selves += u == v
                inner += np.float64(same)
                whole += np.float64(last - first)
                back += np.float64(selves)
            store(inside, v, inner)
            store(total, v, whole)
            store(loops, v, back)
