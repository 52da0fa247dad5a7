"""Traversals that claim each vertex once: their frontier between calls, and the kernel's arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.cpu.skeletons import constants
from dromos.plan import Levels

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["Claims"]

(_SLACK,) = constants("claiming_rows", "SLACK")
_PUSH, _PULL, _SWITCH = constants("claiming", "PUSH", "PULL", "SWITCH")
_LEVELS, _WANTS_PULL, _PULLING, _UNTOUCHED = constants("claiming", "LEVELS", "WANTS_PULL", "PULLING", "UNTOUCHED")
(_MESSAGES,) = constants("common", "MESSAGES")
_MOST_LEVELS = 1 << 16  # levels of one call that get their own row of the trace


class Claims:
    """Levels pushed from a queue or pulled through bitmaps, any number of them in one call.

    Between calls the frontier is in the queue, and Algorithm 2's count of arcs is kept for the next call.
    """

    def __init__(self, run: CpuExecution) -> None:
        self._run = proxy(run)  # weak, since the run holds this: no cycle keeps its memory alive
        self._module = kernel_module(run.typed, run.analysis, "claiming")
        words = (run.graph.num_vertices + 63) // 64
        # the frontier, the next one, and each thread's own marks of one
        self._bits = tuple(reused_empty(size, np.uint64) for size in (words, words, run.threads * words))
        self._wanting = reused_empty(words, np.uint64)
        self._private: Array | None = None
        self._hubs = run.topology.hubs.vertices.size > 0
        self._last, self.untouched = _SWITCH, float(run.graph.num_arcs * run.caps.constants.gamma)
        self.levels: Levels | None = None
        """The statistics of each level of the last call."""

    def restore(self, untouched: float) -> None:
        """Continue after earlier levels: the frontier is in the queue, and ``untouched`` arcs are left to visit."""
        self._last, self.untouched = _PUSH, untouched

    def push(self, horizon: int | None) -> tuple[Array, int, int]:
        """Push up to ``horizon`` levels (None: all); return the report, the next frontier's size, the levels done."""
        return self._traverse(_PUSH, horizon)

    def pull(self, horizon: int | None) -> tuple[Array, int, int]:
        """As :meth:`push`, but pull."""
        return self._traverse(_PULL, horizon)

    def switch(self, horizon: int | None) -> tuple[Array, int, int]:
        """As :meth:`push`, switching between push and pull by the planner's rule.

        Before its first pull a traversal may return to request the arcs of the transpose, which a graph makes on
        demand.
        """
        run = self._run
        if run.caps.average_degree < run.caps.constants.delta:
            return self._traverse(_PUSH, horizon)
        report, size, levels = self._traverse(_SWITCH, horizon)
        while report[_WANTS_PULL]:
            run.topology.in_rows(run.graph)
            first, told = report, self.levels
            run.frontier.advance(size, stamped=False)
            run.superstep += levels
            report, size, more = self._traverse(_SWITCH, None if horizon is None else horizon - levels)
            report.reshape(run.threads, -1)[:, _MESSAGES] += first.reshape(run.threads, -1)[:, _MESSAGES]
            run.superstep -= levels
            levels += more
            self.levels = None if told is None or self.levels is None else told.then(self.levels)
        return report, size, levels

    def _traverse(self, rule: int, horizon: int | None) -> tuple[Array, int, int]:
        run, front = self._run, self._run.frontier
        front.prepare_claims()
        if self._private is None:  # touched only as far as the frontiers reach
            self._private = reused_empty(run.threads * (run.graph.num_vertices + _SLACK), front.queue.dtype)
        counters, report = run.counters(), run.report()
        room = min(horizon or _MOST_LEVELS, _MOST_LEVELS)
        # not cleared, which would take longer than a small search: the kernel writes the rows of all levels that it
        # runs
        sizes, edges, times = (np.empty(size, dtype=np.int64) for size in (room, room, room + 1))
        pulled = np.empty(room, dtype=np.bool_)
        in_graph, reachable = run.topology.in_rows_made(run.graph, make=rule == _PULL)
        in_graph = run.weighted(in_graph)
        in_edges = run.in_edge_fields() if reachable.size else run.edge_fields()
        constants = run.caps.constants
        run.launch(
            self._module.traverse, run.graph_arrays(), in_graph, run.fields(), run.edge_fields(), in_edges,
            run.context(), front.queue, front.size, front.following, self._private, run.hubs, self._hubs, reachable,
            self._bits, self._wanting, counters,
            np.zeros(2 * run.threads * run.line, dtype=np.int64), run.memory(), rule, self._last,
            self.untouched, constants.alpha, run.graph.num_vertices / constants.beta,
            np.iinfo(np.int64).max if horizon is None else horizon, sizes, edges, times, pulled, report,
            counters=counters,
        )  # fmt: skip
        levels = int(report[_LEVELS])
        self.untouched = float(report[_UNTOUCHED])
        if levels:
            self._last = _PULL if report[_PULLING] else _PUSH
        self.levels = None
        if 1 <= levels <= room:
            told = Levels.of(sizes[:levels], edges[:levels], times[: levels + 1])
            self.levels = replace(told, pulled=pulled[:levels]) if rule == _SWITCH else told if levels > 1 else None
        return report, int(counters[run.queue_counter]), levels
