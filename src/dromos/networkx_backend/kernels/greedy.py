"""Colours taken greedily."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.jit import kernel

__all__ = ["greedy_colors"]


@kernel
def greedy_colors(offsets, targets, order, color):
    """Give each node of ``order``, one after the other, the least colour that no neighbour has; -1: none yet."""
    taken_by = np.full(len(color) + 1, -1, np.int64)  # the node that saw a colour last
    for node in order:
        for arc in range(offsets[node], offsets[node + 1]):
            other = color[targets[arc]]
            if other >= 0:
                taken_by[other] = node
        least = 0
        while taken_by[least] == node:
            least += 1
        color[node] = least
