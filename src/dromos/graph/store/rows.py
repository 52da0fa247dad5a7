"""Facts about rows of a graph, found in one parallel pass without allocations: used to write and to verify stores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["RowFacts", "arc_sums", "scan"]

_SMALL = 1 << 15
_ALL_BITS = (1 << 64) - 1


class RowFacts(NamedTuple):
    """The result of a pass over rows; positions are arc numbers in the whole graph, ``None`` if there is none."""

    loops: int = 0
    parallel_at: int | None = None
    unsorted_at: int | None = None
    outside_at: int | None = None
    forward: int = 0
    backward: int = 0

    def joined(self, other: RowFacts) -> RowFacts:
        """The facts of two sets of rows together."""
        return RowFacts(
            self.loops + other.loops,
            _earlier(self.parallel_at, other.parallel_at),
            _earlier(self.unsorted_at, other.unsorted_at),
            _earlier(self.outside_at, other.outside_at),
            (self.forward + other.forward) & _ALL_BITS,
            (self.backward + other.backward) & _ALL_BITS,
        )

    @property
    def symmetric(self) -> bool:
        """Whether every arc has its reverse with the same weight (wrong with a chance of 2^-64)."""
        return self.forward == self.backward


def scan(
    first_vertex: int,
    num_vertices: int,
    offsets: Array,
    targets: Array,
    weights: Array | None,
    threads: int | None = None,
) -> RowFacts:
    """Scan every arc of consecutive rows; ``targets`` begin with the row of ``first_vertex``.

    >>> facts = scan(0, 2, np.array([0, 1, 2]), np.array([1, 0], np.int32), None)
    >>> facts.symmetric, facts.loops
    (True, 0)
    """
    from dromos.graph.store import row_kernels as kernels

    bits, minus_zero = _weight_bits(weights)
    team = 1 if targets.size < _SMALL else num_threads(threads)
    facts = np.zeros((team, kernels.NUM_FACTS), dtype=np.int64)
    sums = np.zeros((team, 2), dtype=np.uint64)
    run_team(
        kernels.scan_arcs, np.zeros(1, np.int64), first_vertex, num_vertices, *map(read_only, (offsets, targets, bits)),
        minus_zero, facts, sums, threads=team,
    )  # fmt: skip
    places = facts.min(axis=0)

    def place(which: int) -> int | None:
        return None if places[which] == kernels.NOWHERE else int(places[which])

    totals = sums.sum(axis=0, dtype=np.uint64)
    return RowFacts(
        loops=int(facts[:, kernels.LOOPS].sum()),
        parallel_at=place(kernels.FIRST_PARALLEL),
        unsorted_at=place(kernels.FIRST_UNSORTED),
        outside_at=place(kernels.FIRST_OUTSIDE),
        forward=int(totals[kernels.FORWARD]),
        backward=int(totals[kernels.BACKWARD]),
    )


def arc_sums(graph: Graph) -> tuple[int, int]:
    """Sums over the arcs of a graph and over their reverses; if they differ, the graph is not symmetric."""
    facts = scan(0, graph.num_vertices, graph.offsets, graph.targets, graph.weights)
    return facts.forward, facts.backward


def _weight_bits(weights: Array | None) -> tuple[Array, np.uint64]:
    """Weights as unsigned integers, and the bits of -0.0, which counts as 0.0."""
    if weights is None:
        return np.empty(0, dtype=np.uint32), np.uint64(0)
    wide = weights.dtype.itemsize == 8
    bits = weights.view(np.uint64 if wide else np.uint32)
    return bits, np.uint64(1 << (63 if wide else 31)) if weights.dtype.kind == "f" else np.uint64(0)


def _earlier(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)
