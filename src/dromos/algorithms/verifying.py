"""What the verifiers share: they check properties of an answer with NumPy and SciPy, and run no engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import VerificationError
from dromos.graph import Graph

__all__ = ["expand", "matrix", "nowhere", "peel", "require", "tree_depth", "with_arc"]


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
    """Take vertices of ``leaving`` with at most ``most`` neighbours away until none is left; which ones stay, wrongly.

    ``degree`` counts the neighbours that are left, and is written to.
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


def matrix(graph: Graph) -> Any:
    """The adjacency matrix in 64-bit floats, parallel edges summed."""
    import scipy.sparse as sp

    data = np.ones(graph.num_arcs) if graph.weights is None else graph.weights.astype(np.float64)
    n = graph.num_vertices
    return sp.csr_array((data, graph.targets, graph.offsets), shape=(n, n))
