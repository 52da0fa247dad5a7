"""Degree centrality.

Returns ``centrality``: the degree of a vertex divided by the number of other vertices, as in NetworkX. Each parallel
edge counts, and a self-loop of an undirected graph counts twice, so values above 1 are possible. In a graph of one
vertex it is 1.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.degree_distribution import degrees
from dromos.algorithms.verifying import nowhere
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["DegreeCentralityResult", "degree_centrality", "verify"]


class DegreeCentralityResult(Result):
    """What :func:`degree_centrality` returns."""

    centrality: Array


def degree_centrality(graph: Graph, direction: str = "total", **how: Unpack[Options]) -> DegreeCentralityResult:
    """The share of the other vertices that each vertex is joined to.

    Args:
        graph: any.
        direction: the edges to count in a directed graph: ``"in"``, ``"out"`` or ``"total"`` (both).
        how: all run options are accepted; the degrees are always counted on the host.

    >>> import dromos as dr
    >>> dr.degree_centrality(dr.generators.path(3)).centrality.tolist()
    [0.5, 1.0, 0.5]
    """
    session = Session("degree_centrality", graph, **how)
    others = graph.num_vertices - 1
    degree = degrees(graph, direction)
    share = degree / others if others > 0 else np.ones(graph.num_vertices)
    return session.result(
        DegreeCentralityResult,
        {"centrality": share},
        verifier=lambda result: verify(graph, result["centrality"], direction),
    )


def verify(graph: Graph, centrality: Array, direction: str) -> None:
    """Times the number of other vertices, the centralities are how often a vertex stands at an end of an edge."""
    n = graph.num_vertices
    if n < 2:
        nowhere(centrality != 1, "vertex {} is alone, but its centrality is not 1")
        return
    edges = graph.edges()
    starts, ends = (np.bincount(column, minlength=n) for column in (edges.src, edges.dst))
    both = not graph.directed or direction == "total"
    expected = starts + ends if both else (starts if direction == "out" else ends)
    nowhere(np.abs(centrality * (n - 1) - expected) > 1e-6, "vertex {} has another degree")
