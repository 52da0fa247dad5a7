"""Maximal matchings by rounds: every vertex finds its first edge to a free one, and two that find the same are mates.

Such an edge comes before all others at both of its ends, so the pairs are those that one finds by taking one edge after
the other in the same order. A vertex asks again only when the one that it had found is taken.

Where choices wait for each other in long chains (a path whose vertices choose from one end to the other), a round takes
few edges. Then as many of the first ones as memory is meant for are gathered, and taken one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np

import dromos.program as dr
from dromos.algorithms.edges_in_turn import first_between, rows_of, taken_in_turn
from dromos.algorithms.first_edges import FirstEdges
from dromos.dtypes import Array
from dromos.engines.native.edge_order import falling
from dromos.graph import Graph
from dromos.graph.permute import degree_order, inverse
from dromos.graph.records import Edges
from dromos.runner import Session

__all__ = ["FirstNeighbour", "by_turns", "by_weights"]

_WORTH_A_ROUND: Final = 16  # a round that gives this part of the free vertices a mate
_IN_MEMORY: Final = 2  # edges that are gathered for each vertex of the graph


class FirstNeighbour(dr.Program):
    """The first free neighbor of each asking vertex: one whose turn is before its own, else the one it likes best.

    ``turn`` and ``like`` number the vertices. What is found is a turn, or a like behind all turns.
    """

    open = dr.vertex_param(bool)
    asks = dr.vertex_param(bool)
    turn = dr.vertex_param(dr.ID)
    like = dr.vertex_param(dr.ID)
    found = dr.field(np.int64, init=-1)
    combine = dr.MIN

    def start(self, v: Any) -> Any:
        return v.open

    def wants(self, v: Any) -> Any:
        return v.asks

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return u.id != v.id

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return dr.where(u.turn < v.turn, dr.cast(u.turn, np.int64), self.num_vertices + u.like)

    def update(self, v: Any, message: Any) -> Any:
        return message

    def active(self, old: Any, new: Any) -> Any:
        return False


def by_turns(session: Session, graph: Graph) -> Mapping[str, Array]:
    """``mate``, without weights: vertices of a symmetric graph choose in turn, as the kernel for matchings says."""
    return {"mate": _mates(graph, _ByTurns(session, graph))}


def by_weights(session: Session, graph: Graph) -> Mapping[str, Array]:
    """``mate``, edges from the heaviest on; and ``weight`` of each pair, at its lesser end."""
    order = _ByWeights(session, graph)
    mate = _mates(graph, order)
    return {"mate": mate, "weight": np.where(mate > np.arange(len(mate)), order.weight, order.weight.dtype.type(0))}


class _Order(Protocol):
    """An order of all edges."""

    def firsts(self, free: Array, asks: Array) -> Array:
        """The other end of each asking vertex's first edge to a free one, -1 without one."""

    def sequence(self, edges: Edges) -> Array:
        """The places of edges, from the first on."""

    def take(self, edges: Edges) -> None:
        """Note that these were taken without :meth:`firsts`."""


class _ByTurns:
    """An edge comes by the turn of that end which chooses first, then by how that one likes the other."""

    def __init__(self, session: Session, graph: Graph) -> None:
        degree = graph.out_degree
        in_turn = degree_order(degree, descending=False)
        liked = degree_order(np.frexp(degree.astype(np.float64))[1], descending=False)  # by its binary digits
        self._session, self._graph = session, graph
        self._turn, self._like = (inverse(order, graph.targets.dtype) for order in (in_turn, liked))
        self._found = np.concatenate((in_turn, liked, [-1])).astype(graph.targets.dtype, copy=False)

    def firsts(self, free: Array, asks: Array) -> Array:
        program = FirstNeighbour(open=free, asks=asks, turn=self._turn, like=self._like)
        return self._found[self._session.run(program, self._graph).fields["found"]]

    def sequence(self, edges: Edges) -> Array:
        turns = self._turn[edges.src], self._turn[edges.dst]
        later = np.where(turns[0] < turns[1], edges.dst, edges.src)
        return np.lexsort((self._like[later], np.minimum(*turns)))

    def take(self, edges: Edges) -> None:
        pass  # there are no weights to be told


class _ByWeights:
    """The heaviest edge comes first, of equal ones the first by its ends."""

    def __init__(self, session: Session, graph: Graph) -> None:
        assert graph.weights is not None
        self._edges = FirstEdges(session, graph, falling=True)
        self._ids = np.arange(graph.num_vertices, dtype=graph.targets.dtype)
        self.weight = np.zeros(graph.num_vertices, graph.weights.dtype)
        """Of the edge that each vertex has found."""

    def firsts(self, free: Array, asks: Array) -> Array:
        other, rank = self._edges.find(free, asks, self._ids)
        self.weight[asks] = self._edges.weights_of(rank[asks])
        return other

    def sequence(self, edges: Edges) -> Array:
        assert edges.weight is not None
        return np.lexsort((edges.dst, edges.src, falling(edges.weight)))

    def take(self, edges: Edges) -> None:
        self.weight[edges.src] = self.weight[edges.dst] = edges.weight


def _mates(graph: Graph, order: _Order) -> Array:
    """The mate of each vertex, -1 without one."""
    n = graph.num_vertices
    ids = np.arange(n, dtype=graph.targets.dtype)
    mate, other = np.full_like(ids, -1), np.full_like(ids, -1)
    free = asks = np.ones(n, dtype=bool)
    while asks.any():
        other = np.where(asks, order.firsts(free, asks), other)
        free = free & (other >= 0)  # who has no free neighbor will have none
        paired = free & (other[other] == ids)
        mate[paired] = other[paired]
        is_chain = _WORTH_A_ROUND * np.count_nonzero(paired) < np.count_nonzero(free)
        free = free & ~paired
        if is_chain:
            edges = first_between(graph, free, order.sequence, _IN_MEMORY * n)
            taken = rows_of(edges, taken_in_turn(edges, n))
            mate[taken.src], mate[taken.dst] = taken.dst, taken.src
            order.take(taken)
            free = free & (mate < 0)
        asks = free & (mate[other] >= 0)
    return mate
