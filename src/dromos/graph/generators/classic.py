"""Graphs whose rows are known beforehand: written directly, nothing is sorted."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import OFFSET, Array, id_dtype
from dromos.graph.generators.arguments import MAX_SCALE, require_memory, whole_number
from dromos.graph.graph import Graph
from dromos.graph.records import Flags

__all__ = ["binary_tree", "complete", "cycle", "path", "star"]


def path(n: int, *, directed: bool = False) -> Graph:
    """The vertices ``0..n-1`` in a row, each joined to the next.

    >>> path(4).out_degree.tolist()
    [1, 2, 2, 1]
    """
    n = _size("n", n, 0, arcs_a_vertex=2)
    ids = np.arange(n, dtype=id_dtype(n))
    if directed:
        return _graph(np.minimum(np.arange(n + 1), max(n - 1, 0)), ids[1:], directed=True)
    degrees = np.full(n, 2)
    degrees[:1] -= 1
    degrees[-1:] -= 1
    return _graph(_offsets(degrees), np.stack([ids - 1, ids + 1], axis=1).ravel()[1:-1])


def cycle(n: int, *, directed: bool = False) -> Graph:
    """The vertices ``0..n-1`` in a ring; as in NetworkX, one vertex has a self-loop and two are joined once.

    >>> cycle(5).num_edges, cycle(5, directed=True).neighbors(4).tolist()
    (5, [0])
    """
    n = _size("n", n, 0, arcs_a_vertex=2)
    ids = np.arange(n, dtype=id_dtype(n))
    if directed or n == 1:
        return _graph(np.arange(n + 1), np.roll(ids, -1), directed=directed, loops=n == 1)
    if n == 2:
        return path(2)
    sides = np.stack([np.roll(ids, 1), np.roll(ids, -1)], axis=1)
    return _graph(2 * np.arange(n + 1), np.sort(sides, axis=1).ravel())


def star(n: int, *, directed: bool = False) -> Graph:
    """Vertex 0 joined to each of the vertices ``1..n``, as in NetworkX; a directed star points outward.

    >>> star(3).out_degree.tolist()
    [3, 1, 1, 1]
    """
    n = _size("n", n, 0, arcs_a_vertex=2)
    leaves = np.arange(1, n + 1, dtype=id_dtype(n + 1))
    degrees = np.full(n + 1, 0 if directed else 1)
    degrees[0] = n
    return _graph(
        _offsets(degrees), leaves if directed else np.append(leaves, np.zeros_like(leaves)), directed=directed
    )


def complete(n: int, *, directed: bool = False) -> Graph:
    """Every vertex joined to every other; in both directions if directed.

    >>> complete(4).num_edges
    6
    """
    n = _size("n", n, 0, arcs_a_vertex=whole_number("n", n, 0))
    others = np.broadcast_to(np.arange(n - 1, dtype=id_dtype(n)), (n, max(n - 1, 0)))
    targets = others + (others >= np.arange(n, dtype=others.dtype)[:, None])
    return _graph(max(n - 1, 0) * np.arange(n + 1), targets.ravel(), directed=directed, symmetric=True)


def binary_tree(depth: int, *, directed: bool = False) -> Graph:
    """The full binary tree with ``2**(depth + 1) - 1`` vertices: the children of ``v`` are ``2v + 1`` and ``2v + 2``.

    A directed tree points from the root, vertex 0, to the leaves.

    >>> binary_tree(2).num_vertices, binary_tree(2).neighbors(1).tolist()
    (7, [0, 3, 4])
    """
    depth = whole_number("depth", depth, 0, MAX_SCALE - 1)
    n = _size("the number of vertices", 2 ** (depth + 1) - 1, 1, arcs_a_vertex=2)
    inner = np.arange(n // 2, dtype=id_dtype(n))
    if directed:
        return _graph(np.minimum(2 * np.arange(n + 1), n - 1), np.arange(1, n, dtype=inner.dtype), directed=True)
    degrees = np.full(n, 1)
    degrees[: n // 2] = 3
    degrees[0] -= 1
    rows = np.stack([(inner - 1) // 2, 2 * inner + 1, 2 * inner + 2], axis=1).ravel()[1:]
    parents = (np.arange(n // 2, n, dtype=inner.dtype) - 1) // 2
    return _graph(_offsets(degrees), np.append(rows, parents) if depth else rows)


def _size(name: str, value: int, low: int, *, arcs_a_vertex: int) -> int:
    size = whole_number(name, value, low, 1 << MAX_SCALE)
    width = id_dtype(size + 1).itemsize
    require_memory(2 * size * (8 + arcs_a_vertex * width), f"a graph of {size:,} vertices", "take a smaller one")
    return size


def _offsets(degrees: Array) -> Array:
    offsets = np.zeros(len(degrees) + 1, dtype=OFFSET)
    np.cumsum(degrees, out=offsets[1:])
    return offsets


def _graph(
    offsets: Array, targets: Array, *, directed: bool = False, loops: bool = False, symmetric: bool | None = None
) -> Graph:
    flags = Flags(
        directed=directed,
        symmetric=symmetric if directed else True,
        sorted=True,
        parallel_edges=False,
        self_loops=loops,
    )
    return Graph._make(offsets.astype(OFFSET, copy=False), np.ascontiguousarray(targets), flags=flags)
