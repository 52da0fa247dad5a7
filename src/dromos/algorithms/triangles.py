"""Triangles.

Returns ``triangles`` (how many triangles each vertex is in) and their number in the graph, ``total``. Self-loops are
ignored and parallel edges count once, as in NetworkX; a directed graph is refused, as there.

The engine's own kernel intersects neighborhoods; see ``dromos/engines/native/triangles.py``, and for simple graphs on
disk ``dromos/places/stream/triangles.py``. Over slices it is an operator, ``dromos/places/operators/intersection``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import simple
from dromos.algorithms.verifying import matrix, nowhere, require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["TrianglesResult", "require_undirected", "triangle_counts", "triangles", "verify"]


def require_undirected(graph: Graph, name: str) -> None:
    """Refuse a directed graph, and say what to do."""
    if graph.directed:
        here = "" if graph.on_disk else "call it on graph.symmetrized(), or "
        raise InvalidArgumentError(
            f"{name} is defined on undirected graphs; {here}convert the file first: `dromos convert --symmetrize IN "
            "OUT.drm` (--memory sets a budget for it)"
        )


class TrianglesResult(Result):
    """What :func:`triangles` returns."""

    triangles: Array
    total: int


def triangles(graph: Graph, **how: Unpack[Options]) -> TrianglesResult:
    """How many triangles each vertex is in.

    Args:
        graph: undirected.
        how: ``device``, ``threads``; ``path`` is not supported.

    >>> import dromos as dr
    >>> result = dr.triangles(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> result.triangles.tolist(), result.total
    ([1, 1, 1, 0], 1)
    """
    session = Session("triangles", graph, **how)
    require_undirected(graph, "triangles")
    found = triangle_counts(session, graph, keep_on_device=True)
    counts = found["triangles"]
    total = found["total"] if "total" in found else counts.sum() // 3  # a kernel that knows it saves a pass
    return session.result(
        TrianglesResult,
        {"triangles": counts},
        values={"total": int(total)},
        verifier=lambda result: verify(simple(graph), result["triangles"]),
    )


def triangle_counts(session: Session, graph: Graph, *, keep_on_device: bool = False) -> Mapping[str, Any]:
    """``triangles`` and ``degree`` of each vertex of the simple graph, and ``total`` where the kernel knows it."""
    if session.operator("triangles") is not None:  # rows come in slices, and are made simple as they come
        return session.require_native("triangles", graph)
    on = simple(graph)
    return {"degree": on.out_degree, **session.require_native("triangles", on, keep_on_device=keep_on_device)}


def verify(graph: Graph, counts: Array) -> None:
    """The counts are what the matrix says: half the closed walks of three steps from each vertex."""
    adjacency = matrix(graph)
    nowhere(counts < 0, "vertex {} is in a negative number of triangles")
    walks = (
        np.asarray((adjacency @ adjacency).multiply(adjacency).sum(axis=1)).ravel() if graph.num_arcs else 0 * counts
    )
    nowhere(2 * counts != walks, "vertex {} has another number of closed walks of three steps")
    require(counts.sum() % 3 == 0, "the counts do not sum to three a triangle")
