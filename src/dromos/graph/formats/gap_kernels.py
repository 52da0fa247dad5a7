"""Compiled kernels that check the rows of a serialized graph against each other."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.jit import kernel


@kernel
def _mix(value):
    """A 64-bit hash (the finisher of splitmix64): every bit of the value moves half the bits of the result."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def hash_arcs(thread, num_threads, offsets, targets, weights, forward, backward):
    """Sums over this thread's rows of a hash of ``(source, target, weight)``, and of ``(target, source, weight)``.

    The sums do not depend on the order of the arcs, so two sets of rows hold the same arcs where their sums agree.
    """
    vertices = offsets.size - 1
    along = np.uint64(0)
    against = np.uint64(0)
    for u in range(vertices * thread // num_threads, vertices * (thread + 1) // num_threads):
        for i in range(offsets[u], offsets[u + 1]):
            v = np.uint64(targets[i])
            w = np.uint64(weights[i]) if weights.size else np.uint64(0)
            w = _mix(w + np.uint64(0x9E3779B97F4A7C15))
            along += _mix(_mix(np.uint64(u) + w) ^ v)
            against += _mix(_mix(v + w) ^ np.uint64(u))
    forward[thread] = along
    backward[thread] = against
