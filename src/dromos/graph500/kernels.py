"""Compiled kernels of the benchmark."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from dromos.jit import kernel


@kernel
def shortest_parents(thread, num_threads, root, first, offsets, targets, weights, distance, parent):
    """For each vertex from ``first`` on, the neighbor through which its distance is reached; -1 if there is none.

    Weights are positive and their sums are exact, so that a parent is nearer than its child.
    """
    rows = offsets.size - 1
    base = offsets[0]
    for row in range(rows * thread // num_threads, rows * (thread + 1) // num_threads):
        v = first + row
        parent[row] = root if v == root else -1
        if v == root or not distance[v] < np.inf:
            continue
        for arc in range(offsets[row] - base, offsets[row + 1] - base):
            if distance[targets[arc]] + weights[arc] == distance[v]:
                parent[row] = targets[arc]
                break
