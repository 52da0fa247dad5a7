"""Spanning forests, matchings and colorings, each by greedy choices in a given order.

Programs can express them at a price: whether an edge is chosen depends on those chosen before it, anywhere in the
graph. So programs need a round for each link in a chain of choices, where one thread just goes on to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dromos.dtypes import Array, as_words, order_of, read_only
from dromos.engines.native.edge_order import edges_by_ends, falling
from dromos.graph import Graph
from dromos.graph.permute import degree_order
from dromos.graph.picking import picked
from dromos.parallel import num_threads, run_team

__all__ = ["coloring", "forest", "match_edges", "match_rows", "matching"]

_AT_ONCE = 2  # lightest edges that are sorted together, per vertex
_BRIEF = 1 << 22  # the most arcs for a call that Ctrl-C need not stop, so that it may run on the caller's own thread
_SAMPLES = 4096  # sampled weights, for finding the lightest edges


def forest(graph: Graph, *, maximum: bool = False, threads: int | None = None) -> Mapping[str, Array]:
    """The edges of a spanning forest of least weight, or greatest, as columns by their ends; ties by first edge.

    Fields: ``source``, ``target`` and, if the graph has weights, ``weight``. Filter-Kruskal: the lightest edges are
    sorted and processed, and of the others all threads keep only those that join two trees.

    >>> import dromos as dr
    >>> graph = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [5, 1, 2], directed=False)
    >>> {name: rows.tolist() for name, rows in forest(graph).items()}
    {'source': [0, 1], 'target': [2, 2], 'weight': [2, 1]}
    """
    from dromos.engines.native import greedy_kernels as kernels

    edges = edges_by_ends(graph)
    weights = falling(edges.weight) if maximum and edges.weight is not None else edges.weight
    root, stop = np.arange(graph.num_vertices, dtype=graph.targets.dtype), np.zeros(1, np.int64)
    taken = np.zeros(len(edges.src), np.uint8)

    def take(order: Array) -> None:
        run_team(kernels.span, edges.src, edges.dst, order, root, taken, stop, threads=1, stop=stop)

    def leave(left: Array) -> Array:
        wanted, team = np.empty(len(left), np.uint8), num_threads(threads)
        run_team(kernels.hang_on_roots, root, stop, threads=team, stop=stop)
        run_team(kernels.between_trees, edges.src, edges.dst, left, root, wanted, stop, threads=team, stop=stop)
        return wanted

    _choose(len(edges.src), weights, _AT_ONCE * graph.num_vertices, take, leave)
    columns = {"source": edges.src, "target": edges.dst}
    if edges.weight is not None:
        columns["weight"] = edges.weight
    return dict(zip(columns, picked(taken.view(bool), *columns.values()), strict=True))


def _choose(
    edges: int, weights: Array | None, count: int, take: Callable[[Array], None], leave: Callable[[Array], Array]
) -> None:
    """Pass the edges to ``take`` in order, about ``count`` at a time; ``leave`` says which are still candidates."""
    left: Array = np.arange(edges, dtype=np.int64)
    while len(left):
        now, left = _lightest(weights, left, count)
        take(now)
        if len(left):
            (left,) = picked(leave(left).view(bool), left)


def _lightest(all_weights: Array | None, left: Array, count: int) -> tuple[Array, Array]:
    """About ``count`` of the edges ``left``, lightest first, and the others in order."""
    if all_weights is None:
        return (left[:count], left[count:]) if len(left) > 2 * count else (left, left[:0])
    everything = len(left) == len(all_weights)
    weights = all_weights if everything else all_weights[left]
    if len(left) > 2 * count:
        places = np.random.default_rng(len(left)).integers(0, len(left), _SAMPLES)
        limit = np.sort(weights[places])[_SAMPLES * count // len(left)]
        light = weights <= limit
        (rest,), (left, weights) = picked(~light, left), picked(light, left, weights)
        return left[order_of(_keys(weights))], rest
    order = order_of(_keys(weights))
    return order if everything else left[order], left[:0]


def _keys(weights: Array) -> Array:
    """Integers from 0 on in the order of the weights; equal weights give equal integers.

    NumPy sorts them in linear time, and small ones in one pass. The bits of floats are in ascending order from zero on,
    and in descending order below.

    >>> _keys(np.array([7, -3, 8], np.int32)).tolist(), np.argsort(_keys(np.array([2.5, -np.inf, -1.0, 0.0]))).tolist()
    ([10, 0, 11], [1, 2, 3, 0])
    """
    if not len(weights):
        return np.empty(0, np.int64)
    if weights.dtype.kind == "i":
        return weights.astype(np.int64) - int(weights.min())
    bits = as_words(weights + weights.dtype.type(0))  # turns -0.0 into 0.0
    highest = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    keys: Array = np.where(bits & highest, ~bits, bits | highest)
    keys -= keys.min()
    return keys


def matching(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """``mate`` of each vertex, -1 without one; if the graph has weights, ``weight`` of each pair, at its lesser end.

    Edges are chosen from the heaviest on, ties by their ends. Without weights, vertices of a symmetric graph choose,
    from those of the fewest neighbors on. Each takes the first of its free neighbors whose number of neighbors has the
    fewest binary digits.

    >>> import dromos as dr
    >>> matching(dr.generators.path(5))["mate"].tolist()
    [1, 0, -1, 4, 3]
    >>> matching(dr.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 5, 1], directed=False))["weight"].tolist()
    [0, 5, 0, 0]
    """
    from dromos.engines.native import greedy_kernels as kernels

    if graph.weights is None:
        mate = np.full(graph.num_vertices, -1, graph.targets.dtype)
        match_rows(graph, mate)
        return {"mate": mate}
    edges = edges_by_ends(graph)
    weights = edges.weight
    assert weights is not None
    mate, stop = np.full(graph.num_vertices, -1, graph.targets.dtype), np.zeros(1, np.int64)
    weight = np.zeros(graph.num_vertices, weights.dtype)

    def take(order: Array) -> None:
        taken = match_edges(edges.src, edges.dst, order, mate)
        weight[np.minimum(edges.src[taken], edges.dst[taken])] = weights[taken]

    def leave(left: Array) -> Array:
        wanted, team = np.empty(len(left), np.uint8), num_threads(threads)
        run_team(kernels.between_free, edges.src, edges.dst, left, mate, wanted, stop, threads=team, stop=stop)
        return wanted

    _choose(len(edges.src), falling(weights), _AT_ONCE * graph.num_vertices, take, leave)
    return {"mate": mate, "weight": weight}


def match_edges(src: Array, dst: Array, order: Array, mate: Array) -> Array:
    """Take edges in ``order`` whose ends are both free (``mate`` is -1); return those taken, in that order.

    >>> mate = np.full(4, -1)
    >>> match_edges(np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([1, 0, 2]), mate).tolist(), mate.tolist()
    ([1], [-1, 2, 1, -1])
    """
    from dromos.engines.native import greedy_kernels as kernels

    stop, count = np.zeros(1, np.int64), np.zeros(1, np.int64)
    taken = np.empty(len(mate) // 2, np.int64)
    run_team(kernels.match, src, dst, order, mate, taken, count, stop, threads=1, stop=stop)
    return taken[: int(count[0])]


def match_rows(graph: Graph, mate: Array) -> None:
    """Let the vertices of a symmetric graph without a ``mate`` (-1) choose one, as :func:`matching` describes.

    >>> import dromos as dr
    >>> mate = np.array([1, 0, -1, -1, -1])
    >>> match_rows(dr.generators.path(5), mate)
    >>> mate.tolist()
    [1, 0, -1, 4, 3]
    """
    from dromos.engines.native import greedy_kernels as kernels

    order, stop = degree_order(graph.out_degree, descending=False), np.zeros(1, np.int64)
    run_team(
        kernels.match_rows, read_only(graph.offsets), read_only(graph.targets), graph.sorted, order,
        np.empty(graph.num_vertices, np.uint8), mate, stop,
        threads=1, stop=None if graph.num_arcs < _BRIEF else stop,
    )  # fmt: skip


def coloring(graph: Graph, *, order: Array, by_degree: bool = False, threads: int | None = None) -> Mapping[str, Array]:
    """The color of each vertex of a symmetric graph: the least that is free at its turn in ``order``.

    ``by_degree``: those of the greatest degrees come first, ties in ``order``.

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
