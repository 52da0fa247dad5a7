"""Greedy colorings."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.jit import kernel

__all__ = ["greedy_colors", "saturation_colors"]

_MIX = np.uint64(0x9E3779B97F4A7C1)  # a multiplier that spreads nearby pairs


@kernel
def _give_least(offsets, targets, node, color, taken_by):
    """Give a node the least color that no neighbor has, and return it; ``taken_by``: the last node that saw a color."""
    for arc in range(offsets[node], offsets[node + 1]):
        other = color[targets[arc]]
        if other >= 0:
            taken_by[other] = node
    least = 0
    while taken_by[least] == node:
        least += 1
    color[node] = least
    return least


def greedy_colors(offsets: Array, targets: Array, order: Array, color: Array) -> None:
    """Give each node of ``order``, in turn, the least color that no neighbor has; -1: none yet."""
    _greedy_colors(offsets, targets, order, color, np.full(len(color) + 1, -1, np.int64))


@kernel
def _greedy_colors(offsets, targets, order, color, taken_by):
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
    """Remove and return the least entry of a heap."""
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


def saturation_colors(offsets: Array, targets: Array, degree: Array, order: Array, color: Array) -> None:
    """Color the node that arcs from most colors lead to; of those the one of highest degree, then the first.

    ``order`` gets the nodes as they are colored; ``color`` must hold -1. A node enters the heap again whenever a new
    color appears beside it: entries with an old count are skipped.
    """
    n, arcs = len(color), len(targets)
    heap, saturation, taken_by = np.empty(n + arcs, np.int64), np.zeros(n, np.int64), np.full(n + 1, -1, np.int64)
    beside = np.full(max(4, 1 << (2 * arcs - 1).bit_length()), -1, np.int64)
    top = int(degree.max(initial=0))
    _saturation_colors(offsets, targets, degree, top, order, color, heap, beside, saturation, taken_by)


@kernel
def _saturation_colors(offsets, targets, degree, top, order, color, heap, beside, saturation, taken_by):
    """``top`` is the highest degree; ``beside`` is a hash table of the pairs of a node and a color beside it.

    ``beside`` and ``taken_by`` must hold -1, ``saturation`` 0. The size of the table is a power of two, and at least
    twice the number of arcs.
    """
    n = color.size
    last_slot = beside.size - 1
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
            slot = np.int64(np.uint64(pair) * _MIX) & last_slot
            while beside[slot] >= 0 and beside[slot] != pair:
                slot = (slot + 1) & last_slot
            if beside[slot] == pair:
                continue
            beside[slot] = pair
            saturation[other] += 1
            heap[size] = ((top - degree[other]) - saturation[other] * (top + 1)) * n + other
            _sift_up(heap, size)
            size += 1
