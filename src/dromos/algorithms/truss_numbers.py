"""Truss numbers of edges.

Returns one row per edge (``source``, ``target`` and ``truss``) and the greatest truss number, ``max_truss``. ``truss``
is the greatest k such that the edge is in a subgraph in which every edge is in at least k - 2 triangles (2 for an edge
without a triangle). ``result.source[result.truss >= k]`` are the ends of NetworkX's ``k_truss(G, k)``. Self-loops are
ignored and parallel edges count once; a directed graph is refused. Weights are ignored.

Triangles are counted for each edge, then edges are peeled, those with the fewest triangles first. Over slices and
graphs on disk that is an operator, ``dromos/places/operators/trusses``. Cohen, "Trusses: cohesive subgraphs for social
network analysis", 2008; Wang and Cheng, "Truss decomposition in massive networks", 2012.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import simple
from dromos.algorithms.triangles import require_undirected
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["TrussNumbersResult", "truss_numbers", "verify"]


class TrussNumbersResult(Result):
    """What :func:`truss_numbers` returns."""

    source: Array
    target: Array
    truss: Array
    max_truss: int


def truss_numbers(graph: Graph, **how: Unpack[Options]) -> TrussNumbersResult:
    """The truss number of every edge.

    Args:
        graph: undirected.
        how: ``device``, ``threads``, ``memory``; ``path`` is not supported.

    >>> import dromos as dr
    >>> result = dr.truss_numbers(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> result.truss.tolist(), result.max_truss
    ([3, 3, 3, 2], 3)
    """
    session = Session("truss_numbers", graph, **how)
    require_undirected(graph, "truss_numbers")
    if session.operator("trusses") is not None:  # rows come in slices, and are made simple as they come
        found = session.require_native("trusses", graph)
        columns = {name: found[name] for name in ("source", "target", "truss")}
    else:
        on = simple(graph)
        edges = on.edges()
        found = session.host_native("trusses", on, edges=edges)
        columns = {"source": edges.src, "target": edges.dst, "truss": found["truss"]}
    return session.result(
        TrussNumbersResult,
        columns,
        values={"max_truss": int(columns["truss"].max(initial=0))},
        vertex_fields={"source", "target"},
        index="source",
        verifier=lambda result: verify(simple(graph), result["truss"]),
    )


def verify(graph: Graph, truss: Array) -> None:
    """Every edge has enough triangles among edges of its truss, and peeling to the next truss takes it away."""
    edges = graph.edges()
    require(len(truss) == len(edges.src), "there is not one number for each edge")
    nowhere(truss < 2, "edge {} has a truss number below 2")
    for k in np.unique(truss).tolist():
        among = truss >= k
        nowhere(among & (_triangles(graph, among) < k - 2), f"edge {{}} has too few triangles in the {k}-truss")
        while True:
            short = among & (_triangles(graph, among) < k - 1)
            if not short.any():
                break
            among &= ~short
        nowhere(among & (truss == k), f"edge {{}} belongs to a denser truss than the {k}-truss that it claims")


def _triangles(graph: Graph, among: Array) -> Array:
    """The triangles of each edge within the edges ``among``."""
    import scipy.sparse as sp

    n, edges = graph.num_vertices, graph.edges()
    src, dst = edges.src[among], edges.dst[among]
    half = sp.coo_array((np.ones(len(src), np.int64), (src, dst)), shape=(n, n)).tocsr()
    whole = half + half.T
    counts = np.zeros(len(among), np.int64)
    if len(src):
        found = (whole @ whole).multiply(half).tocsr()
        counts[among] = np.asarray(found[src, dst]).ravel()
    return counts
