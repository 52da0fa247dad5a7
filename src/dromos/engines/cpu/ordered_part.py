"""A part of a graph on the CPU for programs whose vertices are settled in the order of a field: delta-stepping.

Beside the usual supersteps, it can propagate all values below a limit at once (``relax``), for as long as that takes
within the part. The driver raises the limit when no part has a value below it any more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines import GraphShape
from dromos.engines.board import Board
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.general_part import CpuPart
from dromos.engines.cpu.launching import LINE, QUEUE, TOUCHED, edge_arrays, slice_arrays
from dromos.engines.cpu.memory import reused_empty, reused_zeros
from dromos.engines.cpu.skeletons import constants
from dromos.engines.parts import Messages, Partial
from dromos.graph.slices import GraphSlice
from dromos.plan import Path
from dromos.program import GraphTypes, Program

__all__ = ["OrderedPart"]

(THIRD,) = constants("common", "THIRD")  # the counter of far vertices
_SAMPLE = 1 << 14
_WIDTH = 64.0  # see step_width


class OrderedPart(CpuPart):
    """See :class:`dromos.engines.parts.Part`, and the methods below that the driver looks for."""

    ordered = True

    def __init__(
        self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int, threads: int
    ) -> None:
        super().__init__(program, shape, types, first, last, threads)
        assert self.analysis.priority is not None
        self._values = self.state[self.analysis.priority[0]]
        self._module: Any = None
        self._in_order = False
        self._near_size = self._far_size = self._gone = self._relaxed = 0
        self._sorted_gone: Array | None = None  # of this superstep, from the first call of outbox on
        self._limit = -np.inf
        self.least = np.inf
        """The least value of an active vertex of the part."""

    def step_width(self, piece: GraphSlice | None) -> float:
        """The approximate increment of a limit; it affects only the running time.

        On one machine, the width of bins is the average weight times 16 over the square of the average degree. A limit
        costs all parts an exchange, so here they are wider if there is little to do.
        """
        degree = max(self.shape.num_arcs / max(self.shape.num_vertices, 1), 1.0)
        weights = None if piece is None else piece.weights
        if weights is None or not len(weights):
            return _WIDTH / degree**2
        sample = np.abs(weights[:: max(1, len(weights) // _SAMPLE)].astype(np.float64))
        sample = sample[np.isfinite(sample)]
        mean = float(sample.mean()) if sample.size else 1.0
        return _WIDTH * (mean or 1.0) / degree**2

    def take_frontier(self, active: Array) -> None:
        """Set the frontier to ``active``: own vertices, ascending."""
        self._frontier = active.astype(self.types.id, copy=False)

    # ---- in order --------------------------------------------------------------------------------------------------

    def relax(self, piece: GraphSlice | None, limit: float) -> None:
        """Propagate values below ``limit`` within the part; ``piece`` holds all of its rows, None: it has no arcs."""
        if not self._in_order:
            self._enter_order()
        run = self._launcher
        if limit > self._limit:
            self._limit = limit
            counters = self._sizes()
            run.run(
                self._module.raise_limit, self._fields(), np.float64(limit), self._marks, self._near, self._far,
                counters, self.no_least(), work=0,
            )  # fmt: skip
            self._take_sizes(counters)
        if not self._near_size:
            return
        if piece is None:
            self._marks[self._near[: self._near_size]] = 0
            self._near_size = 0
            return
        counters, report = self._sizes(), run.report()
        counters[QUEUE * LINE] = 0
        run.run(
            self._module.relax, slice_arrays(self, piece), self.first, self.last, False, self._fields(),
            edge_arrays(self, piece), run.context(), np.float64(limit), self._marks, self._near, self._later,
            self._far, self._gone_to, self._near_size, (run.buffer(), run.buffer(), run.buffer()), counters,
            run.memory(), self.no_least(), report,
            counters=counters, work=piece.num_arcs,
        )  # fmt: skip
        self._take_sizes(counters)
        self._relaxed += int(report.reshape(-1, LINE)[:, 0].sum())

    def _enter_order(self) -> None:
        if self._module is None:
            self._module = kernel_module(self.typed, self.analysis, "ordered_slices")
            n, own = self.shape.num_vertices, self.last - self.first
            self._marks = reused_zeros(n, np.uint8)
            self._near, self._later, self._far = (reused_empty(own, self.types.id) for _ in range(3))
            self._gone_to = reused_empty(n, self.types.id)
        self._far[: len(self._frontier)] = self._frontier
        self._marks[self._frontier] = 1
        self._near_size, self._far_size, self._in_order, self._limit = 0, len(self._frontier), True, -np.inf

    def _leave_order(self) -> None:
        active = self.frontier
        assert active is not None
        self._frontier = active
        self._marks[self._far[: self._far_size]] = 0
        self._marks[self._near[: self._near_size]] = 0
        self._in_order = False

    def _sizes(self) -> Array:
        counters = self._launcher.counters(queue=self._near_size, touched=self._gone)
        counters[THIRD * LINE] = self._far_size
        return counters

    def _take_sizes(self, counters: Array) -> None:
        self._near_size, self._far_size = int(counters[QUEUE * LINE]), int(counters[THIRD * LINE])
        self._gone = int(counters[TOUCHED * LINE])

    # ---- a part like others ----------------------------------------------------------------------------------------

    @property
    def frontier(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""
        if not self._in_order:
            return super().frontier
        far = self._far[: self._far_size]
        return np.sort(np.concatenate((self._near[: self._near_size], far[self._marks[far] == 1])))

    def post_offers(self, board: Board) -> None:
        """See :class:`dromos.engines.board.PostingPart`."""
        if self._in_order:
            self._leave_order()
        super().post_offers(board)

    def send(self, piece: GraphSlice, path: Path) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        if self._in_order:
            self._leave_order()
        super().send(piece, path)

    def settle(self) -> Partial:
        """See :class:`dromos.engines.parts.Part`."""
        if not self._in_order:
            return super().settle()
        least, report = self.no_least(), np.zeros(2, np.int64)
        self._launcher.run(
            self._module.survey, self._fields(), read_only(self.shape.offsets), self._marks, self._near,
            self._near_size, self._far, self._far_size, least, report, work=0,
        )  # fmt: skip
        self.least = float(least[0]) if report[0] else np.inf
        relaxed, self._relaxed, self._sorted_gone = self._relaxed, 0, None
        return Partial(int(report[0]), int(report[1]), 0, relaxed)

    def no_least(self) -> Array:
        """A cache line for each thread with the greatest value of the field's type."""
        dtype = self._values.dtype
        return np.full(self._launcher.threads * LINE, np.inf if dtype.kind == "f" else np.iinfo(dtype).max, dtype)

    def outbox(self, first: int, last: int) -> Messages:
        """See :class:`dromos.engines.parts.Part`; in order, the values that were lowered here."""
        if not self._in_order:
            return super().outbox(first, last)
        if self._sorted_gone is None:
            self._sorted_gone = np.sort(self._gone_to[: self._gone])
            self._marks[self._sorted_gone] = 0
            self._gone = 0
        begin, end = np.searchsorted(self._sorted_gone, np.array((first, last), self.types.id))
        ids = self._sorted_gone[begin:end]
        return Messages.packed(first, last, ids, (self._values[ids],))

    def inbox(self, messages: Messages) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        if not self._in_order:
            super().inbox(messages)
            return
        ids, (values,) = messages.unpacked()
        if len(ids):
            counters = self._sizes()
            self._launcher.run(
                self._module.receive_values, read_only(ids.astype(self.types.id, copy=False)), read_only(values),
                self._fields(), np.float64(self._limit), self._marks, self._near, self._far, counters, work=0,
            )  # fmt: skip
            self._take_sizes(counters)
