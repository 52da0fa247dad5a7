"""Maximal independent set.

Returns ``member`` (whether the vertex is in the set) and the number of members, ``count``. No two members are
neighbors, and every other vertex has a member as its neighbor. Self-loops and edge directions are ignored.

One program: every vertex has a distinct random priority, drawn from ``seed``. A vertex with the highest priority among
its undecided neighbors joins, and the neighbors of a member leave. The CPU has a kernel in which vertices join in the
order of their priorities. The set is the same on every path and device. Luby, "A simple parallel algorithm for the
maximal independent set problem", 1986; Blelloch, Fineman and Shun, "Greedy sequential maximal independent set and
matching are parallel on average", 2012.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import (
    count_of,
    require_undirected_store,
    simple_for_programs,
    sources_of_arcs,
    symmetric,
)
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, array_module

__all__ = ["IndependentSet", "IndependentSetResult", "maximal_independent_set", "verify"]

_UNDECIDED, _MEMBER, _OUT = 0, 1, 2
_DRAWS = 1 << 30


class IndependentSet(dr.Program):
    """Undecided vertices send their rank; one that joins sends more than any, and one that leaves 0, both once.

    A rank is a draw, and among equal draws the vertex: no two are the same, for up to 2^33 vertices.
    """

    seed = dr.param(int)
    rank = dr.field(np.int64)
    state = dr.field(np.int8)
    combine = dr.MAX

    def init(self, v: Any) -> Any:
        draw = dr.cast(dr.random(v.id, self.seed) * _DRAWS, np.int64)
        return {
            "rank": draw * self.num_vertices + v.id + 1,
            "state": dr.where(v.out_degree == 0, _MEMBER, _UNDECIDED),
        }

    def wants(self, v: Any) -> Any:
        return v.state == _UNDECIDED

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return dr.where(u.state == _MEMBER, self.above_all(), dr.where(u.state == _OUT, 0, u.rank))

    def above_all(self) -> Any:
        return self.num_vertices * _DRAWS + 1

    def update(self, v: Any, message: Any) -> Any:
        decided = dr.where(message == self.above_all(), _OUT, dr.where(message < v.rank, _MEMBER, _UNDECIDED))
        return {"state": dr.where(v.state == _UNDECIDED, decided, v.state)}

    def active(self, old: Any, new: Any) -> Any:
        return old.state == _UNDECIDED


class IndependentSetResult(Result):
    """What :func:`maximal_independent_set` returns."""

    member: Array
    count: int


def maximal_independent_set(graph: Graph, seed: int = 0, **how: Unpack[Options]) -> IndependentSetResult:
    """A set of vertices without neighbors among them, to which no vertex can be added.

    Args:
        graph: any; edge directions are ignored.
        seed: the random seed for the priorities; the same seed gives the same set.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> result = dr.maximal_independent_set(dr.generators.path(3), seed=1)
    >>> result.member.tolist(), result.count
    ([True, False, True], 2)
    """
    session = Session("maximal_independent_set", graph, **how)
    if not graph.symmetric:
        require_undirected_store(graph)
    on = symmetric(simple_for_programs(graph))
    known_seed = count_of(seed, "seed") % (1 << 63)
    fields = session.native("independent_set", on, seed=known_seed)
    if fields is None or "member" not in fields:
        session.keep_between_runs()
        state = session.run(IndependentSet(seed=known_seed), on, keep_on_device=True).fields["state"]
        member = session.for_caller(state == _MEMBER)
    else:
        member = fields["member"]
    return session.result(
        IndependentSetResult,
        {"member": member},
        values={"count": lambda: int(array_module(member).count_nonzero(member))},
        verifier=lambda result: verify(on, result["member"]),
    )


def verify(graph: Graph, member: Array) -> None:
    """No edge joins two members, and every other vertex has one next to it."""
    require(len(member) == graph.num_vertices, "there is not one answer for each vertex")
    src, dst = sources_of_arcs(graph), graph.targets
    nowhere(member[src] & member[dst] & (src != dst), "arc {} joins two members")
    near = member.copy()
    near[src[member[dst]]] = True
    nowhere(~near, "vertex {} is no member, and none is next to it")
