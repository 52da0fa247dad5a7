"""A program on a graph that is split over processors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines.parts import Part, Partial
from dromos.engines.saving import Saved
from dromos.errors import DeviceError, DromosError, InvalidArgumentError
from dromos.places.driver import Halves, PlacedExecution
from dromos.places.feed import MemoryFeed
from dromos.places.hybrid.exchange import BoardExchange
from dromos.places.hybrid.pair import Pair, is_pair
from dromos.places.hybrid.split import SplitGraph
from dromos.plan import Path, Stats
from dromos.program import GraphTypes, Program, analyse
from dromos.program.forms import is_claimed

__all__ = ["HybridExecution"]

ALPHA: Final = 300.0
"""The threshold for turning to pull: a push across the cut costs far more than a device's pull, which ends early."""


# Costs relative to an arc that a CPU pulls along: an arc that it pushes along with the message crossing the cut, an arc
# that a device pushes along, one that a device pulls along, and a vertex whose fields are exchanged. They were measured
# on one H200 and 16 cores.
PUSHED_AWAY: Final = 128.0
_DEVICE_PUSHED: Final = 0.2
_DEVICE_PULLED: Final = 0.05
_TOLD: Final = 2.0
_SPLIT, _BOUNDS = "split", "bounds"


class HybridExecution(PlacedExecution):
    """As its base, on a renumbered graph; results are in the given order."""

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

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """As its base; a processor that fails ends the run with an error that names it."""
        try:
            return super().step(path, horizon)
        except (RuntimeError, MemoryError) as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> Exception:
        if isinstance(error, DromosError):
            return error
        return DeviceError(
            f"device={'+'.join(self.names)!r}: a processor failed in superstep {self._superstep} "
            f"({type(error).__name__}: {error}); leave it out, or give checkpoint= to go on from the last one"
        )

    def save(self) -> Saved:
        """See :class:`dromos.engines.saving.ResumableExecution`: what each part owns, and how the graph is split."""
        self._own_all()
        return {**super().save(), _SPLIT: np.array(self.split.split), _BOUNDS: np.array(self.split.bounds)}

    def restore(self, saved: Saved, stats: Stats) -> None:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        split, bounds = str(saved[_SPLIT]), tuple(saved[_BOUNDS].tolist())
        if (split, bounds) != (self.split.split, self.split.bounds):
            raise InvalidArgumentError(
                f"the graph was split differently when the run was saved: split={split!r} with {bounds[1]:,} vertices "
                f"in the first part, and now split={self.split.split!r} with {self.split.bounds[1]:,}; give the same "
                "share= and split= as before, or remove the folder to start again"
            )
        if self._pair is not None:
            self._pair.end_lead()
        super().restore(saved, stats)
        self._settled = [
            self._front_of(part, saved.get(f"{number}.frontier")) for number, part in enumerate(self.parts)
        ]
        push_cost, pull_cost = self._costs()
        self.stats = replace(stats, push_cost=push_cost, pull_cost=pull_cost, switches=self._is_alone(stats.finished))

    def _front_of(self, part: Part, front: Array | None) -> Partial:
        """The active vertices of a part and the arcs that leave them, as counts; ``front``: None means all vertices."""
        offsets = self.shape.offsets
        if front is None:
            return Partial(part.last - part.first, int(offsets[part.last]) - int(offsets[part.first]))
        return Partial(len(front), int((offsets[front + 1] - offsets[front]).sum()))

    def _halves(self, path: Path) -> Halves:
        pair = self._pair
        if pair is None or not (pair.pushes if path.direction == "push" else pair.pulls):
            return super()._halves(path)
        if pair.leads(path, [partial.out_degree for partial in self._settled]):
            return pair.lead()
        front = self._own_all()
        return pair.halves(path, self._settled, front)

    def _statistics(self, total: Partial, finished: Any) -> Stats:
        return replace(super()._statistics(total, finished), switches=self._is_alone(finished))

    def _is_alone(self, finished: object) -> bool:
        if finished or not self._superstep or self._pair is None:
            return False
        return self._pair.is_alone(self._settled)

    def step_switching(self, horizon: int | None = None) -> Stats:
        """Up to ``horizon`` supersteps of the device alone, once the others have nothing left to do."""
        clock, pair = Stopwatch(), self._pair
        assert pair is not None
        try:
            (self._settled, busy, exchanging, _), levels = pair.go_alone(self._settled, horizon)
        except (RuntimeError, MemoryError) as error:
            raise self._failure(error) from error
        self._superstep += len(levels.frontier)
        total = replace(self.exchange.reduce(self._settled, self.typed), seconds=clock.seconds())
        stats = self._statistics(total, "" if total.frontier else "frontier empty")
        self.stats = replace(stats, parts=self._told(busy, exchanging), levels=levels)
        return self.stats

    def _costs(self) -> tuple[float | None, float | None]:
        """The cost of the slowest part: the arcs that it would push or pull along, and the data it receives for that.

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
        """Hand every part its rows, including those that the host found; return the device's active vertices."""
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
        """The fields and the edge fields in the given order; the caller owns the arrays."""
        self._own_all()
        edges = {spec.name for spec in self.ir.edge_fields}
        return {
            name: self.split.restored_arcs(values) if name in edges else self.split.restored(values)
            for name, values in super().result().items()
        }
