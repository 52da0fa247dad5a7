"""Breadth-first search.

Returns ``level`` (the number of edges on a shortest path from the source; -1 where there is no path) and ``parent``
(the previous vertex on one such path; the source is its own parent; -1 where there is no path).

The method is direction-optimising BFS: Beamer, Asanović and Patterson, "Direction-Optimizing Breadth-First Search", SC
2012. A vertex takes any parent of the level above, so a pull may stop at the first one it finds. The chosen parent may
differ between paths and runs; the levels never do. Self-loops and parallel edges change nothing.
"""

from __future__ import annotations

from typing import Any, Final, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import count_of, sources_of_arcs
from dromos.algorithms.verifying import nowhere, require, tree_depth, with_arc
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.plan.cost import Cost, SplitCost
from dromos.runner import Options, Result, Session

__all__ = ["BFS", "BFSResult", "bfs", "verify"]

COST: Final = Cost(
    passes=0.5,
    split=SplitCost(arcs=0, vertices=1.2, steps=7.5, search=True, growth=0.58, shared=8.3),
    over_pages=27,
    beside=80,
)


class BFS(dr.Program):
    """Levels and parents from one source."""

    source = dr.param(int)
    level = dr.field(np.int32)
    parent = dr.field(dr.ID)
    combine = dr.ANY

    def init(self, v: Any) -> Any:
        here = v.id == self.source
        return {"level": dr.where(here, 0, -1), "parent": dr.where(here, v.id, -1)}

    def start(self, v: Any) -> Any:
        return v.id == self.source

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.id

    def update(self, v: Any, message: Any) -> Any:
        new = v.level < 0
        return {"level": dr.where(new, self.superstep + 1, v.level), "parent": dr.where(new, message, v.parent)}

    def active(self, old: Any, new: Any) -> Any:
        return new.level != old.level


class BFSResult(Result):
    """What :func:`bfs` returns."""

    level: Array
    parent: Array


def bfs(graph: Graph, source: Any, depth_limit: int | None = None, **how: Unpack[Options]) -> BFSResult:
    """Breadth-first levels and parents of all vertices that ``source`` reaches.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways.
        source: a vertex, by label (by id if the graph has no labels).
        depth_limit: the deepest level to search.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> result = dr.bfs(dr.generators.path(4), 1)
    >>> result.level.tolist(), result.parent.tolist()
    ([1, 0, 1, 2], [1, 1, 1, 2])
    """
    session = Session("bfs", graph, **how)
    limit = None if depth_limit is None else count_of(depth_limit, "depth_limit")
    root = graph.vertex_id(source)
    # a superstep is a level, so the limit is one of supersteps
    limit = None if limit is None else min(limit, graph.num_vertices)
    fields = session.run(BFS(source=root), max_iter=limit, keep_on_device=True, is_answer=True).fields
    return session.result(
        BFSResult,
        fields,
        vertex_fields={"parent"},
        verifier=lambda result: verify(graph, root, result["parent"], result["level"], depth_limit=limit),
    )


def verify(graph: Graph, source: int, parent: Array, level: Array, *, depth_limit: int | None = None) -> None:
    """The five rules of Graph 500, applied to unreached vertices too.

    1. following parents leads every reached vertex to the source: a tree without cycles;
    2. a tree edge joins levels that differ by one;
    3. no edge of the graph leaves a reached vertex for one more than a level below;
    4. the tree spans all that the source reaches, and nothing else: an unreached vertex has no level and no parent;
    5. every tree edge is an edge of the graph.
    """
    n = graph.num_vertices
    require(len(parent) == n and len(level) == n, "there is not one level and one parent for each vertex")
    require(level[source] == 0, f"the level of the source {source} is {level[source]}, not 0")
    reached = level >= 0
    nowhere(~reached & ((parent != -1) | (level != -1)), "vertex {} is unreached, but has a parent or a level")
    nowhere(reached & (parent < 0), "vertex {} has a level, but no parent")
    nowhere(tree_depth(parent, source) != level, "the level of vertex {} is not its depth in the tree")
    src, dst = sources_of_arcs(graph), graph.targets
    inner = reached[src] if depth_limit is None else reached[src] & (level[src] < depth_limit)
    nowhere(inner & (~reached[dst] | (level[dst] > level[src] + 1)), "arc {} leads to a vertex unreached or too deep")
    nowhere(level > (n if depth_limit is None else depth_limit), "vertex {} is beyond the depth limit")
    real = with_arc(src, dst, parent) | (np.arange(n) == source) | ~reached
    nowhere(~real, "the graph has no edge to vertex {} from its parent")
