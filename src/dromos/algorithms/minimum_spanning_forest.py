"""Minimum spanning forest.

Returns one row per edge of the forest (``source``, ``target`` and ``weight``) and the numbers ``count`` and
``total_weight``. Each component of the graph becomes one tree. Of edges of equal weight the first by its source and
target is taken, of parallel edges the lightest; self-loops are ignored. Without weights every edge counts 1. A directed
graph is refused.

Filter-Kruskal: edges are taken from the lightest up if they join two trees; before more edges are sorted, those within
one tree are dropped. Osipov, Sanders and Singler, "The Filter-Kruskal minimum spanning tree algorithm", 2009. On a GPU
each tree chooses its lightest edge instead, in rounds, first among the lightest edges of all, then among those that
still join two trees (Boruvka, 1926). The forest is the same.

On an engine without such a kernel, a program finds the lightest edge of each vertex to another tree. Each tree chooses
among the edges of its vertices, trees are joined, and the next round begins.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import total_of, weighted
from dromos.algorithms.spanning_rounds import forest_by_rounds
from dromos.algorithms.triangles import require_undirected
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["SpanningForestResult", "minimum_spanning_forest", "verify"]

_BYTES_PER_VERTEX = 80  # what rounds of programs hold in between


class SpanningForestResult(Result):
    """What :func:`minimum_spanning_forest` returns."""

    source: Array
    target: Array
    weight: Array
    count: int
    total_weight: float


def minimum_spanning_forest(
    graph: Graph, maximum: bool = False, weight: str | None = "weight", **how: Unpack[Options]
) -> SpanningForestResult:
    """The edges that connect every component with the smallest total weight.

    Args:
        graph: undirected.
        maximum: find the forest with the greatest total weight instead.
        weight: ``None`` ignores the graph's weights.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs programs instead of the kernel.
            In the CPU kernel one thread selects edges and all threads discard edges.

    >>> import dromos as dr
    >>> result = dr.minimum_spanning_forest(dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [5, 1, 2], directed=False))
    >>> result.source.tolist(), result.target.tolist(), result.total_weight
    ([0, 1], [2, 2], 3.0)
    """
    session = Session("minimum_spanning_forest", graph, **how)
    require_undirected(graph, "minimum_spanning_forest")
    on = weighted(graph, weight)
    rows = session.native_or_left("forest", on, maximum=maximum)
    if rows is None:
        session.hold_beside_programs(_BYTES_PER_VERTEX)
        rows, _ = forest_by_rounds(session, on, maximum=maximum)
    count = len(rows["source"])
    total = float(count) if on.weights is None else total_of(rows["weight"])
    return session.result(
        SpanningForestResult,
        {**rows, "weight": (lambda: np.ones(count)) if on.weights is None else rows["weight"]},
        values={"count": count, "total_weight": total},
        vertex_fields={"source", "target"},
        index="source",
        verifier=lambda result: verify(on, result["source"], result["target"], result["weight"], maximum),
    )


def verify(graph: Graph, source: Array, target: Array, weight: Array, maximum: bool = False) -> None:
    """The rows are edges of the graph, have no cycle, and weigh as much as SciPy's tree of each component."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    n, edges = graph.num_vertices, graph.edges()
    real = edges.src != edges.dst
    src, dst = edges.src[real].astype(np.int64), edges.dst[real].astype(np.int64)
    sign = -1 if maximum and edges.weight is not None else 1
    weights = np.ones(len(src)) if edges.weight is None else sign * edges.weight[real].astype(np.float64)
    least = np.lexsort((weights, dst, src))  # the lightest of parallel edges stands first
    first = np.ones(len(least), dtype=bool)
    first[1:] = (np.diff(src[least]) != 0) | (np.diff(dst[least]) != 0)
    src, dst, weights = (column[least][first] for column in (src, dst, weights))
    signed = sign * weight.astype(np.float64)
    place = np.searchsorted(src * n + dst, source.astype(np.int64) * n + target)
    place[place == len(src)] = 0
    found = (src[place] == source) & (dst[place] == target) & (weights[place] == signed) if len(src) else source < 0
    nowhere(~found, "row {} is not the lightest edge of the graph between its ends")
    if n == 0:
        return
    values, number = np.unique(weights, return_inverse=True)
    rank = number + 1.0  # in the order of the weights, and its sums are exact and finite; 0 is no edge for SciPy
    whole = sp.coo_array((rank, (src, dst)), shape=(n, n)).tocsr()
    rows = sp.coo_array((np.ones(len(source)), (source, target)), shape=(n, n))
    parts = connected_components(whole, directed=False)[0]
    require(connected_components(rows, directed=False)[0] == parts, "the rows do not join what the graph joins")
    require(len(source) == n - parts, f"{len(source)} edges on {n} vertices in {parts} parts are no forest")
    tree = minimum_spanning_tree(whole)
    require(
        not len(source) or bool(rank[place].sum() == tree.sum()),
        f"the rows weigh {signed.sum():g}, but a tree weighs {values[tree.data.astype(np.int64) - 1].sum():g}",
    )
