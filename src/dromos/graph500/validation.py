"""The five rules of Graph 500 for a search tree, each rank checking only its own rows.

1. following parents leads every vertex with a parent to the root: a tree without cycles;
2. a tree edge joins levels that differ by one;
3. the ends of every edge of the graph are both in the tree, on levels that differ by one at most, or both outside;
4. so the tree spans the root's whole component;
5. every tree edge is an edge of the graph.

A vertex outside the tree has no parent. So two vertices that name each other as parents, which some validators accept
while neither is reached, break the first rule here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array

if TYPE_CHECKING:
    from dromos.places.cluster import RankGraph

__all__ = ["find_fault", "tree_levels"]


def tree_levels(parent: Array, root: int) -> Array:
    """The depth of every vertex in the tree given by ``parent``; -1 if its ancestors do not lead to ``root``.

    Uses pointer doubling, so a tree of any depth takes a logarithmic number of passes.

    >>> tree_levels(np.array([0, 0, 1, -1, 5, 4]), 0).tolist()
    [0, 1, 2, -1, -1, -1]
    """
    n = len(parent)
    above = np.where((parent < 0) | (parent >= n), n, parent).astype(np.int64)  # n means "nowhere"
    above = np.append(above, n)
    above[root] = root
    steps = np.ones(n + 1, dtype=np.int64)
    steps[root] = 0
    for _ in range(max(n, 1).bit_length()):
        if bool(((above == root) | (above == n)).all()):
            break
        steps += steps[above] * (above != n)
        above = above[above]
    levels: Array = np.where(above[:-1] == root, steps[:-1], -1)
    return levels


def find_fault(graph: RankGraph, root: int, parent: Array) -> str:
    """The first rule that a tree breaks, the same text on every rank; empty if the tree is valid.

    ``parent`` is the whole array, on every rank: -1 outside the tree, the root its own parent.
    """
    found = _fault(graph, root, parent)
    return next(filter(None, graph.comm.allgather(found)), "")


def _fault(graph: RankGraph, root: int, parent: Array) -> str:
    n = graph.num_vertices
    if len(parent) != n:
        return f"there are {len(parent):,} parents for {n:,} vertices"
    if not 0 <= root < n or parent[root] != root:
        return f"rule 1: the root {root} is not its own parent"
    if bool(((parent < -1) | (parent >= n)).any()):
        return "rule 1: a parent is not a vertex"
    levels = tree_levels(parent, root)
    lost = np.flatnonzero((parent >= 0) & (levels < 0))
    if lost.size:
        return f"rule 1: the parents of vertex {int(lost[0])} do not lead to the root"
    sources, targets = graph.own_sources(), graph.targets
    above, below = levels[sources], levels[targets]
    outside = (above < 0) != (below < 0)
    if outside.any():
        at = int(np.argmax(outside))
        return f"rule 4: the edge {sources[at]}-{targets[at]} leaves the tree, which does not span the component"
    far = np.abs(above - below) > 1
    if far.any():
        at = int(np.argmax(far))
        return f"rule 3: the levels of the edge {sources[at]}-{targets[at]} differ by more than one"
    return _false_tree_edge(graph, root, parent, sources, targets, levels)


def _false_tree_edge(graph: RankGraph, root: int, parent: Array, sources: Array, targets: Array, levels: Array) -> str:
    own = np.arange(graph.first, graph.last)
    claimed = parent[graph.first : graph.last]
    inner = (claimed >= 0) & (own != root)
    steps = levels[own[inner]] - levels[claimed[inner]]
    if (steps != 1).any():
        return f"rule 2: vertex {int(own[inner][np.argmax(steps != 1)])} is not one level below its parent"
    real = np.zeros(len(own), dtype=bool)
    real[sources[targets == parent[sources]] - graph.first] = True
    false = inner & ~real
    return (
        f"rule 5: the graph has no edge from vertex {int(own[np.argmax(false)])} to its parent" if false.any() else ""
    )


def traversed_edges(graph: RankGraph, parent: Array) -> int:
    """The number of input edges in the tree's component: parallel edges and self-loops each count."""
    sources = graph.own_sources()
    inside = parent[sources] >= 0
    loops = inside & (sources == graph.targets)
    arcs, single = int(np.count_nonzero(inside)), int(np.count_nonzero(loops))
    total: Any = graph.comm.allreduce(np.array([arcs, single]))
    return int(total[0] - total[1]) // 2 + int(total[1])
