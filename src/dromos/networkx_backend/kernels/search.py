"""Breadth-first and depth-first searches in the order of the adjacency."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.jit import kernel

__all__ = ["breadth_first", "depth_first", "two_coloring"]


@kernel
def breadth_first(offsets, targets, sources, limit, order, level, parent):
    """Search from ``sources`` down to ``limit`` levels; return how many nodes were found.

    ``order`` gets the nodes as they are found; ``level`` and ``parent`` must hold -1, which stays for nodes not found.
    """
    found = 0
    for source in sources:
        if level[source] < 0:
            level[source] = 0
            order[found] = source
            found += 1
    at = 0
    while at < found:
        node = order[at]
        at += 1
        if level[node] >= limit:
            break
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            if level[other] < 0:
                level[other] = level[node] + 1
                parent[other] = node
                order[found] = other
                found += 1
    return found


def depth_first(
    offsets: Array, targets: Array, starts: Array, limit: int, order: Array, parent: Array, post: Array
) -> tuple[int, int]:
    """Search from each of ``starts`` that is not found yet, at most ``limit`` deep.

    ``order`` and ``post`` get the nodes as they are entered and left; ``parent`` must hold -1; a start is its own
    parent. Nodes at the limit are entered, and are in ``order``, but not left. Returns how many are in each.
    """
    deepest = len(parent) + 1
    found, left = _depth_first(
        offsets, targets, starts, limit, order, parent, post, np.empty(deepest, np.int64), np.empty(deepest, np.int64)
    )
    return found, left


@kernel
def _depth_first(offsets, targets, starts, limit, order, parent, post, stack, next_arc):
    found = left = 0
    for start in starts:
        if parent[start] >= 0:
            continue
        parent[start] = start
        order[found] = start
        found += 1
        stack[0] = start
        next_arc[0] = offsets[start]
        depth = 1
        while depth > 0:
            node = stack[depth - 1]
            arc = next_arc[depth - 1]
            end = offsets[node + 1]
            went_down = False
            while arc < end:
                other = targets[arc]
                arc += 1
                if parent[other] < 0:
                    parent[other] = node
                    order[found] = other
                    found += 1
                    if depth < limit:
                        next_arc[depth - 1] = arc
                        stack[depth] = other
                        next_arc[depth] = offsets[other]
                        depth += 1
                        went_down = True
                        break
            if not went_down:
                depth -= 1
                post[left] = node
                left += 1
    return found, left


def two_coloring(offsets: Array, targets: Array, order: Array, color: Array) -> int:
    """Color nodes 1 and 0 so that neighbors differ; return how many were colored, -1 if there is no such coloring.

    ``color`` must hold -1. Nodes without neighbors are left out. ``order`` gets nodes as they are colored.
    """
    return int(_two_coloring(offsets, targets, order, color, np.empty(len(color), np.int64)))


@kernel
def _two_coloring(offsets, targets, order, color, stack):
    found = 0
    for start in range(color.size):
        if color[start] >= 0 or offsets[start] == offsets[start + 1]:
            continue
        color[start] = 1
        order[found] = start
        found += 1
        stack[0] = start
        waiting = 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            for arc in range(offsets[node], offsets[node + 1]):
                other = targets[arc]
                if color[other] >= 0:
                    if color[other] == color[node]:
                        return -1
                else:
                    color[other] = 1 - color[node]
                    order[found] = other
                    found += 1
                    stack[waiting] = other
                    waiting += 1
    return found
