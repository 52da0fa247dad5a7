"""Common neighbors: of the ends of every edge, of given pairs, and weighted around every node."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.jit import kernel

__all__ = ["common_neighbours", "count_triangles", "peel", "squares", "support"]


def count_triangles(offsets: Array, targets: Array, count: Array) -> None:
    """Add to ``count`` the triangles of each node; every edge is listed at one of its ends only, without cycles."""
    _count_triangles(offsets, targets, count, np.full(len(offsets) - 1, -1, np.int64))


@kernel
def _count_triangles(offsets, targets, count, mark):
    """``mark`` must hold -1."""
    for node in range(mark.size):
        for arc in range(offsets[node], offsets[node + 1]):
            mark[targets[arc]] = node
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            for far in range(offsets[other], offsets[other + 1]):
                end = targets[far]
                if mark[end] == node:
                    count[node] += 1
                    count[other] += 1
                    count[end] += 1


def support(offsets: Array, targets: Array, alive: Array, count: Array) -> None:
    """Count the common neighbors of the ends of each arc that is ``alive``, over arcs that are alive."""
    _support(offsets, targets, alive, count, np.full(len(offsets) - 1, -1, np.int64))


@kernel
def _support(offsets, targets, alive, count, mark):
    """``mark`` must hold -1."""
    for node in range(mark.size):
        for arc in range(offsets[node], offsets[node + 1]):
            if alive[arc]:
                mark[targets[arc]] = node
        for arc in range(offsets[node], offsets[node + 1]):
            count[arc] = 0
            if alive[arc]:
                other = targets[arc]
                for far in range(offsets[other], offsets[other + 1]):
                    if alive[far] and mark[targets[far]] == node:
                        count[arc] += 1


def squares(offsets: Array, targets: Array, nodes: Array, numerator: Array, denominator: Array) -> None:
    """For each of ``nodes``: the squares that it is in, and those that it could be in, as NetworkX counts them."""
    n = len(offsets) - 1
    seen, near, touched = np.zeros(n, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    _squares(offsets, targets, nodes, numerator, denominator, seen, near, touched)


@kernel
def _squares(offsets, targets, nodes, numerator, denominator, seen, near, touched):
    """``seen`` must hold 0, ``near`` -1."""
    for i in range(nodes.size):
        node = nodes[i]
        degree = offsets[node + 1] - offsets[node]
        numerator[i] = 0
        denominator[i] = 0
        if degree < 2:
            continue
        count = 0
        possible = 0
        for arc in range(offsets[node], offsets[node + 1]):
            near[targets[arc]] = i
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            possible += (offsets[other + 1] - offsets[other]) * (degree - 1)
            for far in range(offsets[other], offsets[other + 1]):
                end = targets[far]
                if seen[end] == 0:
                    touched[count] = end
                    count += 1
                seen[end] += 1
        triangles = 0
        twice = 0
        for j in range(count):
            end = touched[j]
            if end != node:
                twice += seen[end] * (seen[end] - 1)
                if near[end] == i:
                    triangles += seen[end]
            seen[end] = 0
        numerator[i] = twice // 2
        denominator[i] = possible - degree * (degree - 1) - triangles - twice // 2


@kernel
def common_neighbours(offsets, targets, left, right, value, count, both, total):
    """For each pair: common neighbors except the pair itself, all common neighbors, and the sum of their values.

    Rows are sorted.
    """
    for i in range(left.size):
        u, v = left[i], right[i]
        a, b = offsets[u], offsets[v]
        without = 0
        everything = 0
        summed = 0.0
        while a < offsets[u + 1] and b < offsets[v + 1]:
            if targets[a] < targets[b]:
                a += 1
            elif targets[a] > targets[b]:
                b += 1
            else:
                node = targets[a]
                everything += 1
                if node != u and node != v:
                    without += 1
                    summed += value[node]
                a += 1
                b += 1
        count[i] = without
        both[i] = everything
        total[i] = summed


def peel(offsets: Array, targets: Array, degree: Array, core: Array) -> None:
    """Core numbers where a row may list a neighbor twice: nodes leave in the order of their degrees."""
    core[:] = degree
    order = np.argsort(degree, kind="stable")
    position = np.empty(len(core), np.int64)
    position[order] = np.arange(len(core))
    begin = np.concatenate([[0], np.cumsum(np.bincount(degree))])
    _peel(offsets, targets, core, order, position, begin)


@kernel
def _peel(offsets, targets, core, order, position, begin):
    """``core`` must hold degrees, ``order`` the nodes by degree, ``begin`` where those of each degree begin in it.

    ``position`` is the index of each node in ``order``.
    """
    for i in range(core.size):
        node = order[i]
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            if core[other] > core[node]:
                first = max(begin[core[other]], i + 1)
                swapped = order[first]
                order[first], order[position[other]] = other, swapped
                position[swapped], position[other] = position[other], first
                begin[core[other]] = first + 1
                core[other] -= 1
