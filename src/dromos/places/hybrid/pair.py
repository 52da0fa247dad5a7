"""A superstep of a GPU and a CPU that share a graph: the GPU does what crosses the cut, and is waited for once.

Arcs across the cut are with both parts, as out-arcs of the one and as in-arcs of the other. In a pull the GPU takes
them all: it pulls along the in-rows of its own vertices, and pushes along their out-rows to the CPU's vertices. So the
CPU is left with the arcs within its own part, and need not be told who is active on the GPU. Of these arcs it goes
along those of active vertices, or along all, whichever are fewer.

In a push each part sends along the out-rows of its vertices. The GPU takes over the CPU's messages, lists its own and
goes on to settle its vertices; the host waits for all of that at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeGuard

import numpy as np

from dromos.compiling import Stopwatch
from dromos.engines.board import can_post
from dromos.engines.parts import Part, Partial
from dromos.graph import Graph
from dromos.graph.slices import GraphSlice
from dromos.identity_cache import IdentityCache
from dromos.places.exchange import Exchange
from dromos.places.feed import Feed
from dromos.plan import Path
from dromos.plan.path import Direction
from dromos.program import Analysis, TypedProgram
from dromos.program.forms import is_claimed, sums_floats

__all__ = ["PUSHED", "Pair", "inner_slice", "is_pair"]

PUSHED: Final = 32.0
"""The cost of an arc that a CPU pushes along, where one that it pulls along costs 1."""
_PROBED: Final = 16  # arcs, about, that a search looks at for each vertex
_DIRECTIONS: Final[dict[Direction, Path]] = {"push": Path("sync", "push", "dd"), "pull": Path("sync", "pull", "td")}
_kept = IdentityCache()


class ReachingPart(Part, Protocol):
    """A part on a device that can push to other parts' vertices alone, and list the messages to them meanwhile."""

    def send_away(self, piece: GraphSlice) -> None:
        """As a push along the out-rows of a slice, to the vertices of other parts alone."""

    def begin_outbox(self, first: int, last: int) -> None:
        """Start what :meth:`outbox` of the same vertices waits for."""


def is_pair(parts: Sequence[Part]) -> TypeGuard[Sequence[ReachingPart]]:
    """Whether there are two parts, and one of them is on a device."""
    return len(parts) == 2 and sum(part.asynchronous and hasattr(part, "send_away") for part in parts) == 1


def inner_slice(graph: Graph, first: int, last: int, direction: Direction) -> GraphSlice:
    """The rows ``first..last`` without the arcs that leave the range; made once, and kept with the graph.

    >>> import dromos as dr
    >>> inner_slice(dr.generators.path(4), 0, 2, "push").targets.tolist()
    [1, 0]
    """
    rows = graph if direction == "push" else graph.transpose
    known, key = _kept.of(rows), (first, last)
    if key not in known:
        offsets = rows.offsets[first : last + 1]
        begin, end = int(offsets[0]), int(offsets[-1])
        targets = rows.targets[begin:end]
        inside = np.flatnonzero((targets >= first) & (targets < last))
        weights = None if rows.weights is None else rows.weights[begin:end][inside]
        starts = np.searchsorted(inside, offsets - begin)
        known[key] = GraphSlice(first, last, starts, targets[inside], weights, lacks_arcs=True)
    found: GraphSlice = known[key]
    return found


class Pair:
    """Two parts, one of them on a device."""

    def __init__(
        self,
        typed: TypedProgram,
        analysis: Analysis,
        graph: Graph,
        parts: Sequence[ReachingPart],
        feeds: Sequence[Feed],
        exchange: Exchange,
    ) -> None:
        self._graph, self._parts, self._feeds, self._exchange = graph, parts, feeds, exchange
        self._device, self._host = (0, 1) if parts[0].asynchronous else (1, 0)
        self._pieces: dict[tuple[int, Direction], list[GraphSlice]] = {}  # they are in memory
        by_arc = bool(typed.ir.edge_fields or typed.ir.edge_params)  # which are found by an arc's number
        self.pushes = not by_arc
        """Whether supersteps that push may run here."""
        self.pulls = not (by_arc or sums_floats(typed) or can_post(parts))
        """Whether those that pull may: floats are added in a fixed order, and messages that are posted are cheaper."""
        self._claims = is_claimed(typed, analysis)

    def halves(self, path: Path, active_arcs: Sequence[int]) -> tuple[list[Partial], list[float]]:
        """See :class:`dromos.places.driver.PlacedExecution`; ``active_arcs``: the out-arcs of each part's frontier."""
        device, host = self._parts[self._device], self._parts[self._host]
        wanted = not getattr(host, "wants_none", False)
        own = Stopwatch()
        if path.direction == "push":
            self._exchange.refresh(self._parts, "push")
            self._send(self._device, path)
            own = Stopwatch()
            self._send(self._host, path)
            busy = own.seconds()
            device.inbox(host.outbox(device.first, device.last))
        else:
            for phase in ("pull", "push"):
                told = host.copies(phase)
                if told is not None:
                    device.refresh(told)
            self._send(self._device, path)
            if wanted and active_arcs[self._device]:
                for piece in self._rows(self._device, "push"):
                    device.send_away(piece)
            own = Stopwatch()
            if wanted:
                self._send_within(active_arcs[self._host])
            busy = own.seconds()
        if wanted:
            device.begin_outbox(host.first, host.last)
        device.begin_settle()
        found: dict[int, Partial] = {self._device: device.settle()}
        own = Stopwatch()
        if wanted:
            host.inbox(device.outbox(host.first, host.last))
        found[self._host] = host.settle()
        times = {self._device: found[self._device].seconds, self._host: busy + own.seconds()}
        return [found[0], found[1]], [times[0], times[1]]

    def host_cost(self, active_arcs: Sequence[int]) -> float:
        """The arcs that the host goes along within its part in a pull, by what one costs that it pulls along."""
        offsets, host = self._graph.offsets, self._parts[self._host]
        arcs = int(offsets[host.last]) - int(offsets[host.first])
        within = arcs / max(self._graph.num_arcs, 1)  # about so many of them have both ends in the part
        return within * min(arcs, PUSHED * active_arcs[self._host])

    def _rows(self, number: int, direction: Direction) -> list[GraphSlice]:
        if (number, direction) not in self._pieces:
            feed = self._feeds[number]
            self._pieces[number, direction] = [*feed.fetch(feed.holding(None, direction), direction)]
        return self._pieces[number, direction]

    def _send(self, number: int, path: Path) -> None:
        for piece in self._rows(number, path.direction):
            self._parts[number].send(piece, path)

    def _send_within(self, active_arcs: int) -> None:
        host = self._parts[self._host]
        arcs = int(self._graph.offsets[host.last]) - int(self._graph.offsets[host.first])
        if self._claims:  # a pull ends at the first active neighbour
            arcs = min(arcs, _PROBED * (host.last - host.first))
        direction: Direction = "push" if PUSHED * active_arcs < arcs else "pull"
        if direction == "push" and not active_arcs:
            return
        piece = inner_slice(self._graph, host.first, host.last, direction)
        if piece.num_arcs:
            host.send(piece, _DIRECTIONS[direction])
