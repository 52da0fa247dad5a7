"""One superstep by the kernels for any program: messages are merged and then applied, or applied at once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.memory import reused_empty, reused_zeros
from dromos.plan import Path

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["GeneralKernels"]


class GeneralKernels:
    """The skeletons ``supersteps`` and ``asynchronous`` for a run; their memory is allocated on first use."""

    def __init__(self, run: CpuExecution) -> None:
        self._run = proxy(run)  # weak, since the run holds this: no cycle keeps its memory alive
        self._touched = reused_empty(run.graph.num_vertices, run.graph.targets.dtype)

    def sync_push(self, path: Path) -> tuple[Array, Array]:
        """Push and merge; return the report and the counters."""
        run, front = self._run, self._run.frontier
        # when edges are written, `member` no longer separates this frontier from the next; the queue still does
        everyone = front.prepare_sync(by_member=path.driven == "td" and not run.ir.edge_fields)
        module = kernel_module(run.typed, run.analysis, "supersteps")
        counters, report = run.counters(), run.report()
        run.launch(
            module.push, run.graph_arrays(), run.fields(), self._before, run.edge_fields(), run.context(),
            self._merged, self._locks, front.got, front.member, front.stamp, everyone, front.queue, front.size,
            self._touched, front.following, run.hubs, run.buffer(), counters, run.memory(), report, run.sums(),
            counters=counters,
        )  # fmt: skip
        return report, counters

    def sync_pull(self, path: Path) -> tuple[Array, Array]:
        """Pull and merge; return the report and the counters."""
        run, front = self._run, self._run.frontier
        front.prepare_sync(by_member=True)
        everyone = path.driven == "td" or front.always  # vertices that are always active are in no queue
        module = kernel_module(run.typed, run.analysis, "supersteps")
        counters, report = run.counters(), run.report()
        run.launch(
            module.pull, run.graph_arrays(), run.in_graph_arrays(), run.fields(), self._before,
            run.in_edge_fields(), run.context(), self._merged, front.got, front.member, front.stamp, everyone,
            front.queue, front.size, self._touched, front.following, run.buffer(), counters, run.memory(), report,
            run.sums(),
            counters=counters,
        )  # fmt: skip
        return report, counters

    def async_push(self, path: Path) -> tuple[Array, Array]:
        """Push and apply at once; return the report and the counters."""
        run, front = self._run, self._run.frontier
        front.prepare_async()
        sources = self._sent if run.ir.sent else run.fields()
        module = kernel_module(run.typed, run.analysis, "asynchronous")
        counters, report = run.counters(), run.report()
        run.launch(
            module.push, run.graph_arrays(), run.fields(), self._before, sources, run.edge_fields(),
            run.context(), self._locks, front.waiting, path.driven == "td", front.queue, front.size, front.following,
            run.hubs, run.buffer(), counters, run.memory(), report,
            counters=counters,
        )  # fmt: skip
        return report, counters

    def async_pull(self, path: Path) -> tuple[Array, Array]:
        """Pull and apply at once; return the report and the counters."""
        run, front = self._run, self._run.frontier
        front.prepare_async()
        module = kernel_module(run.typed, run.analysis, "asynchronous")
        counters, report = run.counters(), run.report()
        run.launch(
            module.pull, run.graph_arrays(), run.in_graph_arrays(), run.fields(), self._before,
            run.in_edge_fields(), run.context(), self._locks, front.waiting, path.driven == "td", front.following,
            run.buffer(), counters, run.memory(), report,
            counters=counters,
        )  # fmt: skip
        return report, counters

    @cached_property
    def _before(self) -> tuple[Array, ...]:
        """Buffers for the fields as they were before a superstep."""
        return self._copies()

    @cached_property
    def _sent(self) -> tuple[Array, ...]:
        """What sources send while their state changes."""
        return self._copies()

    def _copies(self) -> tuple[Array, ...]:
        """Buffers for a copy of the fields that the program writes; for the others, the fields themselves."""
        written, state = self._run.ir.written, self._run.state
        return tuple(reused_empty(a.shape, a.dtype) if name in written else a for name, a in state.items())

    @cached_property
    def _merged(self) -> tuple[Array, ...]:
        """The accumulators of messages: the identity everywhere between supersteps."""
        n, typed = self._run.graph.num_vertices, self._run.typed
        return tuple(
            np.full(n, identity, np.uint8 if dtype.kind == "b" else dtype)
            for identity, dtype in zip(typed.identities, typed.accumulators, strict=True)
        )

    @cached_property
    def _locks(self) -> Array:
        return reused_zeros(self._run.graph.num_vertices, np.uint8)
