"""Programs whose messages depend on their source alone: where the offers lie between supersteps, and the pull."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.memory import reused_empty
from dromos.program.forms import offers_early

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["Offers"]


class Offers:
    """The message of each vertex, for this superstep and for the next."""

    def __init__(self, run: CpuExecution) -> None:
        self._run = proxy(run)  # which holds this: its memory is to be free as soon as nobody uses it
        self._module = kernel_module(run.typed, run.analysis, "offering")
        self._hubs = run.topology.in_hubs(run.graph)
        self._parts = self._messages(int(self._hubs.pieces[-1]))
        self._now = self._messages(run.graph.num_vertices)
        # Those of the next superstep have to wait beside them, unless they cannot be made before it begins.
        self._early = offers_early(run.ir)
        self._next = self._messages(run.graph.num_vertices) if self._early else self._now
        self._made_for = -1  # the superstep that `_now` is for

    def _messages(self, count: int) -> tuple[Array, ...]:
        return tuple(reused_empty(count, np.uint8 if d.kind == "b" else d) for d in self._run.typed.accumulators)

    def pull(self, *, in_place: bool = False) -> tuple[Array, Array]:
        """One superstep, or a pass in which offers are renewed in place; the report and the counters."""
        run, front = self._run, self._run.frontier
        front.prepare_sync(by_member=True)
        counters, report = run.counters(), run.report()
        fresh = self._made_for != run.superstep
        run.launch(
            self._module.pull, run.graph_arrays(), run.in_graph_arrays(), run.fields(), run.edge_fields(),
            run.context(), self._now, self._now if in_place else self._next, in_place, fresh, self._parts,
            self._hubs.vertices, self._hubs.pieces, front.member, front.stamp, front.following, run.buffer(), counters,
            run.memory(), report, run.sums(),
            counters=counters,
        )  # fmt: skip
        if self._early:
            if not in_place:
                self._now, self._next = self._next, self._now
            self._made_for = run.superstep + 1
        return report, counters
