"""The first edge of each vertex in an order of all edges: what forests and matchings by rounds are made of.

Edges come by weight, equal ones by their source and target; parallel edges of one weight are the same. Of two arcs at a
vertex the one with the lesser other end comes first, where every arc has its reverse.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import symmetric
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Session

__all__ = ["FirstEdges", "first_edges_program"]


@cache
def first_edges_program(key: np.dtype[Any], falling: bool, by_arcs: bool) -> type[dr.Program]:
    """One superstep in which vertices that are ``open`` offer their edges to those that ask, from another group.

    Args:
        key: the type in which weights are compared.
        falling: the heaviest edges come first.
        by_arcs: arcs may lack their reverse: they are told apart by which end is the source.
    """

    class FirstEdge(dr.Program):
        open = dr.vertex_param(bool)
        asks = dr.vertex_param(bool)
        group = dr.vertex_param(dr.ID)
        rank = dr.field(key, init=0)
        other = dr.field(dr.ID, init=-1)
        combine = dr.ARGMIN
        direction = "both" if by_arcs else "out"

        def start(self, v: Any) -> Any:
            return v.open

        def wants(self, v: Any) -> Any:
            return v.asks

        def sends(self, u: Any, edge: Any, v: Any) -> Any:
            return u.group != v.group

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            weight = dr.cast(edge.weight, key)
            rank = dr.where(weight == 0, 0, -weight if falling else weight)  # of the two zeros one is left
            if not by_arcs:
                return rank, u.id
            return rank, dr.where(edge.forward, u.id, v.id), dr.where(edge.forward, v.id, u.id)

        def update(self, v: Any, message: Any) -> Any:
            rank, first, *second = message
            return {"rank": rank, "other": dr.where(first == v.id, second[0], first) if second else first}

        def active(self, old: Any, new: Any) -> Any:
            return False

    return FirstEdge


class FirstEdges:
    """The first edges of a graph on a session's engine, the lightest ones or the heaviest."""

    def __init__(self, session: Session, graph: Graph, *, falling: bool) -> None:
        if getattr(graph, "on_disk", False):
            graph = symmetric(graph)  # which says what to do about a directed one
        weight = None if graph.weights is None else graph.weights.dtype
        key = np.dtype(np.int64) if weight is None or weight.kind == "i" else weight
        self._session, self._graph, self._falling = session, graph, falling and weight is not None
        self._weight = np.dtype(np.int64) if weight is None else weight
        self._program = first_edges_program(key, self._falling, not graph.symmetric)

    def find(self, open_: Array, asks: Array, group: Array) -> tuple[Array, Array]:
        """The other end of each asking vertex's first edge from another group, -1 without one; and how it ranks."""
        program = self._program(open=open_, asks=asks, group=group)
        fields = self._session.run(program, self._graph).fields
        return fields["other"], fields["rank"]

    def weights_of(self, rank: Array) -> Array:
        """The weights of edges that rank so."""
        return (0 - rank if self._falling else rank).astype(self._weight, copy=False)
