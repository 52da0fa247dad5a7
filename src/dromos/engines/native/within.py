"""The weight of arcs within communities, by vertex: one pass over the arcs, where NumPy takes ten.

A program says it too, but has to be prepared for each division. The sums do not depend on the number of threads: a row
is added up by one of them, in the order of its arcs. Memory: 24 bytes for each vertex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph, build_small
from dromos.parallel import num_threads, run_team

__all__ = ["RowWeights", "plain_row_weights", "row_weights", "strengths"]

_ALONE, _BRIEF = 1 << 16, 1 << 22  # the most arcs for one thread, and for a call that Ctrl-C need not stop


class RowWeights(NamedTuple):
    """The weight of each vertex's out-arcs: into its own community, of all, and of self-loops."""

    inside: Array
    total: Array
    loops: Array


def row_weights(graph: Graph, community: Array, threads: int | None = None) -> RowWeights:
    """The sums of every row; without weights every arc counts 1. ``community``: a whole number for each vertex.

    >>> import dromos as dr
    >>> found = row_weights(dr.Graph.from_edges([0, 0, 1], [1, 2, 1], [2.0, 3.0, 5.0]), np.array([7, 7, 8]))
    >>> [sums.tolist() for sums in found]
    [[2.0, 5.0, 0.0], [5.0, 5.0, 0.0], [0.0, 5.0, 0.0]]
    """
    if build_small.is_preferred(graph.num_arcs):
        return plain_row_weights(graph, community)
    from dromos.engines.native import within_kernels as kernels

    weights = np.empty(0) if graph.weights is None else graph.weights
    found = RowWeights(*(np.empty(graph.num_vertices) for _ in RowWeights._fields))
    stop = np.zeros(1, np.int64)
    run_team(
        kernels.add_up, read_only(graph.offsets), read_only(graph.targets), read_only(weights),
        read_only(np.ascontiguousarray(community, graph.targets.dtype)), *found, np.zeros(1, np.int64), stop,
        threads=1 if graph.num_arcs < _ALONE else num_threads(threads),
        stop=None if graph.num_arcs < _BRIEF else stop,
    )  # fmt: skip
    return found


def plain_row_weights(graph: Graph, community: Array) -> RowWeights:
    """The same by NumPy, which needs no compiler; sums in the same order.

    >>> import dromos as dr
    >>> plain_row_weights(dr.generators.path(3), np.array([0, 0, 1])).inside.tolist()
    [1.0, 1.0, 0.0]
    """
    n = graph.num_vertices
    sources = np.repeat(np.arange(n), np.diff(graph.offsets))
    weights = np.ones(len(sources)) if graph.weights is None else graph.weights.astype(np.float64)
    kept = community[sources] == community[graph.targets], slice(None), sources == graph.targets
    return RowWeights(*(np.bincount(sources[some], weights=weights[some], minlength=n) for some in kept))


def strengths(graph: Graph, threads: int | None = None) -> Array:
    """The sum of the weights at each vertex of an undirected graph; a self-loop counts twice.

    >>> import dromos as dr
    >>> strengths(dr.Graph.from_edges([0, 1], [1, 1], directed=False)).tolist()
    [1.0, 3.0]
    """
    if graph.weights is None and not graph.has_self_loops:
        return graph.out_degree.astype(np.float64)
    found = row_weights(graph, np.zeros(graph.num_vertices, graph.targets.dtype), threads)
    return found.total + found.loops
