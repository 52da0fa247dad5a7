"""Programs whose vertices are settled in the order of a field: the memory and width of the bins, and the call."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.cpu.skeletons import constants

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["Ordering"]

_ENTRIES, _FILTER, _BINS, _BELOW = constants("ordered", "ENTRIES", "FILTER", "BINS", "BELOW")
_ROUNDS, _POOL_FULL = constants("ordered", "ROUNDS", "POOL_FULL")
_MOST_BINS = 1 << 14
# The pools have blocks for so many entries per vertex, divided among the threads with room to spare, since one may be
# ahead of the others; and some blocks for bins that are only begun.
_ENTRIES_A_VERTEX, _SPARE_BLOCKS = 8, 64
_LEAST_SHARE, _LARGEST_SHARE = 1 / 16, 1 / 2


class Ordering:
    """Delta-stepping on the program's priority field."""

    def __init__(self, run: CpuExecution) -> None:
        self._run = proxy(run)  # weak, since the run holds this: its memory is released as soon as it is unused
        self._module = kernel_module(run.typed, run.analysis, "ordered")
        assert run.analysis.priority is not None
        self._values = run.state[run.analysis.priority[0]]
        self._scale, self._bins = self._bin_width()
        share = min(max(1 / run.threads, _LEAST_SHARE), _LARGEST_SHARE)
        self._entries_a_vertex = _ENTRIES_A_VERTEX * share  # per thread
        self.gave_up = False
        """Messages were smaller than their source's value: the rest of the run has no order to follow."""

    def push(self, horizon: int | None) -> tuple[Array, int, int]:
        """Run up to ``horizon`` rounds (None: all); return the report, the next frontier's size, the rounds done."""
        before = reused_empty(self._values.shape, self._values.dtype)
        np.copyto(before, self._values)
        started = self._run.frontier.queue[: self._run.frontier.size].copy()
        while True:
            report, size = self._round(horizon, before)
            rows = report.reshape(self._run.threads, -1)
            if not rows[:, _POOL_FULL].any():
                return report, size, int(rows[0, _ROUNDS])
            # A pool was too small and entries were dropped: repeat with more room, from every vertex that was improved.
            self._entries_a_vertex *= 2
            front = self._run.frontier
            again = self._values < before
            again[started] = True
            waiting = np.flatnonzero(again)
            front.queue[: len(waiting)] = waiting
            front.size = len(waiting)

    def _round(self, horizon: int | None, before: Array) -> tuple[Array, int]:
        run, front = self._run, self._run.frontier
        front.prepare_ordered()
        n, threads, bins = run.graph.num_vertices, run.threads, self._bins
        blocks = int(self._entries_a_vertex * n) // _ENTRIES + 4 * bins + _SPARE_BLOCKS
        window_size = blocks * _ENTRIES + 2048
        ids = run.graph.targets.dtype
        counters, report = run.counters(), run.report()
        run.launch(
            self._module.settle_in_order, run.graph_arrays(), run.fields(), before, run.edge_fields(), run.context(),
            self._scale, bins, front.queue, front.size,
            reused_empty(threads * window_size, ids), window_size,
            reused_empty(threads * blocks * _ENTRIES, ids), reused_empty(threads * blocks, np.int64), blocks,
            np.empty(threads * (_BINS + 3 * (bins + 1)), np.int64),
            np.empty(threads * (_FILTER + _ENTRIES), ids), np.empty(threads * (_FILTER + _ENTRIES), self._values.dtype),
            front.waiting, front.following, counters, np.zeros(threads * run.line, np.int64), run.memory(),
            np.iinfo(np.int64).max if horizon is None else horizon, report,
            counters=counters,
        )  # fmt: skip
        self.gave_up |= bool(counters[_BELOW * run.line])
        return report, int(counters[run.queue_counter])

    def _bin_width(self) -> tuple[np.generic, int]:
        """How values are scaled to bins, and the number of bins; both affect only the running time.

        Bins are narrow if there are many edges to choose from, wide on a lattice: the average weight times 16 over the
        square of the average degree comes near the best width on skewed, uniform and lattice graphs.
        """
        graph = self._run.graph
        mean, most = self._run.topology.weight_sizes
        degree = max(graph.num_arcs / max(graph.num_vertices, 1), 1.0)
        width = 16 * mean / degree**2
        if self._values.dtype.kind == "f":
            width = width if width > 0 else 1.0
            scale: np.generic = np.float64(1.0 / width)
        else:
            shift = max(0, round(np.log2(max(width, 1.0))))
            width, scale = float(1 << shift), np.int64(shift)
        bins = 4
        while bins < min(most / width + 2, _MOST_BINS):
            bins *= 2
        return scale, bins
