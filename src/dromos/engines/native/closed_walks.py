"""Closed walks of three steps, weighted: what clustering by weight or direction is made of.

No program can say it: a message would have to carry a whole neighbourhood. Memory: the arcs once more,
with some 20 bytes each, and for each thread 8 bytes per vertex.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph
from dromos.graph.build import expand_sources
from dromos.graph.permute import degree_order, inverse, permuted_rows
from dromos.parallel import num_threads, run_team

__all__ = ["closed_walks"]


def closed_walks(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """For each vertex the sum, over walks of three steps back to it, of the product of their weights.

    The graph is symmetric, and no edges are parallel.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], directed=False)
    >>> closed_walks(g)["walks"].tolist()
    [12.0, 12.0, 12.0]
    """
    from dromos.engines.native import closed_walks_kernels as kernels

    n, ids = graph.num_vertices, graph.targets.dtype
    order = degree_order(graph.out_degree, descending=True)
    rows = permuted_rows(graph, order, inverse(order, ids))
    weights = np.ones(graph.num_arcs) if rows.weights is None else rows.weights.astype(np.float64, copy=False)
    sources = expand_sources(rows.offsets, ids)
    lower = rows.offsets[:-1] + np.bincount(sources[rows.targets < sources], minlength=n)
    total, stop = np.zeros(n), np.zeros(1, np.int64)
    team = max(1, min(num_threads(threads), -(-n // kernels.CHUNK)))
    arrays = (read_only(array) for array in (rows.offsets, rows.targets, weights, lower))
    run_team(
        kernels.sum_walks, *arrays, np.zeros(team * n), total, np.zeros(1, np.int64), stop, threads=team, stop=stop
    )  # fmt: skip
    walks = np.empty(n)
    walks[order] = total
    return {"walks": walks}
