"""Graph 500's third kernel, shortest paths: weights by the rules, one search, and the check of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.algorithms.sssp import sssp_program
from dromos.dtypes import Array
from dromos.graph500.validation import tree_levels
from dromos.parallel import run_team
from dromos.runner.loop import iterate

if TYPE_CHECKING:
    from dromos.places.cluster import ClusterEngine, RankGraph

__all__ = ["edge_weights", "find_distance_fault", "search"]

_STEPS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_GOLDEN = 0x9E3779B97F4A7C15


def edge_weights(seed: int, first: int, last: int) -> Array:
    """The weights of the edges numbered ``first..last``, uniform between 0 and 1, both excluded.

    Each is an odd multiple of 2^-24 that depends only on the edge's number and the seed. So sums are exact in 64 bits,
    and no edge has length zero, which would allow cycles of parents.

    >>> bool((edge_weights(1, 0, 100)[40:] == edge_weights(1, 40, 100)).all())
    True
    >>> 0.49 < float(edge_weights(1, 0, 100_000).mean()) < 0.51
    True
    """
    bits = np.arange(first, last, dtype=np.uint64) * np.uint64(_GOLDEN) + np.uint64((seed * _GOLDEN + 1) % 2**64)
    for step, shift in zip(_STEPS, (30, 27), strict=True):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(step)
    bits ^= bits >> np.uint64(31)
    return ((bits >> np.uint64(41)).astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-23)


def search(engine: ClusterEngine, graph: RankGraph, root: int) -> tuple[Array, Array]:
    """The distances of all vertices, and the parents of the rank's own."""
    from dromos.graph500 import kernels

    assert graph.weights is not None
    execution = engine.prepare(sssp_program(np.dtype(np.float64))(source=root), graph)
    iterate(execution)
    distance = execution.whole_field("distance")
    parent = np.empty(graph.last - graph.first, graph.targets.dtype)
    run_team(
        kernels.shortest_parents, root, graph.first, graph.offsets[graph.first : graph.last + 1], graph.targets,
        graph.weights, distance, parent, threads=1,
    )  # fmt: skip
    return distance, parent


def find_distance_fault(graph: RankGraph, root: int, parent: Array, distance: Array) -> str:
    """The first rule that an answer breaks, the same text on every rank; empty if it is right.

    1. the root is its own parent at distance 0, and parents lead from every vertex with a parent to the root;
    2. a vertex has a parent if and only if it has a distance;
    3. no edge of the graph is a shortcut, and none leaves the tree;
    4. the distance of every vertex is that of its parent plus an edge between them.
    """
    return next(filter(None, graph.comm.allgather(_fault(graph, root, parent, distance))), "")


def _fault(graph: RankGraph, root: int, parent: Array, distance: Array) -> str:
    n = graph.num_vertices
    if len(parent) != n or len(distance) != n:
        return f"there are {len(parent):,} parents and {len(distance):,} distances for {n:,} vertices"
    if parent[root] != root or distance[root] != 0:
        return f"rule 1: the root {root} is not its own parent at distance 0"
    if bool(((parent < -1) | (parent >= n)).any()):
        return "rule 1: a parent is not a vertex"
    lost = np.flatnonzero((parent >= 0) & (tree_levels(parent, root) < 0))
    if lost.size:
        return f"rule 1: the parents of vertex {int(lost[0])} do not lead to the root"
    reached = distance < np.inf
    odd = np.flatnonzero((parent >= 0) != reached)
    if odd.size:
        return f"rule 2: vertex {int(odd[0])} has a parent and no distance, or a distance and no parent"
    sources, targets, weights = graph.own_sources(), graph.targets, graph.weights
    assert weights is not None
    leaving = reached[sources] != reached[targets]
    if leaving.any():
        at = int(np.argmax(leaving))
        return f"rule 3: the edge {sources[at]}-{targets[at]} leaves the tree"
    with np.errstate(invalid="ignore"):
        over = distance[targets] - distance[sources] - weights
    short = over > _slack(distance[targets])
    if short.any():
        at = int(np.argmax(short))
        return f"rule 3: the edge {sources[at]}-{targets[at]} is a shortcut"
    return _false_edge(graph, root, parent, distance, sources)


def _false_edge(graph: RankGraph, root: int, parent: Array, distance: Array, sources: Array) -> str:
    assert graph.weights is not None
    tree = np.flatnonzero(graph.targets == parent[sources])
    with np.errstate(invalid="ignore"):
        off = np.abs(distance[sources[tree]] - distance[graph.targets[tree]] - graph.weights[tree])
    real = np.zeros(graph.last - graph.first, dtype=bool)
    real[sources[tree[off <= _slack(distance[sources[tree]])]] - graph.first] = True
    own = np.arange(graph.first, graph.last)
    false = (parent[own] >= 0) & (own != root) & ~real
    if not false.any():
        return ""
    return f"rule 4: vertex {int(own[np.argmax(false)])} is not as far as its parent and an edge between them"


def _slack(distance: Array) -> Any:
    return 1e-9 * np.maximum(distance, 1.0)
