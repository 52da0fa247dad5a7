"""Clustering coefficients.

Returns ``clustering``: the share of pairs of a vertex's neighbours that are neighbours of each other, 0 where it has
fewer than two; and their ``average``. Self-loops are left out and parallel edges count once, as in NetworkX; a
directed graph is refused. Weights are not looked at.

Counted from the triangles. Watts and Strogatz, "Collective dynamics of 'small-world' networks", 1998.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import simple
from dromos.algorithms.triangles import require_undirected
from dromos.algorithms.triangles import verify as verify_triangles
from dromos.algorithms.verifying import nowhere
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["ClusteringResult", "clustering", "verify"]


class ClusteringResult(Result):
    """What :func:`clustering` returns."""

    clustering: Array
    average: float


def clustering(graph: Graph, **how: Unpack[Options]) -> ClusteringResult:
    """The local clustering coefficient of every vertex.

    Args:
        graph: undirected.
        how: ``device``, ``threads``; there are no paths to choose from.

    >>> import dromos as dr
    >>> result = dr.clustering(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> result.clustering.round(3).tolist()
    [1.0, 1.0, 0.333, 0.0]
    """
    session = Session("clustering", graph, **how)
    require_undirected(graph, "clustering")
    on = simple(graph)
    counts = session.require_native("triangles", on)["triangles"]
    share = counts / np.maximum(_pairs(on), 1)
    return session.result(
        ClusteringResult,
        {"clustering": share},
        values={"average": float(share.mean()) if len(share) else 0.0},
        verifier=lambda result: verify(on, result["clustering"]),
    )


def _pairs(graph: Graph) -> Array:
    degree = graph.out_degree.astype(np.int64)
    return degree * (degree - 1) // 2


def verify(graph: Graph, share: Array) -> None:
    """Shares lie in 0..1, and times the pairs of neighbours they are whole numbers of triangles."""
    nowhere((share < 0) | (share > 1), "the coefficient of vertex {} is outside 0..1")
    counts = np.rint(share * _pairs(graph)).astype(np.int64)
    nowhere(np.abs(counts - share * _pairs(graph)) > 1e-6, "the coefficient of vertex {} is no share of its pairs")
    verify_triangles(graph, counts)
