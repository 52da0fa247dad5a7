"""Colours taken greedily."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.jit import kernel

__all__ = ["greedy_colors", "saturation_colors"]


@kernel
def _give_least(offsets, targets, node, color, taken_by):
    """Give a node the least colour that no neighbour has, and return it; ``taken_by``: who saw a colour last."""
    for arc in range(offsets[node], offsets[node + 1]):
        other = color[targets[arc]]
        if other >= 0:
            taken_by[other] = node
    least = 0
    while taken_by[least] == node:
        least += 1
    color[node] = least
    return least


@kernel
def greedy_colors(offsets, targets, order, color):
    """Give each node of ``order``, one after the other, the least colour that no neighbour has; -1: none yet."""
    taken_by = np.full(len(color) + 1, -1, np.int64)  # the node that saw a colour last
    for node in order:
        _give_least(offsets, targets, node, color, taken_by)


@kernel
def _sift_up(heap, at):
    while at > 0 and heap[at] < heap[(at - 1) // 2]:
        above = (at - 1) // 2
        heap[at], heap[above] = heap[above], heap[at]
        at = above


@kernel
def _pop(heap, size):
    """The least entry of a heap; the others stay a heap of one fewer."""
    least = heap[0]
    heap[0] = heap[size - 1]
    at = 0
    while 2 * at + 1 < size - 1:
        below = 2 * at + 1
        if below + 1 < size - 1 and heap[below + 1] < heap[below]:
            below += 1
        if heap[at] <= heap[below]:
            break
        heap[at], heap[below] = heap[below], heap[at]
        at = below
    return least


@kernel
def saturation_colors(offsets, targets, degree, order, color):
    """Colour the node that arcs from most colours lead to, of those the highest degree, of those the first.

    ``order`` gets the nodes as they are coloured; ``color`` must hold -1. A node enters the heap again whenever it gets
    another colour beside it: entries with an old count are passed over.
    """
    n = len(color)
    heap = np.empty(n + len(targets), np.int64)
    slots = 4
    while slots < 2 * len(targets):
        slots *= 2
    beside = np.full(slots, -1, np.int64)  # a hash table of the pairs of a node and a colour beside it
    saturation = np.zeros(n, np.int64)
    taken_by = np.full(n + 1, -1, np.int64)
    top = 0
    for node in range(n):
        top = max(top, degree[node])
    size = 0
    for node in range(n):
        heap[size] = (top - degree[node]) * n + node
        _sift_up(heap, size)
        size += 1
    found = 0
    while size > 0:
        entry = _pop(heap, size)
        size -= 1
        node = entry % n
        count = -(entry // n // (top + 1))
        if color[node] >= 0 or count != saturation[node]:
            continue
        least = _give_least(offsets, targets, node, color, taken_by)
        order[found] = node
        found += 1
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            if color[other] >= 0:
                continue
            pair = np.int64(other) * (n + 1) + least
            slot = (pair * 0x9E3779B97F4A7C1) & (slots - 1)
            while beside[slot] >= 0 and beside[slot] != pair:
                slot = (slot + 1) & (slots - 1)
            if beside[slot] == pair:
                continue
            beside[slot] = pair
            saturation[other] += 1
            heap[size] = ((top - degree[other]) - saturation[other] * (top + 1)) * n + other
            _sift_up(heap, size)
            size += 1
