"""Clustering coefficients.

Returns ``clustering``: the share of pairs of a vertex's neighbours that are neighbours of each other, 0 where it has
fewer than two; and their ``average``. In a directed graph a triangle counts for each choice of directions, of all that
there could be. By weight a triangle counts as the geometric mean of its three weights, each a share of the greatest
one. Self-loops are left out and parallel edges count once (the heaviest). The numbers are NetworkX's.

Counted from the triangles; by direction or weight from closed walks of three steps. Watts and Strogatz, "Collective
dynamics of 'small-world' networks", 1998; Fagiolo, "Clustering in complex directed networks", 2007; Onnela, Saramäki,
Kertész and Kaski, "Intensity and coherence of motifs in weighted complex networks", 2005.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import simple, weight_range
from dromos.algorithms.arguments import weighted as with_weight
from dromos.algorithms.triangles import triangle_counts
from dromos.algorithms.triangles import verify as verify_triangles
from dromos.algorithms.verifying import matrix, nowhere
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, array_module

__all__ = ["ClusteringResult", "clustering", "verify", "verify_walks"]


class ClusteringResult(Result):
    """What :func:`clustering` returns."""

    clustering: Array
    average: float


def clustering(graph: Graph, weight: str | None = None, **how: Unpack[Options]) -> ClusteringResult:
    """The local clustering coefficient of every vertex.

    Args:
        graph: undirected or directed.
        weight: ``"weight"`` counts a triangle by the geometric mean of its weights, from zero on.
        how: ``device``, ``threads``; there are no paths to choose from.

    >>> import dromos as dr
    >>> result = dr.clustering(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> result.clustering.round(3).tolist()
    [1.0, 1.0, 0.333, 0.0]
    """
    session = Session("clustering", graph, **how)
    if graph.directed or with_weight(graph, weight).weights is not None:
        return _by_walks(session, graph, weight)
    session.keep_between_runs()
    found = triangle_counts(session, graph, keep_on_device=True)
    counts = found["triangles"]
    module = array_module(counts)
    degree = found["degree"] if module is np else session.shared(found["degree"])
    share = counts / module.maximum(_pairs(degree), 1)
    return session.result(
        ClusteringResult,
        {"clustering": session.for_caller(share)},
        values={"average": float(share.mean()) if len(share) else 0.0},
        verifier=lambda result: verify(simple(graph), result["clustering"]),
    )


def _by_walks(session: Session, graph: Graph, weight: str | None) -> ClusteringResult:
    """By direction or weight: closed walks of three steps over the most that there could be."""
    on = _merged(with_weight(graph, weight))
    both = on.symmetrized(merge_weights="sum") if on.directed else on
    degree = on.out_degree.astype(np.int64) + (on.in_degree if on.directed else 0)
    most = degree * (degree - 1)
    if on.directed:
        most = 2 * (most - 2 * (degree - both.out_degree))  # no walk leads to a neighbour and straight back to it
    walks = session.host_native("closed_walks", both)["walks"]
    share = np.divide(walks, most, out=np.zeros(len(walks)), where=walks != 0)
    return session.result(
        ClusteringResult,
        {"clustering": share},
        values={"average": float(share.mean()) if len(share) else 0.0},
        verifier=lambda result: verify_walks(both, most, result["clustering"]),
    )


def _merged(graph: Graph) -> Graph:
    """Without self-loops and parallel edges, with the cube roots of the weights as shares of the greatest."""
    edges = graph.edges()
    weights = np.ones(len(edges.src)) if edges.weight is None else edges.weight.astype(np.float64)
    if edges.weight is not None:
        weight_range(graph, negative=False, infinite=False)
        weights = np.cbrt(weights / max(weights.max(initial=0.0), np.finfo(float).tiny))
    return Graph.from_edges(
        edges.src, edges.dst, weights, num_vertices=graph.num_vertices, directed=graph.directed,
        dedupe=True, drop_self_loops=True, merge_weights="max",
    )  # fmt: skip


def _pairs(degree: Array) -> Array:
    wide = degree.astype(np.int64)
    return wide * (wide - 1) // 2


def verify(graph: Graph, share: Array) -> None:
    """Shares lie in 0..1, and times the pairs of neighbours they are whole numbers of triangles."""
    nowhere((share < 0) | (share > 1), "the coefficient of vertex {} is outside 0..1")
    pairs = _pairs(graph.out_degree)
    counts = np.rint(share * pairs).astype(np.int64)
    nowhere(np.abs(counts - share * pairs) > 1e-6, "the coefficient of vertex {} is no share of its pairs")
    verify_triangles(graph, counts)


def verify_walks(both: Graph, most: Array, share: Array) -> None:
    """Shares lie in 0..1, and times the walks that there could be they are the diagonal of the matrix's cube."""
    nowhere((share < 0) | (share > 1 + 1e-9), "the coefficient of vertex {} is outside 0..1")
    adjacency = matrix(both)
    walks = np.asarray((adjacency @ adjacency).multiply(adjacency).sum(axis=1)).ravel() if both.num_arcs else 0 * share
    nowhere(~np.isclose(share * most, walks), "vertex {} has other closed walks of three steps")
