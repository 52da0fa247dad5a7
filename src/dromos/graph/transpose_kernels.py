"""Arcs reversed by counting, on one thread: two small kernels, which are compiled sooner than those of a team."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from dromos.intrinsics import load, store
from dromos.jit import kernel

__all__ = ["count_targets", "deal_arcs"]


@kernel
def count_targets(targets, counts):
    """Add up in ``counts[v + 1]`` the arcs that lead to ``v``."""
    for arc in range(targets.size):
        v = load(targets, arc)
        store(counts, v + 1, load(counts, v + 1) + 1)


@kernel
def deal_arcs(offsets, targets, weights, places, sources, moved):
    """Put the source of each arc, and its weight if there are any, where the row of its target is to have it.

    ``places`` has for each vertex where its next arc goes, and is moved on.
    """
    for v in range(offsets.size - 1):
        for arc in range(load(offsets, v), load(offsets, v + 1)):
            u = load(targets, arc)
            at = load(places, u)
            store(places, u, at + 1)
            store(sources, at, v)
            if weights.size:
                store(moved, at, load(weights, arc))
