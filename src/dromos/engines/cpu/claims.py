"""Traversals that claim each vertex once: where their frontier lives between calls, and which kernel moves it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.memory import reused_empty
from dromos.plan import Levels

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["Claims"]

_SLACK = 512  # as in the skeleton
_MOST_LEVELS = 1 << 16  # levels of one call that are told apart


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
        self.levels: Levels | None = None
        """What is known of each level of the last push."""

    def push(self, horizon: int | None) -> tuple[Array, int, int]:
        """Up to ``horizon`` levels (None: all); the report, the size of the next frontier, the levels done."""
        run, front = self._run, self._run.frontier
        self.to_queue()
        front.prepare_sync(by_member=False)
        n = run.graph.num_vertices
        if self._private is None:  # touched only as far as the frontiers reach
            self._private = reused_empty(run.threads * (n + _SLACK), front.queue.dtype)
        counters, report = run.counters(), run.report()
        room = min(horizon or _MOST_LEVELS, _MOST_LEVELS)
        sizes, edges, times = (np.zeros(room + extra, dtype=np.int64) for extra in (0, 0, 1))
        run.launch(
            self._module.push, run.graph_arrays(), run.fields(), run.edge_fields(), run.context(), front.member,
            np.uint8(front.stamp + 1), front.queue, front.size, front.following, self._private, run.hubs, self._hubs,
            counters, np.zeros(2 * run.threads * run.line, dtype=np.int64), run.memory(),
            np.iinfo(np.int64).max if horizon is None else horizon, sizes, edges, times, report,
            counters=counters,
        )  # fmt: skip
        levels = int(report[4])
        self.levels = Levels.of(sizes[:levels], edges[:levels], times[: levels + 1]) if 1 < levels <= room else None
        return report, int(counters[run.queue_counter]), levels

    def pull(self) -> tuple[Array, int, int]:
        """One level."""
        run, front = self._run, self._run.frontier
        fresh = not self._in_bits
        if fresh:
            front.prepare_sync(by_member=True)
        counters, report = run.counters(), run.report()
        run.launch(
            self._module.pull, run.graph_arrays(), run.in_graph_arrays(), run.fields(), run.edge_fields(),
            run.context(), fresh, front.member, front.stamp, run.topology.reachable(run.graph), self._front,
            self._following, self._wanting, counters, run.memory(), report,
            counters=counters,
        )  # fmt: skip
        self._front, self._following = self._following, self._front
        self._in_bits = True
        self.levels = None
        return report, int(report.reshape(run.threads, -1)[:, 4].sum()), 1

    def to_queue(self) -> None:
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
