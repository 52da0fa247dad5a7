"""Colours taken greedily, the load of nodes on shortest paths, and distances among the neighbours of a node."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.jit import kernel

__all__ = ["add_loads", "efficiency_of_neighbours", "greedy_colors"]


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


@kernel
def add_loads(offsets, targets, sources, depth, load):
    """Add what passes each node if each of ``sources`` gets one unit from every node that it reaches.

    A unit goes back along shortest paths of at most ``depth`` edges, in equal shares to all nodes before the one that
    it is at. What begins or ends at a node does not pass it.
    """
    count = len(load)
    order, level = np.empty(count, np.int64), np.full(count, -1, np.int64)
    before, passing = np.zeros(count, np.int64), np.empty(count, np.float64)
    for source in sources:
        order[0], level[source], found, at = source, 0, 1, 0
        while at < found:
            node = order[at]
            at += 1
            before[node], passing[node] = 0, 1.0
            if level[node] >= depth:
                continue
            for arc in range(offsets[node], offsets[node + 1]):
                other = targets[arc]
                if level[other] < 0:
                    level[other] = level[node] + 1
                    order[found] = other
                    found += 1
        for at in range(found):
            node = order[at]
            for arc in range(offsets[node], offsets[node + 1]):
                if level[targets[arc]] == level[node] + 1:
                    before[targets[arc]] += 1
        for at in range(found - 1, 0, -1):
            node = order[at]
            for arc in range(offsets[node], offsets[node + 1]):
                other = targets[arc]
                if level[other] == level[node] + 1:
                    passing[node] += passing[other] / before[other]
            load[node] += passing[node] - 1.0
        for at in range(found):
            level[order[at]] = -1


@kernel
def efficiency_of_neighbours(offsets, targets, efficiency):
    """The mean of the inverse distances among the neighbours of each node, along edges between them alone."""
    count = len(efficiency)
    inside, level = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    order = np.empty(count, np.int64)
    for center in range(count):
        first, last = offsets[center], offsets[center + 1]
        for arc in range(first, last):
            inside[targets[arc]] = center
        total = 0.0
        for arc in range(first, last):
            source = targets[arc]
            order[0], level[source], found, at = source, 0, 1, 0
            while at < found:
                node = order[at]
                at += 1
                for onward in range(offsets[node], offsets[node + 1]):
                    other = targets[onward]
                    if inside[other] == center and level[other] < 0:
                        level[other] = level[node] + 1
                        total += 1.0 / level[other]
                        order[found] = other
                        found += 1
            for at in range(found):
                level[order[at]] = -1
        pairs = (last - first) * (last - first - 1)
        efficiency[center] = total / pairs if pairs > 0 else 0.0
