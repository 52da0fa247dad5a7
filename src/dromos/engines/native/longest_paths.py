"""Longest paths of a graph without cycles.

Programs do the same with a superstep for each level, twice: for the levels, and for the distances. One queue does both
at once, in the order in which vertices become ready. Memory: 32 bytes for each vertex; one thread.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["longest_paths"]


def longest_paths(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """The ``distance`` and ``parent`` of each vertex, and how many in-edges are ``left``: 0 unless there is a cycle.

    >>> import dromos as dr
    >>> found = longest_paths(dr.Graph.from_edges([0, 0, 2], [1, 2, 1], [5.0, 1.0, 2.0]))
    >>> found["distance"].tolist(), found["parent"].tolist()
    ([0.0, 5.0, 1.0], [0, 0, 0])
    """
    from dromos.engines.native import longest_paths_kernels as kernels

    n, ids = graph.num_vertices, graph.targets.dtype
    weights = np.empty(0) if graph.weights is None else graph.weights
    left, level = graph.in_degree.astype(np.int64), np.zeros(n, np.int64)
    distance, parent = np.zeros(n), np.arange(n, dtype=ids)
    queue, stop = np.empty(n, ids), np.zeros(1, np.int64)
    run_team(
        kernels.relax, read_only(graph.offsets), read_only(graph.targets), read_only(weights),
        left, level, distance, parent, queue, stop,
        threads=1, stop=stop,
    )  # fmt: skip
    return {"distance": distance, "parent": parent, "left": left}
