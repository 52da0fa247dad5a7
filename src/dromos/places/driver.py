"""One superstep over parts and their slices: the same for slices in memory, a stream, a hybrid and a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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

__all__ = ["EXCHANGE", "Halves", "PlacedExecution"]

EXCHANGE = "exchange"
"""What the time for telling other parts is called in the trace."""

_WHY_SYNCHRONOUS = (
    "over slices and parts no vertex changes before all messages are there, so no path is asynchronous "
    "but that of programs with a priority whose parts have one slice each"
)


class Halves(NamedTuple):
    """What came of the two halves of a superstep."""

    settled: list[Partial]
    """Of each part."""
    busy: list[float]
    """The seconds that each part worked."""
    exchanging: float
    """The seconds in which this process told parts of others; devices may work meanwhile."""
    directions: tuple[Direction, ...] = ()
    """That of each part, where they differ."""


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
        """``names``: what the parts are called in the trace, which then tells the time of each.

        ``ordered``: what runs parts in the order of a field, where they can.
        """
        self.program, self.shape = program, shape
        self.parts, self.feeds, self.exchange, self.names = parts, feeds, exchange, names
        self.typed = program.typed(types)
        self.ir = self.typed.ir
        self.analysis = analyse(self.typed)
        directions = [d for d in ("push", "pull") if all(d in feed.directions for feed in feeds)]
        offered = tuple(path for path in PATHS if path.sync == "sync" and path.direction in directions)
        self._ordered: OrderedRun | None = None
        self._make_ordered = ordered
        orders = not exchange.in_grid and can_order(parts, feeds)
        if orders:
            offered += (ORDERED,)
        why = _WHY_SYNCHRONOUS
        if "pull" not in directions:
            why += "; and without in-rows (the transpose) nothing can be pulled"
        self.caps: Caps = caps_for(
            self.ir, self.analysis, shape, supported=offered, why_no_others=why, ordered=orders, **parts[0].planning
        )
        # who returns while its kernels run goes first, so that the others work meanwhile, and is asked last
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
        """A field of the whole graph, to be read only; without a copy where all parts read it in one memory."""
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
        """The longest time of all processes, the same in each: by it they decide together."""
        return self.exchange.largest([seconds])

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """One superstep on ``path``, whatever the horizon: others may have to be asked after each."""
        require_legal(path, self.analysis, self.ir.name)
        if path not in self.caps.paths:
            raise InvalidArgumentError(f"path={str(path)!r}: {self.caps.why_no_others}")
        clock, sent_before = Stopwatch(), self.exchange.sent_bytes
        if path == ORDERED:
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
        """Messages, and what becomes of the vertices."""
        telling = Stopwatch()
        self.exchange.refresh(self.parts, path.direction)
        exchanging, busy = telling.seconds(), [0.0] * len(self.parts)
        for number in self._order:
            part, feed, own = self.parts[number], self.feeds[number], Stopwatch()
            for piece in feed.fetch(self._with_work(part, feed, path.direction), path.direction):
                part.send(piece, path)
            busy[number] = own.seconds()
        if path.direction == "push" or self.exchange.in_grid:  # else who pulls gets messages to own vertices only
            delivering = Stopwatch()
            self.exchange.deliver(self.parts)
            exchanging += delivering.seconds()
        for number in self._order:
            self.parts[number].begin_settle()
        found = {}
        for number in reversed(self._order):
            own = Stopwatch()
            found[number] = self.parts[number].settle()
            # whose kernels ran on meanwhile tells by itself how long
            busy[number] = found[number].seconds or busy[number] + own.seconds()
        # merged in the same order whoever was first
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
    def _with_work(part: Part, feed: Feed, direction: Direction) -> Array:
        """The slices with an active vertex (push), or one that wants messages (pull).

        All of them where slices cost nothing to fetch and it is not worth asking: for a single one, and on a device,
        which would have to tell the host who is active.
        """
        every = feed.holding(None, direction)
        if feed.in_memory and (len(every) <= 1 or part.asynchronous):
            return every
        return feed.holding(part.frontier if direction == "push" else part.wanting(), direction)

    def _on_edges(self, method: str, senders: Sequence[Array | None] | None) -> str:
        """Call a method of each part for its out-slices, all or those of ``senders``; an overflow of any part."""
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
        """What a push and a pull of the next superstep would cost, where it is known."""
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
