"""One level of NetworkX's Louvain method: the same sums in the same order, so that ties fall the same way."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.jit import kernel

__all__ = ["move_all"]


def move_all(
    offsets: Array,
    targets: Array,
    weights: Array,
    degree: Array,
    order: Array,
    m: float,
    resolution: float,
    community: Array,
) -> bool:
    """Move nodes in ``order`` to the community that gains most, round after round; return whether any moved.

    Rows are in the order of NetworkX's dictionaries and may hold self-loops. ``community`` is each node's own number.
    """
    n = len(degree)
    shared, listed, near = np.empty(n), np.zeros(n, np.bool_), np.empty(n, np.int64)
    return bool(
        _move_all(
            offsets, targets, weights, degree, order, m, resolution, community, degree.copy(), shared, listed, near
        )
    )


@kernel
def _move_all(offsets, targets, weights, degree, order, m, resolution, community, total, shared, listed, near):
    """``total`` must hold the degrees of the communities, ``listed`` 0."""
    twice_square = 2.0 * (m * m)
    improved = False
    moves = 1
    while moves > 0:
        moves = 0
        for node in order:
            own = community[node]
            best, best_gain = own, 0.0
            count = 0
            for arc in range(offsets[node], offsets[node + 1]):
                if targets[arc] == node:
                    continue
                there = community[targets[arc]]
                if not listed[there]:
                    listed[there] = True
                    shared[there] = 0.0
                    near[count] = there
                    count += 1
                shared[there] += weights[arc]
            total[own] -= degree[node]
            kept = shared[own] if listed[own] else 0.0
            remove_cost = -kept / m + resolution * (total[own] * degree[node]) / twice_square
            for i in range(count):
                there = near[i]
                gain = remove_cost + shared[there] / m - resolution * (total[there] * degree[node]) / twice_square
                if gain > best_gain:
                    best, best_gain = there, gain
                listed[there] = False
            total[best] += degree[node]
            if best != own:
                community[node] = best
                improved = True
                moves += 1
    return improved
