"""Build CSR rows from edges with NumPy alone, for small graphs in a process that has not used the compiler yet.

Compiling or loading the kernels of :mod:`dromos.graph.build` takes longer than all the work on a small graph. The
results are the same, including the order of parallel edges.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from dromos.compiling import kernels_are_loaded
from dromos.dtypes import OFFSET, Array, id_dtype, order_of
from dromos.graph.records import Edges

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["is_preferred", "kept_arcs", "mirrored", "row_flags", "rows", "transposed"]

_SMALL: Final = 1 << 19  # edges, sorted in a tenth of a second


def is_preferred(edges: int) -> bool:
    """Whether ``edges`` edges are built faster without the compiler: it is not loaded yet, and they are few."""
    return edges <= _SMALL and not kernels_are_loaded()


def transposed(offsets: Array, targets: Array, weights: Array | None) -> tuple[Array, Array, Array | None]:
    """The rows of all arcs reversed, each in the order of the old rows.

    >>> back = transposed(np.array([0, 2, 3]), np.array([1, 0, 1], np.int32), np.array([5, 6, 7]))
    >>> [part.tolist() for part in back]
    [[0, 1, 3], [0, 0, 1], [6, 5, 7]]
    """
    n = len(offsets) - 1
    order = order_of(targets)
    sources = np.repeat(np.arange(n, dtype=targets.dtype), np.diff(offsets))[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=n))]).astype(OFFSET, copy=False)
    return starts, sources, None if weights is None else weights[order]


def rows(
    src: Array,
    dst: Array,
    values: Array | None,
    num_vertices: int,
    *,
    mirror: bool = False,
    drop_loops: bool = False,
    dedupe: bool = False,
    merge: str = "first",
) -> tuple[Array, Array, Array | None]:
    """Offsets, targets and weights, as in :func:`dromos.graph.build.build_csr`.

    >>> offsets, targets, weights = rows(np.array([2, 0, 2]), np.array([1, 2, 1]), np.array([4, 5, 6]), 3, dedupe=True)
    >>> offsets.tolist(), targets.tolist(), weights.tolist()
    ([0, 1, 1, 2], [2, 1], [5, 4])
    """
    if mirror:
        src, dst, values = mirrored(src, dst, values)
    if drop_loops:
        keep = src != dst
        src, dst, values = src[keep], dst[keep], None if values is None else values[keep]
    keys = src.astype(np.int64) * max(num_vertices, 1) + dst
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    weights = None if values is None else values[order]
    if dedupe and len(keys):
        new = np.concatenate(([True], keys[1:] != keys[:-1]))
        if weights is not None:
            weights = _merged(weights, new, merge)
        keys = keys[new]
    offsets = np.zeros(num_vertices + 1, dtype=OFFSET)
    np.cumsum(np.bincount(keys // max(num_vertices, 1), minlength=num_vertices), out=offsets[1:])
    return offsets, (keys % max(num_vertices, 1)).astype(id_dtype(num_vertices)), weights


def mirrored(src: Array, dst: Array, weight: Array | None) -> Edges:
    """Each edge followed by its reverse, so that parallel edges stay in input order; a self-loop once.

    >>> mirrored(np.array([0, 2]), np.array([1, 2]), None).src.tolist()
    [0, 1, 2]
    """
    both = np.stack((src, dst), axis=1)
    kept = np.ones(both.shape, dtype=bool)
    kept[:, 1] = src != dst
    return Edges(both[kept], both[:, ::-1][kept], None if weight is None else np.repeat(weight, 2)[kept.reshape(-1)])


def _merged(weights: Array, new: Array, merge: str) -> Array:
    """One weight per run; ``new`` marks where each begins."""
    starts = np.flatnonzero(new)
    if merge == "first":
        return weights[starts]
    if merge == "sum":  # in sequence, as the kernels add
        sums = np.zeros(len(starts), weights.dtype)
        np.add.at(sums, np.cumsum(new) - 1, weights)
        return sums
    found: Array = (np.minimum if merge == "min" else np.maximum).reduceat(weights, starts)
    return found


def row_flags(offsets: Array, targets: Array) -> tuple[bool, bool, bool]:
    """Whether there are self-loops, whether adjacent arcs of a row are equal, and whether all rows ascend.

    >>> row_flags(np.array([0, 2, 2]), np.array([0, 1], dtype=np.int32))
    (True, False, True)
    """
    sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    same_row = sources[1:] == sources[:-1]
    step = np.diff(targets.astype(np.int64))
    loops, parallel = bool((sources == targets).any()), bool((same_row & (step == 0)).any())
    return loops, parallel, not bool((same_row & (step < 0)).any())


def kept_arcs(graph: Graph, chosen: Array, new_ids: Array) -> Edges:
    """The arcs from ``chosen`` vertices to vertices with a new id (0 or more), in new ids.

    >>> from dromos import Graph
    >>> cycle = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> kept_arcs(cycle, np.array([2, 0]), np.array([1, -1, 0])).dst.tolist()
    [1]
    """
    begin = graph.offsets[chosen].astype(np.int64)
    counts = graph.out_degree[chosen].astype(np.int64)
    places = np.arange(int(counts.sum())) + np.repeat(begin - np.cumsum(counts) + counts, counts)
    src = np.repeat(np.arange(len(chosen), dtype=graph.targets.dtype), counts)
    dst = new_ids[graph.targets[places]]
    keep = dst >= 0
    weights = None if graph.weights is None else graph.weights[places[keep]]
    return Edges(src[keep], dst[keep], weights)
