"""Biconnected components in plain Python: the same search as in :mod:`dromos.engines.native.biconnected_kernels`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.engines import Tell
from dromos.graph import Graph

__all__ = ["biconnected"]

_PATIENCE = 1023  # vertices between two calls of ``tell``


def biconnected(graph: Graph, *, by_edge: bool = False, tell: Tell | None = None) -> Mapping[str, Any]:
    """The ``number``, ``parent``, ``component``, ``bridge`` and ``cut`` of each vertex, as in the compiled search.

    The results ``by_edge`` are left to NumPy.

    >>> import dromos as dr
    >>> found = biconnected(dr.generators.path(3))
    >>> found["component"].tolist(), found["cut"].tolist()
    ([-1, 1, 0], [False, True, False])
    """
    n = graph.num_vertices
    offsets, targets = graph.offsets.tolist(), graph.targets.tolist()
    number, low, parent = [0] * n, [0] * n, [-1] * n
    cursor, skipped = offsets[:n], [False] * n
    component, cut = [-1] * n, np.zeros(n, bool)
    waiting: list[int] = []  # vertices whose component is incomplete
    visited = found = 0
    for start in range(n):
        if number[start]:
            continue
        visited += 1
        number[start] = low[start] = visited
        path, at_start = [start], 0
        while path:
            v = path[-1]
            arc = cursor[v]
            if arc < offsets[v + 1]:
                cursor[v] = arc + 1
                u = targets[arc]
                if u == v:
                    continue
                if u == parent[v] and not skipped[v]:  # the tree edge itself; a parallel one leads back up
                    skipped[v] = True
                elif not number[u]:
                    visited += 1
                    if tell is not None and visited & _PATIENCE == 0:
                        tell(visited / n)
                    number[u] = low[u] = visited
                    parent[u] = v
                    waiting.append(u)
                    path.append(u)
                elif number[u] < number[v]:
                    low[v] = min(low[v], number[u])
                continue
            path.pop()
            above = parent[v]
            if above < 0:
                break
            low[above] = min(low[above], low[v])
            if low[v] >= number[above]:
                member = -1
                while member != v:
                    member = waiting.pop()
                    component[member] = found
                found += 1
                if above == start:
                    at_start += 1
                else:
                    cut[above] = True
        cut[start] = at_start > 1
    ids = graph.targets.dtype
    order, before = np.array(number, ids), np.array(parent, ids)
    return {
        "number": order,
        "parent": before,
        "component": np.array(component, ids),
        "bridge": (np.array(low, ids) == order) & (before >= 0),
        "cut": cut,
    }
