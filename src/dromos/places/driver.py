"""One superstep over parts and their slices: the same for slices in memory, a stream, a hybrid and a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines import GraphShape, caps_for
from dromos.engines.parts import Part, Partial
from dromos.engines.saving import Saved
from dromos.errors import FieldOverflowError, InvalidArgumentError
from dromos.places.exchange import Exchange
from dromos.places.feed import Feed
from dromos.places.ordered import ORDERED, Ordered, OrderedPart, OrderedRun, can_order
from dromos.places.saving import restore_parts, save_parts
from dromos.plan import PATHS, Caps, Path, Stats, require_legal
from dromos.plan.path import Direction
from dromos.program import Expr, GraphTypes, Program, analyse, evaluate
from dromos.program.expr import FALSE

__all__ = ["EXCHANGE", "Halves", "PlacedExecution", "sends_all_rows"]

EXCHANGE = "exchange"
"""The name of the exchange time in the trace."""

_WHY_SYNCHRONOUS = (
    "over several parts, and on this engine over slices, no vertex changes before all messages are there, so no path "
    "is asynchronous but that of programs with a priority whose parts have one slice each"
)
_WHY_NO_OTHERS = "with one slice, async-push-dd settles vertices by priority, and no other path is asynchronous"


class Halves(NamedTuple):
    """The outcome of the two halves of a superstep."""

    settled: list[Partial]
    """The partial result of each part."""
    busy: list[float]
    """The seconds that each part worked."""
    exchanging: float
    """The seconds that this process spent exchanging between parts; devices may work meanwhile."""
    directions: tuple[Direction, ...] = ()
    """The direction of each part, where they differ."""


class _ApplyingPart(Part, Protocol):
    """A part that can apply messages at once; see :mod:`dromos.engines.cpu.asynchronous_slices`."""

    rows_serve_both: bool


def _can_apply_at_once(parts: Sequence[Part]) -> TypeGuard[Sequence[_ApplyingPart]]:
    return len(parts) == 1 and getattr(parts[0], "applies_at_once", False)


def sends_all_rows(path: Path) -> bool:
    """Whether a superstep sends from all rows whose vertices are active when their slice comes by."""
    return path.sync == "async" and path.direction == "push" and path.driven == "td"


class PlacedExecution:
    """A program on the parts of a graph that live in this process; see :class:`dromos.engines.Execution`."""

    def __init__(
        self,
        program: Program,
        shape: GraphShape,
        types: GraphTypes,
        parts: Sequence[Part],
        feeds: Sequence[Feed],
        exchange: Exchange,
        names: Sequence[str] = (),
        ordered: Callable[[Sequence[OrderedPart], Sequence[Feed], Exchange], OrderedRun] = Ordered,
    ) -> None:
        """``names``: the names of the parts in the trace, which then has the time of each.

        ``ordered``: makes the run that settles vertices in the order of a field, where the parts can.
        """
        self.program, self.shape = program, shape
        self.parts, self.feeds, self.exchange, self.names = parts, feeds, exchange, names
        self.typed = program.typed(types)
        self.ir = self.typed.ir
        self.analysis = analyse(self.typed)
        directions = [d for d in ("push", "pull") if all(d in feed.directions for feed in feeds)]
        self._ordered: OrderedRun | None = None
        self._make_ordered = ordered
        orders = not exchange.in_grid and can_order(parts, feeds)
        at_once = False
        if not orders and not exchange.in_grid and _can_apply_at_once(parts):
            at_once = True
            parts[0].rows_serve_both = getattr(feeds[0], "rows_serve_both", False)
        offered = tuple(
            path for path in PATHS
            if (orders and path == ORDERED)
            or (path.direction in directions and (at_once or path.sync == "sync"))
        )  # fmt: skip
        why = "" if at_once else _WHY_NO_OTHERS if orders else _WHY_SYNCHRONOUS
        if "pull" not in directions:
            why += "; " if why else ""
            why += "without in-rows (the transpose) nothing can be pulled"
        self.caps: Caps = caps_for(
            self.ir, self.analysis, shape,
            supported=offered, why_no_others=why, ordered=orders, in_place=at_once, **parts[0].planning,
        )  # fmt: skip
        # asynchronous parts start first, so that the others work while their kernels run, and are waited for last
        self._order = sorted(range(len(parts)), key=lambda number: not parts[number].asynchronous)
        self._superstep = 0
        self._settled = [part.start() for part in parts]
        started = exchange.reduce(self._settled, self.typed)
        overflow = started.overflow or self._on_edges("start_edges", None)
        self._require_fit(overflow)
        self._reductions = started.reductions
        for part in parts:
            part.finish(started.reductions)
        self.stats = self._statistics(started, "" if started.frontier else "frontier empty")

    @property
    def state(self) -> Mapping[str, Array]:
        """The fields of the whole graph, from the part that owns each row."""
        if len(self.parts) == 1 and self.parts[0].last - self.parts[0].first == self.shape.num_vertices:
            return self.parts[0].state
        return {spec.name: self.exchange.gather(self.parts, spec.name) for spec in self.ir.fields}

    @property
    def reductions(self) -> Mapping[str, Any]:
        """The reductions over all parts by name."""
        return {spec.name: value for spec, value in zip(self.ir.reductions, self._reductions, strict=True)}

    def result(self) -> Mapping[str, Array]:
        """The fields and the edge fields (in the order of the arcs); they belong to the caller."""
        edges = {spec.name: self.exchange.gather(self.parts, spec.name, edges=True) for spec in self.ir.edge_fields}
        return {**{spec.name: self.exchange.gather(self.parts, spec.name) for spec in self.ir.fields}, **edges}

    def whole_field(self, name: str) -> Array:
        """A field of the whole graph, read-only; without a copy where all parts read it from one memory."""
        shared = None if self._ordered is None else self._ordered.shared(name)
        return self.exchange.gather(self.parts, name) if shared is None else shared

    @property
    def why_not_saved(self) -> str:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        return "" if all(hasattr(part, "save") for part in self.parts) else "its state lies on a device"

    def save(self) -> Saved:
        """See :class:`dromos.engines.saving.ResumableExecution`: what the parts of this process own."""
        return save_parts(self.parts)

    def restore(self, saved: Saved, stats: Stats) -> None:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        self._reductions = restore_parts(self.parts, self.exchange, saved, stats.superstep)
        self._superstep, self.stats = stats.superstep, stats

    def agree(self, seconds: float) -> float:
        """The longest time of all processes, the same in each, so that all of them decide alike."""
        return self.exchange.largest([seconds])

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """One superstep on ``path``, whatever the horizon: ranks may have to communicate after each."""
        require_legal(path, self.analysis, self.ir.name)
        if path not in self.caps.paths:
            raise InvalidArgumentError(f"path={str(path)!r}: {self.caps.why_no_others}")
        clock, sent_before = Stopwatch(), self.exchange.sent_bytes
        if path == ORDERED and self.caps.ordered:
            return self._step_in_order(horizon, clock)
        self._ordered = None
        senders = [part.frontier for part in self.parts] if self.ir.edge_fields else None
        if self.ir.tables:
            self.exchange.refresh(self.parts, "lookup")
        settled, busy, exchanging, directions = self._halves(path)
        settled[0] = replace(settled[0], seconds=clock.seconds(), sent=self.exchange.sent_bytes - sent_before)
        self._settled = settled
        total = self.exchange.reduce(settled, self.typed)
        overflow = total.overflow
        if not overflow and self.ir.edge_fields:
            self.exchange.refresh(self.parts, "edges")
            overflow = self._on_edges("write_edges", senders)
        self._require_fit(overflow)
        self._reductions = total.reductions
        converged = self.ir.converged is not FALSE and bool(
            evaluate(self.ir.converged, self.typed.typing, self._global)
        )
        for part in self.parts:
            part.finish(total.reductions)
        self._superstep += 1
        ended = "converged" if converged else "" if total.frontier else "frontier empty"
        each = ", ".join(f"{name} {direction}" for name, direction in zip(self.names, directions, strict=False))
        self.stats = replace(self._statistics(total, ended), parts=self._told(busy, exchanging), directions=each)
        return self.stats

    def _told(self, busy: Sequence[float], exchanging: float) -> tuple[tuple[str, float], ...]:
        """The seconds that each part worked, and those that the exchange took, by their names in the trace."""
        return (*zip(self.names, busy, strict=True), (EXCHANGE, exchanging)) if self.names else ()

    def _halves(self, path: Path) -> Halves:
        """Send messages, then update the vertices."""
        telling = Stopwatch()
        self.exchange.refresh(self.parts, path.direction)
        exchanging, busy = telling.seconds(), [0.0] * len(self.parts)
        for number in self._order:
            part, feed, own = self.parts[number], self.feeds[number], Stopwatch()
            for piece in feed.fetch(self._with_work(part, feed, path), path.direction):
                part.send(piece, path)
            busy[number] = own.seconds()
        if path.direction == "push" or self.exchange.in_grid:  # otherwise a pull yields messages to own vertices only
            delivering = Stopwatch()
            self.exchange.deliver(self.parts)
            exchanging += delivering.seconds()
        for number in self._order:
            self.parts[number].begin_settle()
        found = {}
        for number in reversed(self._order):
            own = Stopwatch()
            found[number] = self.parts[number].settle()
            # a part whose kernels ran meanwhile reports its own time
            busy[number] = found[number].seconds or busy[number] + own.seconds()
        # merged in a fixed order, whichever part finished first
        return Halves([found[number] for number in range(len(self.parts))], busy, exchanging)

    def _step_in_order(self, horizon: int | None, clock: Stopwatch) -> Stats:
        """Supersteps on the ordered path until the frontier is empty, or as many as the horizon allows."""
        if self._ordered is None:
            assert can_order(self.parts, self.feeds)
            self._ordered = self._make_ordered(self.parts, self.feeds, self.exchange)
        messages = sent = 0
        while True:
            total = self._ordered.step(self.typed)
            messages, sent = messages + total.messages, sent + total.sent
            self._superstep += 1
            if horizon is not None:
                horizon -= 1
            if not total.frontier or horizon == 0:
                break
        self._ordered.store()
        total = replace(total, messages=messages, sent=sent, seconds=clock.seconds())
        self.stats = self._statistics(total, "" if total.frontier else "frontier empty")
        return self.stats

    @staticmethod
    def _with_work(part: Part, feed: Feed, path: Path) -> Array:
        """The slices with an active vertex (push), or one that wants messages (pull).

        All slices on a push whose rows may become active on the way.
        All slices where fetching is free and the check is not worthwhile: for a single slice, and on a device, which
        would have to copy its frontier to the host.
        """
        every = feed.holding(None, path.direction)
        if sends_all_rows(path) or (feed.in_memory and (len(every) <= 1 or part.asynchronous)):
            return every
        return feed.holding(part.frontier if path.direction == "push" else part.wanting(), path.direction)

    def _on_edges(self, method: str, senders: Sequence[Array | None] | None) -> str:
        """Call a method of each part for its out-slices, all or those of ``senders``; return any overflow."""
        if not self.ir.edge_fields:
            return ""
        found = []
        for number, (part, feed) in enumerate(zip(self.parts, self.feeds, strict=True)):
            vertices = None if senders is None else senders[number]
            texts = [getattr(part, method)(piece) for piece in feed.fetch(feed.holding(vertices, "push"), "push")]
            found.append(Partial(overflow=next(filter(None, texts), "")))
        return self.exchange.reduce(found, self.typed).overflow

    def _require_fit(self, overflow: str) -> None:
        if overflow:
            raise FieldOverflowError(overflow)

    def _global(self, node: Expr) -> Any:
        """The value of a symbol that belongs to no vertex."""
        match node.op:
            case "reduction":
                return self.reductions[node.attr[0]]
            case "param":
                value = self.program.params[node.attr[0]]
                return value[node.attr[1]] if np.ndim(value) else value
            case "superstep":
                return self._superstep
        return getattr(self.shape, node.op)

    def _costs(self) -> tuple[float | None, float | None]:
        """The costs of a push and a pull of the next superstep, where they are known."""
        return None, None

    def _statistics(self, total: Partial, finished: Any) -> Stats:
        push_cost, pull_cost = self._costs()
        return Stats(
            superstep=self._superstep,
            frontier=total.frontier,
            out_degree=total.out_degree,
            in_degree=total.in_degree,
            messages=total.messages,
            bytes=total.messages * self.typed.message_bytes,
            seconds=total.seconds,
            push_cost=push_cost,
            pull_cost=pull_cost,
            sent=total.sent,
            finished=finished,
        )
