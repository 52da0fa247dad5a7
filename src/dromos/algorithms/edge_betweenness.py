"""Betweenness centrality of edges.

Returns one row per edge: ``source``, ``target`` and ``centrality``, the share of shortest paths (by number of edges)
between all pairs of vertices that use the edge. Scaling and numbers are those of NetworkX's
``edge_betweenness_centrality``; parallel edges count once, self-loops do not count.

Each source takes one search and one backward pass. A kernel runs if one device holds the whole graph in its memory;
otherwise programs run (:mod:`dromos.algorithms.edge_betweenness_programs`). Brandes, "On variants of shortest-path
betweenness centrality and their generic computation", 2008.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import refuse_rows_on_disk, simple, simple_for_programs, sources_of_arcs
from dromos.algorithms.edge_betweenness_programs import OPERATOR, edge_sums_by_programs
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
    """The share of shortest paths that use each edge.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways. Weights are ignored.
        k: estimate from this many random sources; by default all vertices are sources.
        sources: estimate from these vertices instead (labels, or ids if the graph has no labels).
        normalized: divide by the number of pairs of vertices.
        seed: the random seed; the same seed draws the same sources.
        how: ``device``, ``threads``, ``memory``; ``path`` is not supported. A directed graph on disk needs its
            transpose there, and a graph on disk must have neither self-loops nor parallel edges.

    >>> import dromos as dr
    >>> result = dr.edge_betweenness(dr.generators.path(4), normalized=False)
    >>> result.source.tolist(), result.target.tolist(), result.centrality.tolist()
    ([0, 1, 2], [1, 2, 3], [3.0, 4.0, 3.0])
    """
    session = Session("edge_betweenness", graph, **how)
    session.refuse_path()
    chosen, n = chosen_sources(graph, k, sources, seed), graph.num_vertices
    starts = np.arange(n) if chosen is None else chosen
    on, fields = _sums(session, graph, starts)
    scale = n / max(len(starts), 1)
    if normalized:
        scale /= max(n * (n - 1), 1)
    elif not on.directed:
        scale /= 2
    through = fields["through"]
    np.multiply(through, scale, out=through)
    return session.result(
        EdgeBetweennessResult,
        {"source": fields["source"], "target": fields["target"], "centrality": through},
        vertex_fields={"source", "target"},
        index="source",
        verifier=lambda result: verify(on, starts, result["centrality"], scale),
    )


def _sums(session: Session, graph: Graph, sources: Array) -> tuple[Graph, Mapping[str, Array]]:
    """The graph without what does not count, and ``source``, ``target`` and ``through`` of its edges."""
    if _by_programs(session, graph):
        on = simple_for_programs(graph, directed=True) if _has_more(graph) else graph
        return on, edge_sums_by_programs(session, on, sources)
    refuse_rows_on_disk(graph, "edge_betweenness")
    on = simple(graph)
    fields = session.host_native("edge_betweenness", on, sources=sources, directed=on.directed)
    if on.directed:
        fields = {**fields, "source": sources_of_arcs(on), "target": on.targets}
    return on, fields


def _by_programs(session: Session, graph: Graph) -> bool:
    """Whether the graph is not whole in the memory of one device."""
    if not session.in_slices(OPERATOR):
        return False
    if graph.on_disk or not getattr(session.engine, "streams", False):
        return True
    # of a mapped graph a stream finds the file, but not of another graph that was made of it
    return graph.symmetric and not _has_more(graph)


def _has_more(graph: Graph) -> bool:
    """Whether there are edges that do not count."""
    return bool(graph.has_self_loops or graph.has_parallel_edges)


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
