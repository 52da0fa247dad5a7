"""Traversals that claim each vertex once: where their frontier lives between calls, and which kernel moves it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.emit import kernel_module

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["Claims"]

_SLACK = 512  # as in the skeleton
_MOST_LEVELS = 1 << 16  # sizes of frontiers kept of one call


class Claims:
    """Levels pushed from a queue, or pulled through bitmaps; each form is made from the other when it is needed."""

    def __init__(self, run: CpuExecution) -> None:
        self._run = run
        self._module = kernel_module(run.typed, run.analysis, "claiming")
        words = (run.graph.num_vertices + 63) // 64
        self._front, self._following, self._wanting = (np.zeros(words, dtype=np.uint64) for _ in range(3))
        self._in_bits = False
        self._private: Array | None = None
        self._hubs = run.topology.hubs.vertices.size > 0
        self.sizes = np.zeros(1, dtype=np.int64)

    def push(self, horizon: int | None) -> tuple[Array, int, int]:
        """Up to ``horizon`` levels (None: all); the report, the size of the next frontier, the levels done."""
        run, front = self._run, self._run.frontier
        self.leave_bits()
        front.look(by_member=False)
        n = run.graph.num_vertices
        if self._private is None:  # touched only as far as the frontiers reach
            self._private = np.empty(run.threads * (n + _SLACK), dtype=front.queue.dtype)
        counters, report = run.counters(), run.report()
        self.sizes = np.zeros(min(horizon or _MOST_LEVELS, _MOST_LEVELS), dtype=np.int64)
        run.launch(
            self._module.push, run.graph_arrays(), run.fields(), run.edge_fields(), run.context(), front.member,
            np.uint8(front.stamp + 1), front.queue, front.size, front.following, self._private, run.hubs, self._hubs,
            counters, np.zeros(2 * run.threads * run.line, dtype=np.int64), run.memory(),
            np.iinfo(np.int64).max if horizon is None else horizon, self.sizes, report,
            counters=counters,
        )  # fmt: skip
        levels = int(report[4])
        return report, int(counters[run.queue_counter]), levels

    def pull(self) -> tuple[Array, int, int]:
        """One level."""
        run, front = self._run, self._run.frontier
        fresh = not self._in_bits
        if fresh:
            front.look(by_member=True)
        counters, report = run.counters(), run.report()
        run.launch(
            self._module.pull, run.graph_arrays(), run.in_graph_arrays(), run.fields(), run.edge_fields(),
            run.context(), fresh, front.member, front.stamp, self._front, self._following, self._wanting, counters,
            run.memory(), report,
            counters=counters,
        )  # fmt: skip
        self._front, self._following = self._following, self._front
        self._in_bits = True
        self.sizes = np.array([front.size])
        return report, int(report.reshape(run.threads, -1)[:, 4].sum()), 1

    def leave_bits(self) -> None:
        """Have the frontier in the queue again, if it is in the bitmap."""
        if not self._in_bits:
            return
        run, front = self._run, self._run.frontier
        counters = run.counters()
        front.restamp()
        run.launch(
            self._module.enqueue, self._front, front.member, front.stamp, front.queue, counters, counters=counters
        )
        self._in_bits = False
