"""What the engine derives from a graph once and needs in every run on it."""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines import GraphLike
from dromos.engines.arc_order import matching_arcs
from dromos.engines.cpu.skeletons import constants
from dromos.identity_cache import IdentityCache

__all__ = ["HUB_LENGTH", "NO_VALUES", "PIECE_LENGTH", "Hubs", "Topology", "topology"]

HUB_LENGTH, PIECE_LENGTH = constants("common", "HUB", "PIECE")
NO_VALUES: Final = np.empty(0, dtype=np.int64)
NO_VALUES.flags.writeable = False
_SAMPLE: Final = 1 << 16
_NO_BITS: Final = np.empty(0, dtype=np.uint64)

Arrays = tuple[Array, Array, Array]


class Hubs:
    """Rows that are too long for one thread: the vertices, the number of each one's first piece, and their total."""

    def __init__(self, offsets: Array, longest: int = HUB_LENGTH) -> None:
        """``longest`` is the greatest length of a row that is not split into pieces."""
        lengths = np.diff(offsets)
        self.vertices = np.flatnonzero(lengths > longest)
        counts = (lengths[self.vertices].astype(np.int64) + PIECE_LENGTH - 1) // PIECE_LENGTH
        self.pieces = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


class Topology:
    """A graph's arrays in the form that kernels take, and its hubs; kept while the graph lives."""

    def __init__(self, graph: GraphLike) -> None:
        self.rows: Arrays = _rows(graph)
        self._in_rows: Arrays | None = None
        self._hubs: Hubs | None = None
        self._in_hubs: Hubs | None = None
        self._reachable: Array | None = None
        self._in_arcs: Array | None = None
        self._weight_sizes: tuple[float, float] | None = None

    def in_rows(self, graph: GraphLike) -> Arrays:
        """The rows of the transpose, which is made if there is none yet."""
        if self._in_rows is None:
            transpose = graph.transpose
            self._in_rows = self.rows if transpose is graph else _rows(transpose)
        return self._in_rows

    def in_arcs(self, graph: GraphLike) -> Array:
        """For each arc of :meth:`in_rows` its index among the out-arcs."""
        if self._in_arcs is None:
            weighted = graph.weights is not None
            sides = [(*rows[:2], rows[2] if weighted else None) for rows in (self.rows, self.in_rows(graph))]
            self._in_arcs = matching_arcs(*sides)
        return self._in_arcs

    def in_offsets(self, graph: GraphLike) -> Array:
        """The offsets of the transpose; an empty array of their type if there is none.

        Another type, or a writable array, would be another signature: kernels would be compiled again as soon as there
        is a transpose.
        """
        if self._in_rows is None and not getattr(graph, "has_transpose", False):
            return self.rows[0][:0]
        return self.in_rows(graph)[0]

    def in_rows_made(self, graph: GraphLike, *, make: bool) -> tuple[Arrays, Array]:
        """The rows of the transpose and :meth:`reachable`; empty arrays if there is none, unless ``make``.

        A graph that is its own transpose, or already has one, needs none made.
        """
        if make or self._in_rows is not None or getattr(graph, "has_transpose", False):
            return self.in_rows(graph), self.reachable(graph)
        offsets, targets, weights = self.rows
        return (offsets[:0], targets[:0], weights[:0]), _NO_BITS

    @property
    def weight_sizes(self) -> tuple[float, float]:
        """The average and the greatest magnitude of the finite weights in a sample of the arcs."""
        if self._weight_sizes is None:
            weights = self.rows[2]
            sample = np.abs(weights[:: max(1, len(weights) // _SAMPLE)].astype(np.float64))
            finite = sample[np.isfinite(sample)]
            self._weight_sizes = float(finite.mean()) if finite.size else 1.0, float(finite.max(initial=1.0))
        return self._weight_sizes

    @property
    def hubs(self) -> Hubs:
        """The vertices with many out-arcs."""
        if self._hubs is None:
            self._hubs = Hubs(self.rows[0])
        return self._hubs

    def in_hubs(self, graph: GraphLike) -> Hubs:
        """The vertices with many in-arcs."""
        if self._in_hubs is None:
            same = self.in_rows(graph) is self.rows
            self._in_hubs = self.hubs if same else Hubs(self.in_rows(graph)[0])
        return self._in_hubs

    def reachable(self, graph: GraphLike) -> Array:
        """A bit for each vertex, in 64-bit words: whether it has in-arcs."""
        if self._reachable is None:
            bits = np.zeros((graph.num_vertices + 63) // 64 * 64, dtype=bool)
            bits[: graph.num_vertices] = np.diff(self.in_rows(graph)[0]) != 0
            self._reachable = np.packbits(bits, bitorder="little").view(np.uint64)
        return self._reachable


def _rows(graph: GraphLike) -> Arrays:
    """Offsets, targets and weights; targets are unsigned, which widen to an address at no cost.

    Kernels are compiled for types, so a graph's arrays always have the same types: 4-byte offsets if they fit, and
    read-only arrays, whether mapped from a file or not.
    """
    targets = graph.targets
    weights = NO_VALUES if graph.weights is None else graph.weights
    offsets = graph.offsets if graph.num_arcs >= 1 << 32 else graph.offsets.astype(np.uint32)
    return read_only(offsets), read_only(targets.view(np.dtype(f"u{targets.itemsize}"))), read_only(weights)


_kept: Final = IdentityCache()


def topology(graph: GraphLike) -> Topology:
    """What is known about ``graph``, cached across runs.

    >>> from dromos.graph import generators
    >>> ring = generators.cycle(5)
    >>> topology(ring) is topology(ring), topology(ring).hubs.vertices.size
    (True, 0)
    """
    return _kept.once(graph, "topology", lambda: Topology(graph))
