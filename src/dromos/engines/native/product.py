"""The product of a graph's matrix and a vector.

A program can express it (:class:`dromos.algorithms.spmv.SpMV`), but is prepared anew for each vector. For a method that
makes a new vector between two products, that would take longer than the products of a small graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph
from dromos.graph.slices import GraphSlice
from dromos.parallel import num_threads, run_team

__all__ = ["matrix_rows", "product", "sums_over_slices", "team_for"]

_ALONE, _BRIEF = 1 << 16, 1 << 22  # the most arcs for one thread, and for a call that Ctrl-C need not stop


def product(graph: Graph, *, x: Array, threads: int | None = None) -> Mapping[str, Array]:
    """``y = A x`` in float64, where ``A[u, v]`` is the weight of the edge from u to v.

    >>> import dromos as dr
    >>> product(dr.Graph.from_edges([0, 0], [1, 2], [2.0, 3.0]), x=np.array([1.0, 10.0, 100.0]))["y"].tolist()
    [320.0, 0.0, 0.0]
    """
    from dromos.engines.native import product_kernels as kernels

    y, stop = np.empty(graph.num_vertices), np.zeros(1, np.int64)
    run_team(
        kernels.multiply, matrix_rows(graph), read_only(x), y, np.zeros(1, np.int64), stop,
        threads=team_for(graph, threads), stop=None if graph.num_arcs < _BRIEF else stop,
    )  # fmt: skip
    return {"y": y}


def matrix_rows(graph: Graph) -> tuple[Array, Array, Array]:
    """Offsets, targets and weights as kernel arguments; without weights the last is empty.

    >>> import dromos as dr
    >>> [len(column) for column in matrix_rows(dr.generators.path(3))]
    [4, 4, 0]
    """
    weights = np.empty(0) if graph.weights is None else graph.weights
    return read_only(graph.offsets), read_only(graph.targets), read_only(weights)


def team_for(graph: Graph, threads: int | None) -> int:
    """The number of threads that pay off for a product: one if the graph is small."""
    return 1 if graph.num_arcs < _ALONE else num_threads(threads)


def sums_over_slices(slices: Iterable[GraphSlice], num_vertices: int, *, x: Array, threads: int | None = None) -> Array:
    """For each vertex the sum of ``x`` over the targets of its row, given all arcs in the order of their sources.

    A row is summed from its first arc to its last, so the sums do not depend on where slices begin.

    >>> import dromos as dr
    >>> sums_over_slices(dr.generators.path(3).slices(2), 3, x=np.array([1.0, 10.0, 100.0])).tolist()
    [10.0, 101.0, 10.0]
    """
    from dromos.engines.native import product_kernels as kernels

    y = np.zeros(num_vertices)
    for piece in slices:
        stop = np.zeros(1, np.int64)
        run_team(
            kernels.add_targets, np.int64(piece.start), read_only(piece.offsets), read_only(piece.targets),
            read_only(x), y, np.zeros(1, np.int64), stop,
            threads=1 if piece.num_arcs < _ALONE else num_threads(threads),
            stop=None if piece.num_arcs < _BRIEF else stop,
        )  # fmt: skip
    return y
