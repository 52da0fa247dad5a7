"""Closed walks of three steps, weighted: what clustering by weight or direction is made of.

No program can say it: a message would have to carry a whole neighbourhood. Memory: for each thread 8 bytes per vertex.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["closed_walks", "walks_of"]


def closed_walks(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """For each vertex the sum, over walks of three steps back to it, of the product of their weights.

    The graph is symmetric, and no edges are parallel.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], directed=False)
    >>> closed_walks(g)["walks"].tolist()
    [12.0, 12.0, 12.0]
    """
    weights = np.ones(graph.num_arcs) if graph.weights is None else graph.weights
    return {"walks": walks_of(graph.offsets, graph.targets, weights, threads)}


def walks_of(offsets: Array, targets: Array, weights: Array, threads: int | None = None) -> Array:
    """As :func:`closed_walks`, of rows."""
    from dromos.engines.native import closed_walks_kernels as kernels

    n = len(offsets) - 1
    total, stop = np.zeros(n), np.zeros(1, np.int64)
    team = max(1, min(num_threads(threads), -(-n // kernels.CHUNK)))
    run_team(
        kernels.sum_walks, read_only(offsets), read_only(targets), read_only(weights), np.zeros(team * n), total,
        np.zeros(1, np.int64), stop, threads=team, stop=stop,
    )  # fmt: skip
    return total
