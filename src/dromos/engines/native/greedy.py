"""Spanning forests, matchings and colours, each by greedy choices in a given order.

No program can say them: whether an edge is taken depends on those taken before it, anywhere in the graph, and the least
colour that no neighbour has is no merge of two messages at a time.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array, as_words, order_of, read_only
from dromos.graph import Graph
from dromos.graph.permute import degree_order
from dromos.graph.picking import picked
from dromos.graph.records import Edges
from dromos.parallel import run_team

__all__ = ["coloring", "forest", "matching", "row_matching"]

_AT_ONCE = 2  # lightest edges that are sorted together, for each vertex


def forest(graph: Graph, *, edges: Edges, threads: int | None = None) -> Mapping[str, Array]:
    """Which ``edges`` of a graph are in a spanning forest of least weight; of equal ones the first.

    Filter-Kruskal: the lightest edges are sorted and taken, and of the others only those that join two trees go on.

    >>> import dromos as dr
    >>> graph = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [5, 1, 2], directed=False)
    >>> forest(graph, edges=graph.edges())["taken"].tolist()
    [False, True, True]
    """
    from dromos.engines.native import greedy_kernels as kernels

    root, stop = np.arange(graph.num_vertices, dtype=graph.targets.dtype), np.zeros(1, np.int64)
    taken = np.zeros(len(edges.src), np.uint8)
    left: Array = np.arange(len(edges.src), dtype=np.int64)
    while len(left):
        now, left = _lightest(edges, left, _AT_ONCE * graph.num_vertices)
        run_team(kernels.span, edges.src, edges.dst, now, root, taken, stop, threads=1, stop=stop)
        if len(left):
            crossing, count = np.empty(len(left), np.int64), np.zeros(1, np.int64)
            run_team(
                kernels.joining, edges.src, edges.dst, left, root, crossing, count, stop, threads=1, stop=stop
            )  # fmt: skip
            left = crossing[: int(count[0])]
    return {"taken": taken.view(bool)}


def _lightest(edges: Edges, left: Array, count: int) -> tuple[Array, Array]:
    """About ``count`` of the edges that are ``left``, lightest first, and the others in order."""
    if edges.weight is None:
        return left, left[:0]
    everything = len(left) == len(edges.weight)
    weights = edges.weight if everything else edges.weight[left]
    if len(left) > 2 * count:
        limit = np.partition(weights, count)[count]
        light = weights <= limit
        (rest,), (left, weights) = picked(~light, left), picked(light, left, weights)
        return left[order_of(_keys(weights))], rest
    order = order_of(_keys(weights))
    return order if everything else left[order], left[:0]


def _keys(weights: Array) -> Array:
    """Whole numbers from 0 on in the order of the weights; the same one where weights are the same.

    NumPy sorts them in linear time, and small ones in one pass. The bits of floats are in order from zero on, and
    below in the other.

    >>> _keys(np.array([7, -3, 8], np.int32)).tolist(), np.argsort(_keys(np.array([2.5, -np.inf, -1.0, 0.0]))).tolist()
    ([10, 0, 11], [1, 2, 3, 0])
    """
    if not len(weights):
        return np.empty(0, np.int64)
    if weights.dtype.kind == "i":
        return weights.astype(np.int64) - int(weights.min())
    bits = as_words(weights + weights.dtype.type(0))  # of the two zeros one is left
    highest = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    keys: Array = np.where(bits & highest, ~bits, bits | highest)
    keys -= keys.min()
    return keys


def matching(graph: Graph, *, edges: Edges, order: Array, threads: int | None = None) -> Mapping[str, Array]:
    """The mate of each vertex, -1 without one, by taking the ``edges`` of a graph in ``order``.

    >>> import dromos as dr
    >>> path = dr.generators.path(4)
    >>> matching(path, edges=path.edges(), order=np.array([1, 0, 2]))["mate"].tolist()
    [-1, 2, 1, -1]
    """
    from dromos.engines.native import greedy_kernels as kernels

    stop = np.zeros(1, np.int64)
    mate = np.full(graph.num_vertices, -1, graph.targets.dtype)
    run_team(kernels.match, edges.src, edges.dst, order, mate, stop, threads=1, stop=stop)
    return {"mate": mate}


def row_matching(graph: Graph, *, order: Array, threads: int | None = None) -> Mapping[str, Array]:
    """The mate of each vertex of a symmetric graph, -1 without one; vertices choose in ``order``.

    Each takes its first free neighbour, or one further on in its row that has at most half as many neighbours.

    >>> import dromos as dr
    >>> row_matching(dr.generators.path(4), order=np.array([1, 0, 2, 3]))["mate"].tolist()
    [1, 0, 3, 2]
    """
    from dromos.engines.native import greedy_kernels as kernels

    stop = np.zeros(1, np.int64)
    mate = np.full(graph.num_vertices, -1, graph.targets.dtype)
    run_team(
        kernels.match_rows, read_only(graph.offsets), read_only(graph.targets), order, mate, stop, threads=1, stop=stop
    )
    return {"mate": mate}


def coloring(graph: Graph, *, order: Array, by_degree: bool = False, threads: int | None = None) -> Mapping[str, Array]:
    """The colour of each vertex of a symmetric graph, the least that is free when its turn comes in ``order``.

    ``by_degree``: those of the greatest degrees come first, equal ones in ``order``.

    >>> import dromos as dr
    >>> coloring(dr.generators.path(4), order=np.arange(4))["color"].tolist()
    [0, 1, 0, 1]
    """
    from dromos.engines.native import greedy_kernels as kernels

    stop, color = np.zeros(1, np.int64), np.full(graph.num_vertices, -1, np.int32)
    last = np.full(int(graph.out_degree.max(initial=0)) + 2, -1, np.int64)
    if by_degree:
        order = order[degree_order(graph.out_degree[order], descending=True)]
    run_team(kernels.color, graph.offsets, graph.targets, order, color, last, stop, threads=1, stop=stop)
    return {"color": color}
