"""Delta-stepping over parts: every part passes on what lies below a limit, all exchange, and the limit rises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeGuard

from dromos.engines.parts import Part, Partial
from dromos.graph.slices import GraphSlice
from dromos.places.exchange import Exchange
from dromos.places.feed import Feed
from dromos.plan import Path
from dromos.program import TypedProgram

__all__ = ["ORDERED", "Ordered", "OrderedPart", "OrderedRun", "can_order", "rising_limit"]

ORDERED = Path("async", "push", "dd")


class OrderedPart(Part, Protocol):
    """A part that settles vertices in the order of a field; see :mod:`dromos.engines.cpu.ordered_part`."""

    least: float

    def step_width(self, piece: GraphSlice | None) -> float: ...
    def relax(self, piece: GraphSlice | None, limit: float) -> None: ...


def can_order(parts: Sequence[Part], feeds: Sequence[Feed]) -> TypeGuard[Sequence[OrderedPart]]:
    """Whether all parts can, and each has its rows in memory in one slice: it goes through them again and again."""
    in_one_slice = all(feed.in_memory and len(feed.holding(None, "push")) < 2 for feed in feeds)
    return in_one_slice and all(getattr(part, "ordered", False) for part in parts)


def rising_limit(limit: float, least: float, width: float) -> float:
    """The limit of the next superstep, where no active value lies below ``least``.

    >>> rising_limit(2.0, 1.0, 0.5), rising_limit(2.0, 2.0, 0.5)
    (2.0, 2.5)
    """
    # a great number plus the width may be that number: the limit has to rise all the same
    return limit if least < limit else max(least + width, math.nextafter(least, math.inf))


class OrderedRun(Protocol):
    """The ordered path of one run."""

    def step(self, typed: TypedProgram) -> Partial:
        """One superstep; there is no frontier left where it reports none, and its size may be an estimate."""

    def store(self) -> None:
        """Leave the parts as after any superstep, since somebody may look at them."""


class Ordered:
    """The limit of a run; :meth:`step` is what ``PlacedExecution`` does in a superstep on the ordered path."""

    def __init__(self, parts: Sequence[OrderedPart], feeds: Sequence[Feed], exchange: Exchange) -> None:
        self._parts, self._exchange = parts, exchange
        self._pieces = [next(iter(feed.fetch(feed.holding(None, "push"), "push")), None) for feed in feeds]
        widths = [part.step_width(piece) for part, piece in zip(parts, self._pieces, strict=True)]
        self._width = exchange.largest(widths)
        self._limit = -math.inf
        self._least = -math.inf

    def step(self, typed: TypedProgram) -> Partial:
        """Pass on what lies below the limit, exchange what others are to know, and look where the next limit lies."""
        self._limit = rising_limit(self._limit, self._least, self._width)
        before = self._exchange.sent_bytes
        for part, piece in zip(self._parts, self._pieces, strict=True):
            part.relax(piece, self._limit)
        self._exchange.deliver(self._parts)
        settled = [part.settle() for part in self._parts]
        settled[0] = replace(settled[0], sent=self._exchange.sent_bytes - before)
        total = self._exchange.reduce(settled, typed)
        self._least = -self._exchange.largest([-part.least for part in self._parts])
        for part in self._parts:
            part.finish(total.reductions)
        return total

    def store(self) -> None:
        """Called before somebody looks at the parts; they are as they should be."""
