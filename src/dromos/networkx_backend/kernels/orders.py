"""Topological order and computations along it; spanning forests; matchings in the order of edges."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.jit import kernel

__all__ = ["longest", "matched", "spanning_forest", "topological"]


@kernel
def topological(offsets, targets, multiplicity, waiting_for, order, generation):
    """Nodes in topological order, generation by generation; return how many, fewer than all if there is a cycle.

    ``waiting_for`` holds in-degrees and is overwritten; ``generation`` must hold 0.
    """
    found = 0
    for node in range(waiting_for.size):
        if waiting_for[node] == 0:
            order[found] = node
            found += 1
    at = 0
    while at < found:
        node = order[at]
        at += 1
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            waiting_for[other] -= multiplicity[arc]
            if waiting_for[other] == 0:
                generation[other] = generation[node] + 1
                order[found] = other
                found += 1
    return found


def longest(offsets: Array, targets: Array, weights: Array, order: Array) -> Array:
    """The greatest weight of a path that ends at each node; a path may begin anywhere."""
    best = np.full(len(order), -np.inf)
    _longest(offsets, targets, weights, order, best)
    return best


@kernel
def _longest(offsets, targets, weights, order, best):
    """``best`` must hold minus infinity."""
    for node in order:
        best[node] = max(best[node], 0.0)
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            best[other] = max(best[other], best[node] + weights[arc])


def spanning_forest(sources: Array, targets: Array, n: int) -> Array:
    """Which of these edges, taken in turn, join two trees."""
    chosen = np.zeros(len(sources), np.bool_)
    _spanning_forest(sources, targets, np.arange(n), chosen)
    return chosen


@kernel
def _spanning_forest(sources, targets, above, chosen):
    """``above`` must hold each node's own number, ``chosen`` 0."""
    for edge in range(sources.size):
        u, v = sources[edge], targets[edge]
        while above[u] != u:
            above[u] = above[above[u]]
            u = above[u]
        while above[v] != v:
            above[v] = above[above[v]]
            v = above[v]
        if u != v:
            above[u] = v
            chosen[edge] = True


def matched(sources: Array, targets: Array, n: int) -> Array:
    """Which of these edges, taken in turn, have two ends that no earlier edge took."""
    chosen = np.zeros(len(sources), np.bool_)
    _matched(sources, targets, np.zeros(n, np.bool_), chosen)
    return chosen


@kernel
def _matched(sources, targets, taken, chosen):
    """``taken`` and ``chosen`` must hold 0."""
    for edge in range(sources.size):
        u, v = sources[edge], targets[edge]
        if u != v and not taken[u] and not taken[v]:
            taken[u] = taken[v] = True
            chosen[edge] = True
