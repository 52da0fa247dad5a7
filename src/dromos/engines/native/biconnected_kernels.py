"""Biconnected components by one depth-first search (Hopcroft and Tarjan, 1973), without recursion, on one thread."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load_relaxed
from dromos.jit import kernel

_PATIENCE = 4095  # steps between two looks at the stop flag


@kernel
def search(
    thread, threads, offsets, targets, number, low, parent, skipped, cursor, path, arcs, entry, component, cut, bridge,
    counts, stop,
):  # fmt: skip
    """Give one arc of each edge the number of its component, from 0 on; ``component`` is -1 for the other one.

    ``number`` (order of visits, from 1 on), ``skipped``, ``cut`` and ``bridge`` are zeros; ``arcs`` is a stack with
    room for all arcs, ``entry[v]`` where on it the tree edge to v lies. ``counts[0]`` becomes how many components.
    """
    visited, found, steps = np.int64(0), np.int64(0), np.int64(0)
    for start in range(offsets.size - 1):
        if number[start]:
            continue
        top, height, at_start = np.int64(0), np.int64(0), np.int64(0)
        visited += 1
        number[start] = low[start] = visited
        parent[start], cursor[start], path[0] = -1, offsets[start], start
        while top >= 0:
            steps += 1
            if steps & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
                return
            v = np.int64(path[top])
            arc = cursor[v]
            if arc < offsets[v + 1]:
                cursor[v] = arc + 1
                u = np.int64(targets[arc])
                if u == v:
                    continue
                if u == parent[v] and skipped[v] == 0:  # the tree edge itself; a parallel one leads back up
                    skipped[v] = 1
                elif number[u] == 0:
                    visited += 1
                    number[u] = low[u] = visited
                    parent[u], cursor[u], entry[u] = v, offsets[u], height
                    arcs[height] = arc
                    height += 1
                    top += 1
                    path[top] = u
                elif number[u] < number[v]:
                    low[v] = min(low[v], number[u])
                    arcs[height] = arc
                    height += 1
                continue
            top -= 1
            above = np.int64(parent[v])
            if above < 0:
                break
            low[above] = min(low[above], low[v])
            if low[v] >= number[above]:
                if height - entry[v] == 1:
                    bridge[arcs[entry[v]]] = 1
                while height > entry[v]:
                    height -= 1
                    component[arcs[height]] = found
                found += 1
                if above == start:
                    at_start += 1
                else:
                    cut[above] = 1
        if at_start > 1:
            cut[start] = 1
    counts[0] = found
