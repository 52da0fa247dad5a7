"""What the verifiers share: they check properties of an answer with NumPy and SciPy, and run no engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import VerificationError
from dromos.graph import Graph

__all__ = ["expand", "matrix", "mean_steps", "nowhere", "peel", "require", "tree_depth", "with_arc"]


def require(holds: bool | np.bool_, message: str) -> None:
    """Raise unless the property holds."""
    if not holds:
        raise VerificationError(message)


def nowhere(wrong: Array, message: str) -> None:
    """Raise if anything is ``wrong``; the message's ``{}`` becomes the first position where it is.

    >>> nowhere(np.array([False, True]), "vertex {} has no parent")
    Traceback (most recent call last):
    dromos.errors.VerificationError: vertex 1 has no parent
    """
    if wrong.any():
        raise VerificationError(message.format(int(np.flatnonzero(wrong)[0])))


def with_arc(src: Array, dst: Array, parent: Array, usable: Array | None = None) -> Array:
    """For each vertex, whether the graph has an arc (of the usable ones) from its parent to it."""
    fits = parent[dst] == src
    if usable is not None:
        fits &= usable
    found = np.zeros(len(parent), dtype=bool)
    found[dst[fits]] = True
    return found


def tree_depth(parent: Array, root: int) -> Array:
    """How many steps each vertex is from ``root`` by its parents; -1 where it has none. A cycle is refused.

    All vertices jump at once, twice as far each time, so a path of a million vertices takes twenty rounds.

    >>> tree_depth(np.array([0, 0, 1, -1]), 0).tolist()
    [0, 1, 2, -1]
    """
    n = len(parent)
    require(parent[root] == root, f"the parent of the source {root} is {parent[root]}, not itself")
    require(bool(np.all((parent >= -1) & (parent < n))), "a parent is not a vertex")
    jump, depth = parent.astype(np.int64), np.ones(n, dtype=np.int64)
    depth[root] = 0
    has = parent >= 0
    orphans = has & (jump[np.where(has, jump, root)] < 0)
    nowhere(orphans, "vertex {} has a parent that has none")
    jump[~has] = root
    for _ in range(max(n, 1).bit_length() + 1):
        depth += depth[jump]
        jump = jump[jump]
    astray = has & (jump != root)
    nowhere(astray, "vertex {} never comes to the source: a cycle")
    depth[~has] = -1
    return depth


def expand(graph: Graph, vertices: Array) -> tuple[Array, Array]:
    """The arcs that leave ``vertices``, as ``(position among vertices, arc)``."""
    counts = graph.out_degree[vertices]
    starts = graph.offsets[vertices]
    rows = np.repeat(np.arange(len(vertices)), counts)
    arcs = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(starts, counts)
    return rows, arcs


def peel(graph: Graph, leaving: Array, degree: Array, most: int) -> Array:
    """Take vertices of ``leaving`` with at most ``most`` neighbors away until none is left; which ones stay, wrongly.

    ``degree`` counts the neighbors that are left, and is written to.
    """
    staying = leaving.copy()
    front = np.flatnonzero(leaving & (degree <= most))
    while len(front):
        staying[front] = False
        _, arcs = expand(graph, front)
        heads, counts = np.unique(graph.targets[arcs], return_counts=True)
        degree[heads] -= counts
        front = heads[staying[heads] & (degree[heads] <= most)]
    return staying


def mean_steps(graph: Graph, source: int, distance: Array) -> Array:
    """How many edges shortest paths from ``source`` to each vertex have on average, by its distances; 0 without a path.

    >>> mean_steps(Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 2.0, 1.0]), 0, np.array([0.0, 1.0, 2.0])).tolist()
    [0.0, 1.0, 1.5]
    """
    assert graph.weights is not None
    src = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    length = distance[src] + graph.weights
    used = np.flatnonzero(np.isfinite(length) & (length == distance[graph.targets]))
    used = used[np.argsort(distance[graph.targets[used]], kind="stable")]
    paths, steps = np.zeros(graph.num_vertices), np.zeros(graph.num_vertices)
    paths[source] = 1
    for u, v in zip(src[used].tolist(), graph.targets[used].tolist(), strict=True):
        paths[v] += paths[u]
        steps[v] += steps[u] + paths[u]
    return np.divide(steps, paths, out=np.zeros(len(paths)), where=paths > 0)


def matrix(graph: Graph) -> Any:
    """The adjacency matrix in 64-bit floats, parallel edges summed."""
    import scipy.sparse as sp

    data = np.ones(graph.num_arcs) if graph.weights is None else graph.weights.astype(np.float64)
    n = graph.num_vertices
    return sp.csr_array((data, graph.targets, graph.offsets), shape=(n, n))
