"""Programs whose messages depend on their source alone: the offers between supersteps, and the pull."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from weakref import proxy

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.arc_blocks import ArcBlocks, arc_blocks, is_worth_blocks
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.cpu.skeletons import constants
from dromos.plan import Levels
from dromos.program.forms import offers_early

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["FAR_BYTES", "SPARE_PLACES", "Offers", "are_far"]

_STEPS, _SHARES = constants("offering", "STEPS", "SHARES")
(_FOLD,) = constants("common", "FOLD")
_ARCS_AT_ONCE, _MOST_AT_ONCE = 1 << 28, 64
FAR_BYTES = 8 << 20
"""Least size of offers that are prefetched: smaller ones are near, in a cache."""
SPARE_PLACES: Final = _SHARES + 2
"""Places for reductions after those of blocks and hubs."""


def are_far(offers: tuple[Array, ...]) -> bool:
    """Whether offers are prefetched.

    >>> are_far((np.zeros(1000),))
    False
    """
    return sum(column.nbytes for column in offers) >= FAR_BYTES


class Offers:
    """The message of each vertex, for this superstep and for the next."""

    def __init__(self, run: CpuExecution) -> None:
        self._run = proxy(run)  # weak, since the run holds this: its memory is released as soon as it is unused
        self._module = kernel_module(run.typed, run.analysis, "offering")
        self._hubs = run.topology.in_hubs(run.graph)
        self._parts = self._messages(int(self._hubs.pieces[-1]))
        self._now = self._messages(run.graph.num_vertices)
        # The next superstep's offers need separate memory, unless they cannot be made before it begins.
        self._early = offers_early(run.ir)
        self._next = self._messages(run.graph.num_vertices) if self._early else self._now
        self._made_for = -1  # the superstep of `_now`
        # a call of many supersteps delays reports of progress, so there are few in a call if they take long
        several = run.frontier.always and not run.ir.tables
        self._at_once = max(1, _ARCS_AT_ONCE // max(run.graph.num_arcs, 1)) if several else 1
        self._at_once = min(self._at_once, _MOST_AT_ONCE)
        self.supersteps = 0
        self.levels: Levels | None = None
        self.reductions: tuple[Any, ...] = ()

    def _messages(self, count: int) -> tuple[Array, ...]:
        return tuple(reused_empty(count, np.uint8 if d.kind == "b" else d) for d in self._run.typed.accumulators)

    def pull(self, horizon: int | None, *, in_place: bool = False) -> tuple[Array, Array]:
        """Up to ``horizon`` supersteps (None: any number), or a pass in which offers are updated in place.

        Returns the report and the counters. The last superstep's reductions are in :attr:`reductions`, the number of
        supersteps in :attr:`supersteps`, and their statistics in :attr:`levels`.
        """
        run, front = self._run, self._run.frontier
        front.prepare_sync(by_member=True)
        counters, report = run.counters(), run.report()
        at_once = self._at_once if self._early and not in_place else 1
        at_once = at_once if horizon is None else min(at_once, horizon)
        fresh = self._made_for != run.superstep
        in_blocks = run.superstep >= run.blocks_from and not in_place and self._takes_blocks
        if run.superstep < run.blocks_from and at_once > 1 and self._takes_blocks:
            at_once = int(min(at_once, run.blocks_from - run.superstep))
        times, sums = np.empty(at_once + 1, dtype=np.int64), run.unfilled_sums()
        if in_blocks:
            self._pull_blocks(fresh, counters, report, sums, at_once, times)
        else:
            run.launch(
                self._module.pull, run.graph_arrays(), run.in_graph_arrays(), run.fields(), run.edge_fields(),
                run.context(), self._now, self._now if in_place else self._next, are_far(self._now), in_place, fresh,
                self._parts, self._hubs.vertices, self._hubs.pieces, front.member, front.stamp, front.following,
                run.buffer(), counters, run.memory(), report, sums, at_once, times,
                counters=counters,
            )  # fmt: skip
        done = self.supersteps = int(report[_STEPS])
        if self._early:
            if not in_place and done % 2 == 1:
                self._now, self._next = self._next, self._now
            self._made_for = run.superstep + done
        hubs = self._blocks[0].hubs if in_blocks else self._hubs
        last = -(-run.graph.num_vertices // _FOLD) + len(hubs.vertices) + _SHARES
        self.reductions = tuple(column[last] for column in sums) if run.ir.reductions else ()
        self.levels = None
        if done > 1:
            sizes, arcs = (np.full(done, size) for size in (run.graph.num_vertices, run.graph.num_arcs))
            self.levels = Levels.of(sizes, arcs, times[: done + 1])
        return report, counters

    # ---- arcs in blocks --------------------------------------------------------------------------------------------

    @cached_property
    def _takes_blocks(self) -> bool:
        """Whether to traverse arcs in blocks, for runs of supersteps in which all vertices are active."""
        run = self._run
        offsets, sources, _ = run.in_graph_arrays()
        several = self._early and run.frontier.always and not run.ir.tables
        values = sum(dtype.itemsize for dtype in run.typed.accumulators)
        return several and is_worth_blocks(offsets, sources, values)

    @cached_property
    def _blocks(self) -> tuple[ArcBlocks, tuple[Array, ...], tuple[Array, ...]]:
        """The arcs, each thread's buffers for the messages of a block of rows, and those for messages by tile."""
        run = self._run
        offsets, sources, _ = run.in_graph_arrays()
        blocks = arc_blocks(run.graph, run.graph_arrays()[0], offsets, sources, run.threads)
        return blocks, self._messages(run.threads * blocks.rows), self._messages(blocks.order.count)

    def _pull_blocks(
        self, fresh: bool, counters: Array, report: Array, sums: tuple[Array, ...], at_once: int, times: Array
    ) -> None:
        run, front = self._run, self._run.frontier
        blocks, merged, in_order = self._blocks
        run.launch(
            kernel_module(run.typed, run.analysis, "offering_blocks").pull_blocks, run.in_graph_arrays(),
            blocks.arrays(), np.int64(blocks.rows), np.int64(blocks.longest), run.fields(), run.edge_fields(),
            run.context(), self._now, self._next, blocks.order.places, in_order, fresh, merged, self._parts,
            blocks.hubs.vertices, blocks.hubs.pieces, front.member, front.stamp, counters, run.memory(), report, sums,
            at_once, times,
            counters=counters,
        )  # fmt: skip
