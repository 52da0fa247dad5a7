"""Closed walks of three steps, weighted: the basis of clustering by weight or direction.

No program can express it: a message would have to carry a whole neighborhood. Of the two ways around a triangle only
one is visited, and counts twice: the one whose second step leads to a vertex of higher degree, so that the rows of hubs
are short there. Vertices are sorted by descending degree, so that lookups are close together; the arcs of a row keep
their order, so that sums are the same as over a graph on disk. Memory: a copy of the arcs, with some 30 bytes each, and
for each thread 8 bytes per vertex.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import OFFSET, Array, read_only
from dromos.graph import Graph
from dromos.graph.permute import degree_order, inverse, row_starts
from dromos.parallel import num_threads, run_team

__all__ = ["closed_walks"]


def closed_walks(graph: Graph, *, degree: Array | None = None, threads: int | None = None) -> Mapping[str, Array]:
    """For each vertex the sum, over walks of three steps back to it, of the product of their weights.

    The graph is symmetric, and no edges are parallel. ``degree`` distinguishes hubs: any numbers will do; those of the
    graph itself by default.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], directed=False)
    >>> closed_walks(g)["walks"].tolist()
    [12.0, 12.0, 12.0]
    """
    from dromos.engines.native import closed_walks_kernels as kernels

    n, ids = graph.num_vertices, graph.targets.dtype
    order = degree_order(graph.out_degree if degree is None else degree, descending=True)
    rank = inverse(order, ids)
    weights = np.ones(graph.num_arcs) if graph.weights is None else graph.weights.astype(np.float64, copy=False)
    targets = rank[graph.targets]
    lower = targets < np.repeat(rank, graph.out_degree)
    offsets = np.concatenate([[0], np.cumsum(lower, dtype=OFFSET)])[graph.offsets]
    starts = row_starts(offsets, order)
    arcs = np.arange(int(starts[-1])) + np.repeat(offsets[order] - starts[:-1], np.diff(starts))
    arcs = np.flatnonzero(lower)[arcs]
    total, stop = np.zeros(n), np.zeros(1, np.int64)
    team = max(1, min(num_threads(threads), -(-n // kernels.CHUNK)))
    left = (read_only(array) for array in (graph.offsets, targets, weights))
    right = (read_only(array) for array in (starts, targets[arcs], weights[arcs]))
    run_team(
        kernels.add_walks, *left, 0, *right, 0, np.zeros(team * n), n, total, np.zeros(1, np.int64), stop,
        threads=team, stop=stop,
    )  # fmt: skip
    return {"walks": 2 * total}
