"""A program on a graph that is split over processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines.parts import Part, Partial
from dromos.places.driver import PlacedExecution
from dromos.places.feed import MemoryFeed
from dromos.places.hybrid.exchange import BoardExchange
from dromos.places.hybrid.pair import Pair, is_pair
from dromos.places.hybrid.split import SplitGraph
from dromos.plan import Path, Stats
from dromos.program import GraphTypes, Program, analyse
from dromos.program.forms import is_claimed

__all__ = ["HybridExecution"]

ALPHA: Final = 300.0
"""A push across the cut costs far more than a device's pull, which ends early: where to turn to pull."""


# Costs by that of an arc that a CPU pulls along: of one that it pushes along, its message then goes across the cut, of
# one that a device pushes along, or pulls along, and of a vertex whose fields are told. They were measured on one H200
# and 16 cores.
PUSHED_AWAY: Final = 128.0
_DEVICE_PUSHED: Final = 0.2
_DEVICE_PULLED: Final = 0.05
_TOLD: Final = 2.0


class HybridExecution(PlacedExecution):
    """As its base, on a graph under other ids; fields come back in the given order."""

    def __init__(
        self, program: Program, split: SplitGraph, types: GraphTypes, parts: Sequence[Part], names: Sequence[str]
    ) -> None:
        self.split = split
        feeds = [MemoryFeed(split.graph, part.first, part.last, 1) for part in parts]
        for part in parts:
            if hasattr(part, "copies_blocks"):
                part.copies_blocks = True
        exchange = BoardExchange(program.typed(types), split.graph.num_vertices)
        self._on_devices = any(part.asynchronous for part in parts)
        self._pair: Pair | None = None
        if is_pair(parts):
            typed = program.typed(types)
            self._pair = Pair(typed, analyse(typed), split.graph, parts, feeds, exchange)
        super().__init__(program, split.graph, types, parts, feeds, exchange, names)
        if self.caps.kind == "traversal" and self._on_devices:
            self.caps = replace(self.caps, constants=replace(self.caps.constants, alpha=ALPHA))

    @property
    def why_not_saved(self) -> str:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        return "a graph may be split over devices in another way by the next process"

    def _halves(self, path: Path) -> tuple[list[Partial], list[float]]:
        pair = self._pair
        if pair is None or not (pair.pushes if path.direction == "push" else pair.pulls):
            return super()._halves(path)
        if pair.leads(path, [partial.out_degree for partial in self._settled]):
            return pair.lead()
        front = self._own_all()
        return pair.halves(path, self._settled, front)

    def _statistics(self, total: Partial, finished: Any) -> Stats:
        alone = not finished and self._superstep and self._pair is not None and self._pair.is_alone(self._settled)
        return replace(super()._statistics(total, finished), switches=bool(alone))

    def step_switching(self, horizon: int | None = None) -> Stats:
        """Up to ``horizon`` supersteps of the device alone, when the others have nothing to do any more."""
        clock, pair = Stopwatch(), self._pair
        assert pair is not None
        self._settled, busy, levels = pair.go_alone(self._settled, horizon)
        self._superstep += len(levels.frontier)
        total = replace(self.exchange.reduce(self._settled, self.typed), seconds=clock.seconds())
        stats = self._statistics(total, "" if total.frontier else "frontier empty")
        self.stats = replace(stats, parts=tuple(zip(self.names, busy, strict=True)), levels=levels)
        return self.stats

    def _costs(self) -> tuple[float | None, float | None]:
        """By the slowest part: arcs that it would push along, or pull along, and what it is told for that.

        A pull of a search ends at the first message of a row, and is left to the rule for searches.
        """
        if not self._on_devices or is_claimed(self.typed, self.analysis):
            return None, None
        offsets, kinds = self.shape.offsets, [part.asynchronous for part in self.parts]
        arcs = [int(offsets[part.last]) - int(offsets[part.first]) for part in self.parts]
        active = [partial.out_degree for partial in self._settled]
        pushed = [count * (_DEVICE_PUSHED if fast else PUSHED_AWAY) for count, fast in zip(active, kinds, strict=True)]
        pulled = [count * (_DEVICE_PULLED if fast else 1.0) for count, fast in zip(arcs, kinds, strict=True)]
        if self._pair is None or not self._pair.pulls:
            return max(pushed), max(pulled) + _TOLD * self.shape.num_vertices
        device, host = (0, 1) if kinds[0] else (1, 0)
        told = _TOLD * self._settled[host].frontier
        return max(pushed), max(pulled[device] + pushed[device], self._pair.host_cost(active)) + told

    def _own_all(self) -> Array | None:
        """Have every part own its rows, also those that the host found; then the device's active vertices."""
        handed_over = None if self._pair is None else self._pair.end_lead()
        if handed_over is None:
            return None
        self._settled, front = handed_over
        return front

    @property
    def state(self) -> Mapping[str, Array]:
        """The fields of the whole graph in the given order."""
        self._own_all()
        return {name: self.split.restored(values) for name, values in super().state.items()}

    def result(self) -> Mapping[str, Array]:
        """The fields and the edge fields in the given order; they belong to the caller."""
        self._own_all()
        edges = {spec.name for spec in self.ir.edge_fields}
        return {
            name: self.split.restored_arcs(values) if name in edges else self.split.restored(values)
            for name, values in super().result().items()
        }
