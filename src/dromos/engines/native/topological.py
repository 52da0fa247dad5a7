"""Topological levels.

A program does the same, with one superstep for each level; if levels are many and thin, waking a team of threads for
each costs more than the work. Memory: 20 bytes for each vertex; one thread.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["topological"]


def topological(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """The level of each vertex, and how many in-edges are ``left``: 0 unless a cycle leads to it.

    >>> import dromos as dr
    >>> topological(dr.Graph.from_edges([0, 0, 2], [1, 2, 1]))["level"].tolist()
    [0, 2, 1]
    """
    from dromos.engines.native import topological_kernels as kernels

    left, level = graph.in_degree.astype(np.int64), np.zeros(graph.num_vertices, np.int64)
    queue, stop = np.empty(graph.num_vertices, graph.targets.dtype), np.zeros(1, np.int64)
    run_team(kernels.order, graph.offsets, graph.targets, left, level, queue, stop, threads=1, stop=stop)
    return {"left": left, "level": level}
