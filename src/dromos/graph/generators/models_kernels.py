"""Compiled kernels of the models that grow or rewire edge by edge; see :mod:`.models`."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from dromos.graph.generators.rng_kernels import below, random_word, unit_float
from dromos.intrinsics import load_relaxed
from dromos.jit import kernel

_LOOK = 4095  # at the stop flag, once in so many vertices


@kernel
def attach(thread, num_threads, low, high, num_vertices, m, ends, last_chooser, stop):
    """Edge ``e`` joins ``ends[2 * e]`` and ``ends[2 * e + 1]``; a random entry is a vertex in proportion to its degree.

    ``last_chooser[v]`` is the vertex that was joined to ``v`` last, so that none is joined to it twice.
    """
    filled = 0
    for leaf in range(1, m + 1):
        ends[filled] = 0
        ends[filled + 1] = leaf
        filled += 2
    draws = 0
    for u in range(m + 1, num_vertices):
        if u & _LOOK == 0 and load_relaxed(stop, 0):
            return
        choices = filled
        for _ in range(m):
            while True:
                v = ends[below(random_word(draws, low, high), choices)]
                draws += 1
                if last_chooser[v] != u:
                    break
            last_chooser[v] = u
            ends[filled] = u
            ends[filled + 1] = v
            filled += 2


@kernel
def choose_rewired(thread, num_threads, low, high, p, rewired):
    for i in range(rewired.size * thread // num_threads, rewired.size * (thread + 1) // num_threads):
        rewired[i] = unit_float(random_word(i, low, high)) < p


@kernel
def _find(table, key):
    """The slot of ``key`` in an open hash table of a power of two, or the free slot where it belongs."""
    mask = table.size - 1
    slot = np.int64(random_word(key, np.uint64(0), np.uint64(0)) >> np.uint64(1)) & mask
    while table[slot] >= 0 and table[slot] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def rewire(thread, num_threads, low, high, n, half, rewired, moved, table, degrees, src, dst, stop):
    """Edge ``(j - 1) * n + u`` joins ``u`` to ``u + j`` in the ring, until it is moved to another end of ``u``'s.

    ``rewired`` says which edges are to move; one stays where ``u`` has all others as neighbors already. ``moved`` gets
    those that have moved, and must hold 0. Whether two vertices are joined, the ring answers for the edges that have
    not moved, and ``table`` for those that have.
    """
    draws = 0
    for j in range(1, half + 1):
        for u in range(n):
            if u & _LOOK == 0 and load_relaxed(stop, 0):
                return
            edge = (j - 1) * n + u
            src[edge] = u
            dst[edge] = (u + j) % n
            if not rewired[edge] or degrees[u] >= n - 1:
                continue
            while True:
                w = below(random_word(draws, low, high), n)
                draws += 1
                if w == u:
                    continue
                ahead = (w - u) % n
                behind = n - ahead
                if ahead <= half and not moved[(ahead - 1) * n + u]:
                    continue
                if behind <= half and not moved[(behind - 1) * n + w]:
                    continue
                slot = _find(table, min(u, w) * n + max(u, w))
                if table[slot] < 0:
                    break
            table[slot] = min(u, w) * n + max(u, w)
            moved[edge] = True
            degrees[dst[edge]] -= 1
            degrees[w] += 1
            dst[edge] = w
