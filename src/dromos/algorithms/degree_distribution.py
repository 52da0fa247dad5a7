"""The degree distribution.

Returns one row per degree, from 0 to the greatest: ``degree``, ``count`` (vertices that have it) and ``share``. In an
undirected graph a self-loop counts twice and each parallel edge counts, as in NetworkX's ``degree_histogram``.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import loops_of
from dromos.algorithms.verifying import require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["DegreeDistributionResult", "degree_distribution", "degrees", "verify"]


class DegreeDistributionResult(Result):
    """What :func:`degree_distribution` returns."""

    degree: Array
    count: Array
    share: Array


def degree_distribution(graph: Graph, direction: str = "total", **how: Unpack[Options]) -> DegreeDistributionResult:
    """How many vertices have each degree.

    Args:
        graph: any.
        direction: the edges to count in a directed graph: ``"in"``, ``"out"`` or ``"total"`` (both).
        how: all run options are accepted; the degrees are always counted on the host.

    >>> import dromos as dr
    >>> result = dr.degree_distribution(dr.generators.star(4))
    >>> result.count.tolist(), result.share.tolist()
    ([0, 4, 0, 0, 1], [0.0, 0.8, 0.0, 0.0, 0.2])
    """
    session = Session("degree_distribution", graph, **how)
    count = np.bincount(degrees(graph, direction)) if graph.num_vertices else np.zeros(0, dtype=np.int64)
    fields = {"degree": np.arange(len(count)), "count": count, "share": count / max(graph.num_vertices, 1)}
    return session.result(
        DegreeDistributionResult,
        fields,
        index="degree",
        verifier=lambda result: verify(graph, result["count"], direction),
    )


def degrees(graph: Graph, direction: str) -> Array:
    """The degree of every vertex; a self-loop of an undirected graph counts twice.

    >>> import dromos as dr
    >>> degrees(dr.Graph.from_edges([0, 1], [1, 1], directed=False), "total").tolist()
    [1, 3]
    """
    if direction not in ("total", "in", "out"):
        raise InvalidArgumentError(f"direction={direction!r} is not one of 'total', 'in', 'out'")
    if not graph.directed:
        return graph.out_degree + loops_of(graph)
    if direction == "total":
        return graph.out_degree + graph.in_degree
    return graph.out_degree if direction == "out" else graph.in_degree


def verify(graph: Graph, count: Array, direction: str) -> None:
    """The counts sum to the vertices, and weighted by degree to the ends of all edges."""
    require(count.sum() == graph.num_vertices, f"the counts sum to {count.sum()}, not to {graph.num_vertices}")
    ends = graph.num_edges * (1 if graph.directed and direction != "total" else 2)
    require(count @ np.arange(len(count)) == ends, f"the degrees do not sum to the {ends} ends of the edges")
