"""Longest paths of a directed graph without cycles.

Returns ``distance`` (the weight of the heaviest path that ends at the vertex, at least 0 because a path may begin
anywhere), ``parent`` (the previous vertex on one such path; the vertex itself if the path begins there), the greatest
distance, ``length``, and the vertex where that path ends, ``end``. ``result.path_to(result.end)`` is NetworkX's
``dag_longest_path``. Without weights every edge counts 1; of parallel edges the heaviest counts. A cycle raises an
error that names it.

The engine's own kernel runs if it has one. Otherwise two programs run: topological levels, then distances level by
level, so that every edge carries one message.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import sources_of_arcs, weighted
from dromos.algorithms.topological_levels import acyclic_levels, refuse_cycle, refuse_undirected
from dromos.algorithms.verifying import nowhere, require, with_arc
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["LongestPaths", "LongestPathsResult", "longest_paths", "verify"]


class LongestPaths(dr.Program):
    """A vertex sends once, when the superstep is its level: then all before it have sent."""

    level = dr.vertex_param(np.int64)
    distance = dr.field(np.float64)
    parent = dr.field(dr.ID)
    combine = dr.ARGMAX
    kind = "traversal"

    def init(self, v: Any) -> Any:
        return {"distance": 0.0, "parent": v.id}

    def start(self, v: Any) -> Any:
        return v.level == 0

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.distance + edge.weight, u.id

    def update(self, v: Any, message: Any) -> Any:
        distance, parent = message
        longer = distance > v.distance
        return {
            "distance": dr.where(longer, distance, v.distance),
            "parent": dr.where(longer, parent, v.parent),
        }

    def active(self, old: Any, new: Any) -> Any:
        return new.level == self.superstep + 1


class LongestPathsResult(Result):
    """What :func:`longest_paths` returns."""

    distance: Array
    parent: Array
    length: float
    end: Any


def longest_paths(graph: Graph, weight: str | None = "weight", **how: Unpack[Options]) -> LongestPathsResult:
    """The heaviest path to every vertex.

    Args:
        graph: directed, without cycles.
        weight: ``None`` ignores the graph's weights.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> result = dr.longest_paths(dr.Graph.from_edges([0, 0, 2], [1, 2, 1], [5.0, 1.0, 2.0]))
    >>> result.distance.tolist(), result.length, result.path_to(result.end)
    ([0.0, 5.0, 1.0], 5.0, [0, 1])
    """
    session = Session("longest_paths", graph, **how)
    on = weighted(graph, weight)
    refuse_undirected(session.name, on)
    session.follow_kernel("longest_paths")
    fields = session.native("longest_paths", on)
    if fields is None:
        fields = session.run(LongestPaths(level=acyclic_levels(session, on)), on).fields
    else:
        refuse_cycle(session.name, on, fields["left"])
    distance, values = fields["distance"], {}
    if len(distance):
        end = int(distance.argmax())
        name = end if graph.labels is None else graph.labels.values_of(np.array([end])).tolist()[0]
        values = {"length": float(distance[end]), "end": name}
    return session.result(
        LongestPathsResult,
        {"distance": distance, "parent": fields["parent"]},
        values=values,
        vertex_fields={"parent"},
        verifier=lambda result: verify(on, result["distance"], result["parent"]),
    )


def verify(graph: Graph, distance: Array, parent: Array) -> None:
    """No edge makes a longer path, and every distance is that of its parent and the edge from it, or 0."""
    n = graph.num_vertices
    require(len(distance) == n and len(parent) == n, "there is not one distance and one parent for each vertex")
    nowhere(distance < 0, "vertex {} has a distance below 0")
    src, dst = sources_of_arcs(graph), graph.targets
    weights = np.ones(len(dst)) if graph.weights is None else graph.weights.astype(np.float64)
    along = distance[src] + weights
    slack = 1e-9 * np.abs(distance[np.isfinite(distance)]).max(initial=1.0)
    nowhere(along > distance[dst] + slack, "arc {} makes a longer path")
    own = parent == np.arange(n)
    nowhere(own & (distance != 0), "vertex {} is its own parent at a distance from itself")
    tight = with_arc(src, dst, parent, np.isclose(along, distance[dst], rtol=0, atol=slack))
    nowhere(~own & ~tight, "no edge leads from vertex {}'s parent to it in its distance")
