"""Core numbers by peeling with buckets (Batagelj and Zaversnik, 2003).

A program can say one k-core, and core numbers by one after the other; it cannot keep all vertices sorted by what is
left of their degrees, which is what makes this one pass over the edges.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["cores"]


def cores(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """The core number of each vertex of an undirected graph without self-loops; parallel edges count.

    >>> import dromos as dr
    >>> cores(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))["core"].tolist()
    [2, 2, 2, 1]
    """
    from dromos.engines.native import cores_kernels as kernels

    core = graph.out_degree.astype(np.int64)
    order = np.argsort(core, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    counts = np.bincount(core) if len(core) else np.zeros(1, dtype=np.int64)
    run_team(kernels.peel, graph.offsets, graph.targets, core, np.cumsum(counts) - counts, position, order, threads=1)
    return {"core": core}
