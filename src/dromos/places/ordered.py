"""Delta-stepping over parts: every part passes on what lies below a limit, all exchange, and the limit rises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeGuard

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.parts import Part, Partial
from dromos.graph.slices import GraphSlice
from dromos.places.exchange import Exchange
from dromos.places.feed import Feed
from dromos.plan import Path
from dromos.program import TypedProgram

__all__ = ["ORDERED", "Ordered", "OrderedPart", "OrderedRun", "RisingLimit", "can_order"]

ORDERED = Path("async", "push", "dd")


class OrderedPart(Part, Protocol):
    """A part that settles vertices in the order of a field; see :mod:`dromos.engines.cpu.ordered_part`."""

    least: float
    shape: GraphShape

    def step_width(self, piece: GraphSlice | None) -> float: ...
    def relax(self, piece: GraphSlice | None, limit: float) -> None: ...


def can_order(parts: Sequence[Part], feeds: Sequence[Feed]) -> TypeGuard[Sequence[OrderedPart]]:
    """Whether all parts can, and each has its rows in memory in one slice: it goes through them again and again."""
    in_one_slice = all(feed.in_memory and len(feed.holding(None, "push")) < 2 for feed in feeds)
    return in_one_slice and all(getattr(part, "ordered", False) for part in parts)


class RisingLimit:
    """Up to which value vertices pass theirs on: it rises when no value lies below it any more.

    A wide step passes on values that fall again, a narrow one costs an exchange for little work. So steps begin narrow
    and become wider where there is little to do, as in the tail of a skewed graph; each by the arcs that the last one
    looked at. It matters for time alone.

    >>> limit = RisingLimit(32.0, 1000)
    >>> [limit.over(least) for least in (0.0, -math.inf)]
    [1.0, 1.0]
    >>> limit.looked_at(90)
    >>> limit.over(1.5)
    2.5
    >>> limit.looked_at(80)
    >>> limit.over(2.5)
    6.5
    """

    _NARROW, _WIDE = 1 / 32, 16.0  # the first and the widest step, as parts of the given width
    _LITTLE, _MUCH = 0.1, 0.3  # of all arcs
    _WIDER, _NARROWER = 4.0, 0.5

    def __init__(self, width: float, num_arcs: int) -> None:
        self.value = -math.inf
        self._width, self._widest, self._num_arcs = width * self._NARROW, width * self._WIDE, max(num_arcs, 1)
        self._looked = self._before = 0

    def over(self, least: float) -> float:
        """The limit of the next superstep, where no active value lies below ``least``."""
        if least >= self.value:
            share = self._looked / self._num_arcs
            if share > self._MUCH:
                self._width *= self._NARROWER
            elif share < self._LITTLE and 0 < self._looked <= self._before:
                self._width = min(self._WIDER * self._width, self._widest)
            self._before, self._looked = self._looked or self._before, 0
            # a great number plus the width may be that number: the limit has to rise all the same
            self.value = max(least + self._width, math.nextafter(least, math.inf))
        return self.value

    def looked_at(self, arcs: int) -> None:
        """All parts together looked at so many arcs in a superstep."""
        self._looked += arcs


class OrderedRun(Protocol):
    """The ordered path of one run."""

    def step(self, typed: TypedProgram) -> Partial:
        """One superstep; there is no frontier left where it reports none, and its size may be an estimate."""

    def split(self) -> tuple[float, float]:
        """The seconds that parts computed and exchanged since the last call, as :class:`Exchange` tells them."""

    def store(self) -> None:
        """Leave the parts as after any superstep, since somebody may look at them."""

    def shared(self, name: str) -> Array | None:
        """A field of the whole graph as the last superstep left it, if all parts read it in one memory; not to be
        written."""


class Ordered:
    """The limit of a run; :meth:`step` is what ``PlacedExecution`` does in a superstep on the ordered path."""

    def __init__(self, parts: Sequence[OrderedPart], feeds: Sequence[Feed], exchange: Exchange) -> None:
        self._parts, self._exchange = parts, exchange
        self._pieces = [next(iter(feed.fetch(feed.holding(None, "push"), "push")), None) for feed in feeds]
        widths = [part.step_width(piece) for part, piece in zip(parts, self._pieces, strict=True)]
        self._limit = RisingLimit(exchange.largest(widths), parts[0].shape.num_arcs)
        self._least = -math.inf
        self._computed = self._exchanged = 0.0

    def step(self, typed: TypedProgram) -> Partial:
        """Pass on what lies below the limit, exchange what others are to know, and look where the next limit lies."""
        clock, limit, before = Stopwatch(), self._limit.over(self._least), self._exchange.sent_bytes
        for part, piece in zip(self._parts, self._pieces, strict=True):
            part.relax(piece, limit)
        self._exchange.deliver(self._parts)
        settled = [part.settle() for part in self._parts]
        settled[0] = replace(settled[0], seconds=clock.seconds(), sent=self._exchange.sent_bytes - before)
        total = self._exchange.reduce(settled, typed)
        computed, exchanged = self._exchange.split
        self._computed, self._exchanged = self._computed + computed, self._exchanged + exchanged
        self._limit.looked_at(total.messages)
        self._least = -self._exchange.largest([-part.least for part in self._parts])
        for part in self._parts:
            part.finish(total.reductions)
        return total

    def split(self) -> tuple[float, float]:
        """See :class:`OrderedRun`."""
        found, self._computed, self._exchanged = (self._computed, self._exchanged), 0.0, 0.0
        return found

    def store(self) -> None:
        """See :class:`OrderedRun`: they are always so."""

    def shared(self, name: str) -> Array | None:
        """See :class:`OrderedRun`: each part has its own rows."""
        return None
