"""Compiled kernels that write the rows of a lattice directly; see :mod:`.grid`.

The vertex at ``(x, y, z)`` has the id ``(x * cols + y) * depth + z``. Every lattice edge belongs to the end from
which it leads forward along its axis; a wrapping edge to the last vertex of its line. ``kept[u]`` has bit ``axis`` set
where the forward arc of ``u`` is there, and bit ``3 + axis`` where the arc back along the same edge is.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from dromos.graph.generators.rng_kernels import random_word
from dromos.intrinsics import load_relaxed
from dromos.jit import kernel

_LOOK = 65535  # at the stop flag, once in so many vertices


@kernel
def _neighbour(u, axis, forward, shape, strides, periodic):
    """The next vertex along ``axis``, or -1 at a border."""
    size, stride = shape[axis], strides[axis]
    position = u // stride % size
    if forward:
        if position + 1 < size:
            return u + stride
        return u - position * stride if periodic and size > 2 else -1
    if position > 0:
        return u - stride
    return u + (size - 1) * stride if periodic and size > 2 else -1


@kernel
def choose_arcs(thread, num_threads, low, high, shape, strides, periodic, threshold, directed, kept, stop):
    """Decide which arcs stay: a draw of 32 bits per arc, or one for both directions where the grid is undirected."""
    half_word = np.uint64(0xFFFFFFFF)
    for u in range(kept.size * thread // num_threads, kept.size * (thread + 1) // num_threads):
        if u & _LOOK == 0 and load_relaxed(stop, 0):
            return
        bits = 0
        for axis in range(3):
            if _neighbour(u, axis, True, shape, strides, periodic) < 0:
                continue
            word = random_word(3 * u + axis, low, high) if threshold else np.uint64(0)
            stays = (word & half_word) >= threshold
            stays_back = (word >> np.uint64(32)) >= threshold if directed else stays
            bits |= (stays << axis) | (stays_back << (3 + axis))
        kept[u] = bits


@kernel
def count_rows(thread, num_threads, shape, strides, periodic, kept, degrees, stop):
    for u in range(kept.size * thread // num_threads, kept.size * (thread + 1) // num_threads):
        if u & _LOOK == 0 and load_relaxed(stop, 0):
            return
        degree = 0
        for axis in range(3):
            degree += (kept[u] >> axis) & 1
            back = _neighbour(u, axis, False, shape, strides, periodic)
            if back >= 0:
                degree += (kept[back] >> (3 + axis)) & 1
        degrees[u] = degree


@kernel
def fill_rows(thread, num_threads, shape, strides, periodic, kept, offsets, targets, stop):
    for u in range(kept.size * thread // num_threads, kept.size * (thread + 1) // num_threads):
        if u & _LOOK == 0 and load_relaxed(stop, 0):
            return
        begin = offsets[u]
        end = begin
        for axis in range(3):
            for forward in range(2):
                v = _neighbour(u, axis, forward == 1, shape, strides, periodic)
                if v < 0 or not ((kept[u] >> axis) if forward else (kept[v] >> (3 + axis))) & 1:
                    continue
                at = end  # at most six neighbors: insert each in its place
                while at > begin and targets[at - 1] > v:
                    targets[at] = targets[at - 1]
                    at -= 1
                targets[at] = v
                end += 1
