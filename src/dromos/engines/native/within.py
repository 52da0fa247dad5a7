"""The weight of arcs within communities, by vertex: one pass over the arcs, where NumPy takes ten.

A program can express it too, but has to be prepared for each partition. The sums do not depend on the number of
threads: one thread sums a row, in the order of its arcs. Memory: 24 bytes for each vertex.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph, build_small
from dromos.graph.slices import GraphSlice
from dromos.parallel import num_threads, run_team

__all__ = ["RowWeights", "compiled_row_weights", "plain_row_weights", "row_weights", "strengths"]

_ALONE, _BRIEF = 1 << 16, 1 << 22  # the most arcs for one thread, and for a call that Ctrl-C need not stop


class RowWeights(NamedTuple):
    """The weight of each vertex's out-arcs: into its own community, of all, and of self-loops."""

    inside: Array
    total: Array
    loops: Array


def row_weights(
    graph: Graph, community: Array, threads: int | None = None, slices: Iterable[GraphSlice] | None = None
) -> RowWeights:
    """The sums of every row; without weights every arc counts 1. ``community``: an integer for each vertex.

    ``slices``: all arcs in the order of their sources, if they are not in memory at once. The sums are the same: the
    sum of a split row is continued in the next slice.

    >>> import dromos as dr
    >>> found = row_weights(dr.Graph.from_edges([0, 0, 1], [1, 2, 1], [2.0, 3.0, 5.0]), np.array([7, 7, 8]))
    >>> [sums.tolist() for sums in found]
    [[2.0, 5.0, 0.0], [5.0, 5.0, 0.0], [0.0, 5.0, 0.0]]
    """
    pieces = graph.arc_slices() if slices is None else slices
    if build_small.is_preferred(graph.num_arcs):
        return plain_row_weights(pieces, community)
    return compiled_row_weights(pieces, np.ascontiguousarray(community, graph.targets.dtype), threads)


def compiled_row_weights(slices: Iterable[GraphSlice], community: Array, threads: int | None = None) -> RowWeights:
    """The sums over these arcs, by a kernel; communities have the type of ids."""
    from dromos.engines.native import within_kernels as kernels

    found = RowWeights(*(np.zeros(len(community)) for _ in RowWeights._fields))
    community = read_only(community)
    for piece in slices:
        weights = np.empty(0) if piece.weights is None else piece.weights
        stop = np.zeros(1, np.int64)
        run_team(
            kernels.add_up, np.int64(piece.start), read_only(piece.offsets), read_only(piece.targets),
            read_only(weights), community, *found, np.zeros(1, np.int64), stop,
            threads=1 if piece.num_arcs < _ALONE else num_threads(threads),
            stop=None if piece.num_arcs < _BRIEF else stop,
        )  # fmt: skip
    return found


def plain_row_weights(slices: Iterable[GraphSlice], community: Array) -> RowWeights:
    """The same by NumPy, which needs no compiler; sums in the same order.

    >>> import dromos as dr
    >>> plain_row_weights(dr.generators.path(3).arc_slices(), np.array([0, 0, 1])).inside.tolist()
    [1.0, 1.0, 0.0]
    """
    found = RowWeights(*(np.zeros(len(community)) for _ in RowWeights._fields))
    for piece in slices:
        sources, rows = piece.sources, slice(piece.start, piece.stop)
        weights = np.ones(len(sources)) if piece.weights is None else piece.weights.astype(np.float64)
        kept = community[sources] == community[piece.targets], slice(None), sources == piece.targets
        for sums, some in zip(found, kept, strict=True):
            before = sums[rows][:1]  # of a row that was split
            at = np.concatenate([np.zeros(len(before), np.int64), sources[some] - piece.start])
            sums[rows] = np.bincount(at, np.concatenate([before, weights[some]]), minlength=piece.num_vertices)
    return found


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
