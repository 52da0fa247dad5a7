"""Betweenness centrality of edges.

Returns one row per edge: ``source``, ``target`` and ``centrality``, the share of shortest paths (by number of edges)
between all pairs of vertices that lead over it. Scaling and numbers are those of NetworkX's
``edge_betweenness_centrality``; parallel edges count once, self-loops not at all.

One search and one way back for each source. Brandes, "On variants of shortest-path betweenness centrality and their
generic computation", 2008.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import refuse_rows_on_disk, simple, sources_of_arcs
from dromos.algorithms.many.sources import chosen_sources
from dromos.algorithms.verifying import matrix, nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["EdgeBetweennessResult", "edge_betweenness", "verify"]


class EdgeBetweennessResult(Result):
    """What :func:`edge_betweenness` returns."""

    source: Array
    target: Array
    centrality: Array


def edge_betweenness(
    graph: Graph,
    k: int | None = None,
    sources: Iterable[Any] | None = None,
    normalized: bool = True,
    seed: int | None = None,
    **how: Unpack[Options],
) -> EdgeBetweennessResult:
    """The share of shortest paths that lead over each edge.

    Args:
        graph: along its out-edges; an undirected graph both ways. Weights are not looked at.
        k: estimate from so many sources drawn by ``seed``; all vertices if not given.
        sources: estimate from these vertices (labels, or ids where the graph has none) instead.
        normalized: divide by the number of pairs of vertices.
        seed: of the draw; the same one draws the same sources.
        how: ``device``, ``threads``; there are no paths to choose from.

    >>> import dromos as dr
    >>> result = dr.edge_betweenness(dr.generators.path(4), normalized=False)
    >>> result.source.tolist(), result.target.tolist(), result.centrality.tolist()
    ([0, 1, 2], [1, 2, 3], [3.0, 4.0, 3.0])
    """
    session = Session("edge_betweenness", graph, **how)
    refuse_rows_on_disk(graph, "edge_betweenness")
    on, n = simple(graph), graph.num_vertices
    chosen = chosen_sources(graph, k, sources, seed)
    starts = np.arange(n) if chosen is None else chosen
    fields = session.host_native("edge_betweenness", on, sources=starts, directed=on.directed)
    scale = n / max(len(starts), 1)
    if normalized:
        scale /= max(n * (n - 1), 1)
    elif not on.directed:
        scale /= 2
    src, dst = (sources_of_arcs(on), on.targets) if on.directed else (fields["source"], fields["target"])
    through = fields["through"]
    np.multiply(through, scale, out=through)
    return session.result(
        EdgeBetweennessResult,
        {"source": src, "target": dst, "centrality": through},
        vertex_fields={"source", "target"},
        index="source",
        verifier=lambda result: verify(on, starts, result["centrality"], scale),
    )


def verify(graph: Graph, sources: Array, centrality: Array, scale: float) -> None:
    """Every shortest path leads over as many edges as it is long; SciPy knows how long."""
    from scipy.sparse.csgraph import shortest_path

    nowhere(centrality < -1e-12, "row {} is below zero")
    if graph.num_vertices == 0 or not len(sources):
        return
    length = shortest_path(matrix(graph), unweighted=True, indices=sources)
    expected = length[np.isfinite(length)].sum() * scale
    slack = 1e-9 * max(expected, 1e-300) + 1e-12
    require(abs(centrality.sum() - expected) <= slack, f"the rows sum to {centrality.sum():g}, not to {expected:g}")
