"""Transitivity: the share of all pairs of neighbors, over the whole graph, that are neighbors of each other.

Returns one number for the graph, ``transitivity`` (three times the triangles over the paths of two edges; 0 if there
are none), and for each vertex ``triangles`` and ``pairs`` (of neighbors). Self-loops are ignored and parallel edges
count once, as in NetworkX; a directed graph is refused. Weights are ignored.

Computed from the triangles. Newman, Watts and Strogatz, "Random graph models of social networks", 2002.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import simple
from dromos.algorithms.triangles import require_undirected, triangle_counts
from dromos.algorithms.triangles import verify as verify_triangles
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import NumberResult, Options, Session, array_module

__all__ = ["TransitivityResult", "transitivity", "verify"]


class TransitivityResult(NumberResult):
    """What :func:`transitivity` returns."""

    triangles: Array
    pairs: Array
    transitivity: float


def transitivity(graph: Graph, **how: Unpack[Options]) -> TransitivityResult:
    """The share of paths of two edges that a third edge closes.

    Args:
        graph: undirected.
        how: ``device``, ``threads``; ``path`` is not supported.

    >>> import dromos as dr
    >>> dr.transitivity(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)).transitivity
    0.6
    """
    session = Session("transitivity", graph, **how)
    require_undirected(graph, "transitivity")
    session.keep_between_runs()
    found = triangle_counts(session, graph, keep_on_device=True)
    counts, degree = found["triangles"], found["degree"]
    if array_module(counts) is not np:
        degree = session.shared(degree)
    wide = degree.astype(np.int64)
    pairs = wide * (wide - 1) // 2
    total = int(pairs.sum())
    share = int(counts.sum()) / total if total else 0.0
    return session.result(
        TransitivityResult,
        {"triangles": session.for_caller(counts), "pairs": session.for_caller(pairs)},
        values={"transitivity": share},
        verifier=lambda result: verify(simple(graph), result["triangles"], result["pairs"], share),
    )


def verify(graph: Graph, triangles: Array, pairs: Array, share: float) -> None:
    """The triangles are those of the graph, and the share is theirs."""
    verify_triangles(graph, triangles)
    nowhere(triangles > pairs, "vertex {} has more triangles than pairs of neighbors")
    require(pairs.sum() * 2 == (graph.out_degree.astype(np.float64) ** 2).sum() - graph.num_arcs, "pairs are missing")
    require(abs(share * pairs.sum() - triangles.sum()) <= 1e-9 * max(pairs.sum(), 1), f"{share:g} is another share")
