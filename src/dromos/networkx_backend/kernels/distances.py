"""Searches from many nodes one after the other: sums of distances, loads, and Brandes's dependencies."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.jit import kernel
from dromos.networkx_backend.kernels.search import breadth_first

__all__ = ["add_loads", "dependencies", "distance_sums", "efficiency_of_neighbours"]


def distance_sums(
    offsets: Array, targets: Array, nodes: Array, reached: Array, depth: Array, total: Array, inverse: Array
) -> None:
    """For each of ``nodes``: how many others it reaches, how far the last is, sums of distances and of inverses."""
    n = len(offsets) - 1
    _distance_sums(
        offsets, targets, nodes, reached, depth, total, inverse, np.full(n, -1, np.int64), np.empty(n, np.int64)
    )


@kernel
def _distance_sums(offsets, targets, nodes, reached, depth, total, inverse, level, queue):
    """``level`` must hold -1."""
    for i in range(nodes.size):
        queue[0] = nodes[i]
        level[nodes[i]] = 0
        found = 1
        at = 0
        while at < found:
            node = queue[at]
            at += 1
            for arc in range(offsets[node], offsets[node + 1]):
                other = targets[arc]
                if level[other] < 0:
                    level[other] = level[node] + 1
                    queue[found] = other
                    found += 1
        reached[i] = found - 1
        depth[i] = level[queue[found - 1]]
        far = 0
        near = 0.0
        for j in range(1, found):
            far += level[queue[j]]
            near += 1.0 / level[queue[j]]
        total[i] = far
        inverse[i] = near
        for j in range(found):
            level[queue[j]] = -1


def dependencies(
    offsets: Array, targets: Array, edge_of: Array, sources: Array, endpoints: bool, by_node: Array, by_edge: Array
) -> None:
    """Sum the fractions of shortest paths from ``sources`` that lead through each node, and over each edge.

    ``edge_of`` is the number of each arc's edge. Sums are in NetworkX's order, so they are equal to the last digit.
    """
    n, arcs = len(offsets) - 1, len(targets)
    level, queue, last_arc = np.full(n, -1, np.int64), np.empty(n, np.int64), np.full(n, -1, np.int64)
    paths, share = np.zeros(n), np.zeros(n)
    earlier, tail = np.empty(arcs, np.int64), np.empty(arcs, np.int64)
    _dependencies(
        offsets, targets, edge_of, sources, endpoints, by_node, by_edge, level, paths, share, queue, last_arc, earlier,
        tail,
    )  # fmt: skip


@kernel
def _dependencies(
    offsets, targets, edge_of, sources, endpoints, by_node, by_edge, level, paths, share, queue, last_arc, earlier, tail
):
    """``level`` must hold -1, ``paths`` and ``share`` 0.

    ``last_arc`` must hold -1 and gets the last arc into a node on a shortest path. For such an arc, ``earlier`` gets
    the previous one found into the same node, and ``tail`` the node that it leaves.
    """
    for source in sources:
        queue[0] = source
        level[source] = 0
        paths[source] = 1.0
        found = 1
        at = 0
        while at < found:
            node = queue[at]
            at += 1
            for arc in range(offsets[node], offsets[node + 1]):
                other = targets[arc]
                if level[other] < 0:
                    level[other] = level[node] + 1
                    queue[found] = other
                    found += 1
                if level[other] == level[node] + 1:
                    paths[other] += paths[node]
                    tail[arc] = node
                    earlier[arc] = last_arc[other]
                    last_arc[other] = arc
        if endpoints:
            by_node[source] += found - 1
        for j in range(found - 1, -1, -1):
            node = queue[j]
            each = (1 + share[node]) / paths[node]
            arc = last_arc[node]
            while arc >= 0:
                before = tail[arc]
                part = paths[before] * each
                share[before] += part
                by_edge[edge_of[arc]] += part
                arc = earlier[arc]
            if node != source:
                by_node[node] += share[node] + 1 if endpoints else share[node]
        for j in range(found):
            node = queue[j]
            level[node] = -1
            paths[node] = 0.0
            share[node] = 0.0
            last_arc[node] = -1


def add_loads(offsets: Array, targets: Array, sources: Array, depth: int, load: Array) -> None:
    """Add the flow through each node if each of ``sources`` gets one unit from every node that it reaches.

    A unit flows back along shortest paths of at most ``depth`` edges, divided equally among all predecessors of its
    current node. Flow that begins or ends at a node does not count there.
    """
    count = len(load)
    order, level, parent = np.empty(count, np.int64), np.full(count, -1, np.int64), np.empty(count, np.int64)
    before, passing = np.empty(count, np.int64), np.empty(count)
    _add_loads(offsets, targets, sources, depth, load, order, level, parent, before, passing)


@kernel
def _add_loads(offsets, targets, sources, depth, load, order, level, parent, before, passing):
    """``level`` must hold -1."""
    for i in range(sources.size):
        found = breadth_first(offsets, targets, sources[i : i + 1], depth, order, level, parent)
        for at in range(found):
            before[order[at]], passing[order[at]] = 0, 1.0
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


def efficiency_of_neighbours(offsets: Array, targets: Array, efficiency: Array) -> None:
    """The mean of the inverse distances among the neighbors of each node, along edges between them alone."""
    count = len(efficiency)
    inside, level = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    _efficiency_of_neighbours(offsets, targets, efficiency, inside, level, np.empty(count, np.int64))


@kernel
def _efficiency_of_neighbours(offsets, targets, efficiency, inside, level, order):
    """``inside`` and ``level`` must hold -1."""
    for center in range(efficiency.size):
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
