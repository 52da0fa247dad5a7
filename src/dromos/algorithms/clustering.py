"""Clustering coefficients.

Returns ``clustering``, the share of pairs of a vertex's neighbors that are neighbors of each other (0 with fewer than
two neighbors), and the mean over all vertices, ``average``. In a directed graph each combination of edge directions
counts as a triangle of its own, out of all possible ones. With weights a triangle counts as the geometric mean of its
three weights, each divided by the greatest weight of the graph. Self-loops are ignored and parallel edges count once
(the heaviest). The numbers equal NetworkX's.

Unweighted undirected coefficients are computed from the triangles, the others from closed walks of three steps. Over
slices and graphs on disk these walks are an operator, ``dromos/places/operators/intersection/walks.py``, whose sums are
the same to the last bit. Watts and Strogatz, "Collective dynamics of 'small-world' networks", 1998; Fagiolo,
"Clustering in complex directed networks", 2007; Onnela, Saramäki, Kertész and Kaski, "Intensity and coherence of motifs
in weighted complex networks", 2005.
"""

from __future__ import annotations

from contextlib import closing
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


_BYTES_PER_VERTEX = 76  # of the walks on a graph on disk: a budget that is too small for them is refused at once


class ClusteringResult(Result):
    """What :func:`clustering` returns."""

    clustering: Array
    average: float


def clustering(graph: Graph, weight: str | None = None, **how: Unpack[Options]) -> ClusteringResult:
    """The local clustering coefficient of every vertex.

    Args:
        graph: undirected or directed.
        weight: ``"weight"`` counts a triangle as the geometric mean of its weights, which must be 0 or more.
        how: ``device``, ``threads``, ``memory``; ``path`` is not supported. A directed graph on disk needs its
            transpose there.

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
    session.refuse_path()
    in_slices = session.operator("closed_walks") is not None
    if not in_slices:
        graph.require_in_memory()
    else:  # a store without in-edges and too small a budget are refused at once, before weights are looked at
        _ = graph.transpose if graph.on_disk else None
        weighted = with_weight(graph, weight).weights is not None
        session.require_room("closed_walks", graph, directed=graph.directed, weighted=weighted)
    greatest = _greatest_weight(session, graph, weight)
    if in_slices:  # rows are merged as they come
        scale = {} if greatest is None else {"weighted": True, "greatest": greatest}
        found = session.require_native("closed_walks", graph, directed=graph.directed, **scale)
        walks, degree, near = found["walks"], found["degree"], found["near"]
    else:
        on = _merged(graph, greatest)
        both = _both_ways(on)
        degree = on.out_degree.astype(np.int64) + (on.in_degree if on.directed else 0)
        near = both.out_degree
        hubs_by = graph.out_degree + (graph.in_degree if graph.directed else 0)  # as over slices: sums are the same
        walks = session.host_native("closed_walks", both, degree=hubs_by)["walks"]
    most = degree * (degree - 1)
    if graph.directed:
        most = 2 * (most - 2 * (degree - near))  # no walk leads to a neighbor and straight back to it
    share = np.divide(walks, most, out=np.zeros(len(walks)), where=walks != 0)
    return session.result(
        ClusteringResult,
        {"clustering": share},
        values={"average": float(share.mean()) if len(share) else 0.0},
        verifier=lambda result: verify_walks(_both_ways(_merged(graph, greatest)), most, result["clustering"]),
    )


def _greatest_weight(session: Session, graph: Graph, weight: str | None) -> float | None:
    """The greatest weight; None where weights are left out."""
    on = with_weight(graph, weight)
    if on.weights is None:
        return None
    with closing(session.arc_slices(on, _BYTES_PER_VERTEX)) as slices:
        greatest = weight_range(on, negative=False, infinite=False, slices=slices)[1]
    return max(float(greatest), float(np.finfo(float).tiny))


def _merged(graph: Graph, greatest: float | None) -> Graph:
    """Without self-loops and parallel edges, with the cube roots of the weights as shares of the greatest."""
    edges = graph.edges()
    if greatest is None or edges.weight is None:
        weights = np.ones(len(edges.src))
    else:
        weights = np.cbrt(edges.weight.astype(np.float64) / greatest)
    return Graph.from_edges(
        edges.src, edges.dst, weights, num_vertices=graph.num_vertices, directed=graph.directed,
        dedupe=True, drop_self_loops=True, merge_weights="max",
    )  # fmt: skip


def _both_ways(merged: Graph) -> Graph:
    """The graph as walks see it: an edge that is there in both directions has the sum of its weights."""
    return merged.symmetrized(merge_weights="sum") if merged.directed else merged


def _pairs(degree: Array) -> Array:
    wide = degree.astype(np.int64)
    return wide * (wide - 1) // 2


def verify(graph: Graph, share: Array) -> None:
    """Shares lie in 0..1, and times the pairs of neighbors they are whole numbers of triangles."""
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
