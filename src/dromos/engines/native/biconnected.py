"""Biconnected components, bridges and articulation points.

No program can say it: the search goes deep first. Memory: some 40 bytes for each vertex and 13 for each arc; one
thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["biconnected"]


def biconnected(graph: Graph, *, threads: int | None = None) -> Mapping[str, Any]:
    """For one arc of each edge of an undirected graph its ``component`` (-1 for the other), and whether it is a
    ``bridge``; for each vertex whether it is a ``cut``.

    >>> import dromos as dr
    >>> found = biconnected(dr.generators.path(3))
    >>> found["component"].tolist(), found["cut"].tolist()
    ([1, -1, 0, -1], [False, True, False])
    """
    from dromos.engines.native import biconnected_kernels as kernels

    n, ids = graph.num_vertices, graph.targets.dtype
    number, low, parent, path = np.zeros(n, ids), np.empty(n, ids), np.empty(n, ids), np.empty(n, ids)
    cursor, entry, arcs = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(graph.num_arcs, np.int64)
    component = np.full(graph.num_arcs, -1, np.int64)
    bridge, cut, skipped = (np.zeros(size, np.uint8) for size in (graph.num_arcs, n, n))
    counts, stop = np.zeros(1, np.int64), np.zeros(1, np.int64)
    run_team(
        kernels.search, graph.offsets, graph.targets, number, low, parent, skipped, cursor, path, arcs, entry,
        component, cut, bridge, counts, stop, threads=1, stop=stop,
    )  # fmt: skip
    return {"component": component, "bridge": bridge.view(bool), "cut": cut.view(bool), "count": int(counts[0])}
