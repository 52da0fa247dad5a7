"""Topological levels of a directed graph without cycles.

Returns ``level`` (the number of edges on the longest path that ends at the vertex; 0 without in-edges), ``position``
(its place in a topological order, by level and then by id; computed on first use), and the number of levels, ``count``.
Levels are NetworkX's ``topological_generations``. Parallel edges change nothing; a cycle raises an error that names it.

A vertex is removed once its last predecessor is. The engine's own kernel does this if it has one, otherwise one
program. Kahn, "Topological sorting of large networks", 1962.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import sources_of_arcs
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.errors import AlgorithmError, InvalidArgumentError
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = [
    "Levels", "TopologicalLevelsResult", "acyclic_levels", "refuse_cycle", "refuse_undirected", "topological_levels",
    "verify",
]  # fmt: skip


class Levels(dr.Program):
    """How many in-edges are left, and the superstep in which the last one went."""

    left = dr.field(np.int64)
    level = dr.field(np.int64, init=0)
    combine = dr.SUM

    def init(self, v: Any) -> Any:
        return {"left": dr.cast(v.in_degree, np.int64), "level": 0}

    def start(self, v: Any) -> Any:
        return v.in_degree == 0

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return 1

    def update(self, v: Any, message: Any) -> Any:
        left = v.left - message
        return {"left": left, "level": dr.where(left == 0, self.superstep + 1, v.level)}

    def active(self, old: Any, new: Any) -> Any:
        return (old.left != 0) & (new.left == 0)


class TopologicalLevelsResult(Result):
    """What :func:`topological_levels` returns."""

    level: Array
    position: Array
    count: int


def topological_levels(graph: Graph, **how: Unpack[Options]) -> TopologicalLevelsResult:
    """The level of each vertex: every edge leads from a lower level to a higher one.

    Args:
        graph: directed, without cycles.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> result = dr.topological_levels(dr.Graph.from_edges([0, 0, 2], [1, 2, 1]))
    >>> result.level.tolist(), result.position.tolist(), result.count
    ([0, 2, 1], [0, 2, 1], 3)
    """
    session = Session("topological_levels", graph, **how)
    level = acyclic_levels(session, graph)
    return session.result(
        TopologicalLevelsResult,
        {"level": level, "position": lambda: _positions(level)},
        values={"count": int(level.max(initial=-1)) + 1},
        verifier=lambda result: verify(graph, result["level"]),
    )


def acyclic_levels(session: Session, graph: Graph) -> Array:
    """The level of each vertex; an error where there is a cycle."""
    refuse_undirected(session.name, graph)
    session.follow_kernel("topological")
    fields = session.native("topological", graph)
    if fields is None:
        fields = session.run(Levels(), graph).fields
    refuse_cycle(session.name, graph, fields["left"])
    return fields["level"]


def refuse_undirected(name: str, graph: Graph) -> None:
    """An error where edges have no direction."""
    if not graph.directed:
        raise InvalidArgumentError(f"{name} needs a directed graph: in an undirected one every edge is a cycle")


def refuse_cycle(name: str, graph: Graph, left: Array) -> None:
    """An error that names a cycle, where a vertex has in-edges ``left`` after all the others had their turn."""
    if not left.any():
        return
    cycle = _cycle(graph, left > 0)
    labels = graph.labels
    names = cycle if labels is None else labels.values_of(np.array(cycle)).tolist()
    shown = " -> ".join(map(str, [*names[:8], "…"] if len(names) > 8 else [*names, names[0]]))
    raise AlgorithmError(f"{name} has no answer: the graph has the cycle {shown}; remove an edge of it")


def _cycle(graph: Graph, stuck: Array) -> list[int]:
    """A cycle among vertices of which each has a predecessor among them."""
    before = np.full(graph.num_vertices, -1, np.int64)
    for piece in graph.arc_slices():
        src, dst = piece.sources, piece.targets
        inner = stuck[src] & stuck[dst]
        before[dst[inner]] = src[inner]
    v = int(np.flatnonzero(stuck)[0])
    seen: dict[int, int] = {}
    while v not in seen:
        seen[v] = len(seen)
        v = int(before[v])
    cycle = [u for u, number in seen.items() if number >= seen[v]][::-1]
    least = cycle.index(min(cycle))
    return cycle[least:] + cycle[:least]


def _positions(level: Array) -> Array:
    position = np.empty(len(level), np.int64)
    position[np.argsort(level, kind="stable")] = np.arange(len(level))
    return position


def verify(graph: Graph, level: Array) -> None:
    """Every edge leads down, and every vertex that is not at the top has a predecessor right above it."""
    require(len(level) == graph.num_vertices, "there is not one level for each vertex")
    src, dst = sources_of_arcs(graph), graph.targets
    nowhere(level < 0, "vertex {} has a level below 0")
    nowhere(level[src] >= level[dst], "arc {} does not lead down")
    below = np.zeros(len(level), dtype=bool)
    below[dst[level[src] + 1 == level[dst]]] = True
    nowhere((level > 0) & ~below, "vertex {} has no predecessor on the level above it")
