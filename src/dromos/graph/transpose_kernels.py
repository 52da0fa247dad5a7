"""Arcs reversed by counting, on one thread, compiled without Numba: a first call has no time to wait for more."""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from dromos.direct import direct_kernel

__all__ = ["count_targets", "deal_arcs"]


@direct_kernel
def count_targets(targets, counts):
    """Add up in ``counts[v + 1]`` the arcs that lead to ``v``."""
    for arc in range(targets.size):
        counts[targets[arc] + 1] += 1


@direct_kernel
def deal_arcs(offsets, targets, weights, places, sources, moved):
    """Put the source of each arc, and its weight if there are any, where the row of its target is to have it.

    ``places`` has for each vertex where its next arc goes, and is moved on.
    """
    for v in range(offsets.size - 1):
        for arc in range(offsets[v], offsets[v + 1]):
            u = targets[arc]
            at = places[u]
            places[u] = at + 1
            sources[at] = v
            if weights.size:
                moved[at] = weights[arc]
