"""A superstep of a GPU and a CPU that share a graph: the GPU does what crosses the cut, and is waited for once.

Arcs across the cut are with both parts, as out-arcs of the one and as in-arcs of the other. In a pull the GPU takes
them all: it pulls along the in-rows of its own vertices, and pushes along their out-rows to the CPU's vertices. So the
CPU is left with the arcs within its own part, and need not be told who is active on the GPU. Of these arcs it goes
along those of active vertices, or along all, whichever are fewer. Where very many vertices of the GPU are active in a
search, and the CPU has few vertices, pushing to them takes longer than telling the CPU in bits who is active: then it
pulls along all of its in-rows, which ends soon, and the GPU sends nothing there.

In a push the GPU sends along the out-rows of its vertices, and along those of the CPU's active vertices that lead to
its own, which are copied to it (:mod:`dromos.places.hybrid.shipping`). It lists its messages to the CPU and goes on to
settle its vertices; the host waits for all of that at once. Where there are too many such rows the CPU sends messages.

A search begins on the host alone (:mod:`dromos.places.hybrid.lead`). In the superstep after that the host knows all
active vertices; where its own are few it pulls along all of their in-rows, and the GPU has nothing to send there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeGuard, TypeVar

from dromos.compiling import Stopwatch, Timer
from dromos.dtypes import Array
from dromos.engines.array_part import fields_told
from dromos.engines.board import can_post
from dromos.engines.leading import can_adopt, can_lead, is_lone
from dromos.engines.parts import Part, Partial, Phase
from dromos.engines.shipping import takes_rows
from dromos.graph import Graph
from dromos.graph.slices import GraphSlice
from dromos.places.driver import Halves
from dromos.places.exchange import Exchange
from dromos.places.feed import Feed
from dromos.places.hybrid.inner import inner_slice
from dromos.places.hybrid.lead import Lead
from dromos.places.hybrid.shipping import MOST_SHIPPED, ship_rows
from dromos.plan import Levels, Path
from dromos.plan.path import Direction
from dromos.program import Analysis, TypedProgram
from dromos.program.forms import is_claimed, sums_floats

__all__ = ["PUSHED", "Pair", "is_pair"]

PUSHED: Final = 32.0
"""The cost of an arc that a CPU pushes along, where one that it pulls along costs 1."""
_PROBED: Final = 16  # arcs, about, that a search looks at for each vertex
_FEW: Final = 64  # a host with one of so many vertices, or fewer, finds an active neighbour of each soon
_SOME: Final = 16  # and of so many, sends rows instead of messages
_MANY_ACTIVE: Final = 1 << 15  # vertices of a device, whose out-rows take longer than telling the host who they are
_DIRECTIONS: Final[dict[Direction, Path]] = {"push": Path("sync", "push", "dd"), "pull": Path("sync", "pull", "td")}
_PHASES: Final[tuple[Phase, ...]] = ("pull", "push")

_Value = TypeVar("_Value")


def _sum(fronts: Sequence[Partial]) -> Partial:
    return Partial(sum(front.frontier for front in fronts), sum(front.out_degree for front in fronts))


class ReachingPart(Part, Protocol):
    """A part on a device that can push to other parts' vertices alone, and list the messages to them meanwhile."""

    def send_away(self, piece: GraphSlice) -> None:
        """As a push along the out-rows of a slice, to the vertices of other parts alone."""

    def begin_outbox(self, first: int, last: int) -> None:
        """Start what :meth:`outbox` of the same vertices waits for."""


def is_pair(parts: Sequence[Part]) -> TypeGuard[Sequence[ReachingPart]]:
    """Whether there are two parts, and one of them is on a device."""
    return len(parts) == 2 and sum(part.asynchronous and hasattr(part, "send_away") for part in parts) == 1


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
        self._tells_bits = self._claims and not fields_told(typed.ir, analysis, "pull")
        # a host with many vertices has short rows, which it reaches by lists that it has to sort
        self._ships = (
            not sums_floats(typed)
            and takes_rows(parts[self._device])
            and hasattr(parts[self._host], "threads")
            and self._has_one_in(_SOME)
        )
        self._lead: Lead | None = None
        device, host = parts[self._device], parts[self._host]
        if self.pulls and hasattr(device, "reserve"):
            device.reserve(host.first, host.last)
        if self._claims and self.pushes and self.pulls and can_lead(host) and can_adopt(device):
            self._lead = Lead(graph, host, device)

    def leads(self, path: Path, active_arcs: Sequence[int]) -> bool:
        """Whether the next superstep is one for the host alone."""
        return self._lead is not None and path.direction == "push" and self._lead.suits(sum(active_arcs))

    def lead(self) -> Halves:
        """As :meth:`halves`, by the host for both parts; all of the frontier counts as its own."""
        assert self._lead is not None
        found, seconds = self._lead.step()
        return Halves(self._in_order(found, Partial()), self._in_order(seconds, 0.0), 0.0)

    def end_lead(self) -> tuple[list[Partial], Array] | None:
        """Have each part own what the host found for it: their frontiers, and the device's; None: it did not lead."""
        lead, self._lead = self._lead, None
        handed_over = None if lead is None else lead.hand_over()
        if handed_over is None:
            return None
        on_host, on_device, front = handed_over
        return self._in_order(on_host, on_device), front

    def is_alone(self, fronts: Sequence[Partial]) -> bool:
        """Whether the device can go on by itself: no vertex of the host wants a message, and the device can pull from
        those that are active."""
        device, host = self._parts[self._device], self._parts[self._host]
        if self._lead is not None or not self._can_search() or not getattr(host, "wants_none", False):
            return False
        assert is_lone(device)
        least, active = device.least_alone, sum(front.frontier for front in fronts)
        return least is not None and (not fronts[self._host].frontier or active >= least)

    def _can_search(self) -> bool:
        device = self._parts[self._device]
        return (
            self._claims
            and is_lone(device)
            and device.least_alone is not None
            and all(len(self._rows(self._device, direction)) == 1 for direction in _DIRECTIONS)
        )

    def _search(self, fronts: Sequence[Partial]) -> bool:
        """Start a pull of the device that finds and settles at once, where it can."""
        device = self._parts[self._device]
        if not self._can_search():
            return False
        assert is_lone(device)
        (out,), (into,) = self._rows(self._device, "push"), self._rows(self._device, "pull")
        device.begin_search(out, into, _sum(fronts))
        return True

    def go_alone(self, fronts: Sequence[Partial], horizon: int | None) -> tuple[Halves, Levels]:
        """Up to ``horizon`` supersteps of the device; as :meth:`halves`, and the supersteps one by one."""
        device, host = self._parts[self._device], self._parts[self._host]
        assert is_lone(device)
        telling = Stopwatch()
        if fronts[self._host].frontier and (told := host.copies("pull")) is not None:
            device.refresh(told)
        exchanging = telling.seconds()
        (out,), (into,) = self._rows(self._device, "push"), self._rows(self._device, "pull")
        found, levels = device.search_alone(out, into, _sum(fronts), horizon)
        left = host.settle()  # nothing was sent there
        for _ in levels.frontier:
            host.finish(())
        return Halves(self._in_order(left, found), self._in_order(0.0, found.seconds), exchanging), levels

    def _in_order(self, host: _Value, device: _Value) -> list[_Value]:
        return [device, host] if self._device == 0 else [host, device]

    def halves(self, path: Path, fronts: Sequence[Partial], front: Array | None = None) -> Halves:
        """See :class:`dromos.places.driver.PlacedExecution`; ``fronts``: the frontier of each part.

        ``front``: the device's active vertices, where the host knows them.
        """
        device, host = self._parts[self._device], self._parts[self._host]
        wanted = not getattr(host, "wants_none", False)
        active_arcs, searches = [partial.out_degree for partial in fronts], False
        directions: tuple[Direction, ...] = ()
        working, exchanging = Timer(), Timer()  # of the host
        if path.direction == "push" and self._ships and active_arcs[self._host] <= MOST_SHIPPED:
            with exchanging:
                self._tell_device(fronts[self._host])
            self._send(self._device, path)
            if active_arcs[self._host]:
                assert takes_rows(device)
                with exchanging:
                    ship_rows(self._graph, host.frontier, device, host.threads)  # type: ignore[arg-type, attr-defined]
                if wanted:
                    with working:
                        self._send_within(active_arcs[self._host], "push")
        elif path.direction == "push":
            with exchanging:
                self._exchange.refresh(self._parts, "push")
            self._send(self._device, path)
            with working:
                self._send(self._host, path)
            with exchanging:
                device.inbox(host.outbox(device.first, device.last))
        else:
            with exchanging:
                self._tell_device(fronts[self._host])
            alone = front is not None and self._has_one_in(_FEW)
            theirs = None
            if wanted and not alone and self._is_told(fronts[self._device].frontier):
                with exchanging:
                    theirs = device.copies("pull")
            elif wanted and not alone and active_arcs[self._device]:
                for piece in self._rows(self._device, "push"):
                    device.send_away(piece)
            searches = self._search(fronts)
            if not searches:
                self._send(self._device, path)
            if alone:
                assert can_lead(host)
                assert front is not None
                with working:
                    host.learn_front(front)
                    self._send(self._host, path)
                wanted = False
            elif theirs is not None:
                with working:
                    host.copies("pull")  # has it mark its own active vertices first
                    host.refresh(theirs)
                    self._send(self._host, path)
                wanted = False
            elif wanted:
                with working:
                    taken = self._send_within(active_arcs[self._host])
                if taken == "push":
                    directions = tuple(self._in_order(taken, path.direction))
        if wanted:
            device.begin_outbox(host.first, host.last)
        if not searches:
            device.begin_settle()
        on_device = device.settle()
        if wanted:
            with exchanging:
                host.inbox(device.outbox(host.first, host.last))
        with working:
            on_host = host.settle()
        busy = self._in_order(working.seconds, on_device.seconds)
        return Halves(self._in_order(on_host, on_device), busy, exchanging.seconds, directions)

    def _tell_device(self, front: Partial) -> None:
        """Who is active on the host (its frontier is ``front``), and the fields of its vertices that messages read."""
        for phase in _PHASES:
            if phase == "pull" and not front.frontier:
                continue  # no mark of the host is set between supersteps
            told = self._parts[self._host].copies(phase)
            if told is not None:
                self._parts[self._device].refresh(told)

    def _is_told(self, active: int) -> bool:
        """Whether the host pulls by itself, told in bits which of the device's vertices are active: so many."""
        return self._tells_bits and active >= _MANY_ACTIVE and self._has_one_in(_FEW)

    def _has_one_in(self, count: int) -> bool:
        """Whether the host has one of so many vertices, or fewer: those of long rows."""
        host = self._parts[self._host]
        return count * (host.last - host.first) <= self._graph.num_vertices

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

    def _send_within(self, active_arcs: int, direction: Direction | None = None) -> Direction | None:
        """The host's messages to its own vertices; ``direction``: None is that which costs it less.

        Returns the direction that was taken, None where there was nothing to send.
        """
        host = self._parts[self._host]
        arcs = int(self._graph.offsets[host.last]) - int(self._graph.offsets[host.first])
        if self._claims:  # a pull ends at the first active neighbour
            arcs = min(arcs, _PROBED * (host.last - host.first))
        if direction is None:
            direction = "push" if PUSHED * active_arcs < arcs else "pull"
        if direction == "push" and not active_arcs:
            return None
        piece = inner_slice(self._graph, host.first, host.last, direction)
        if not piece.num_arcs:
            return None
        host.send(piece, _DIRECTIONS[direction])
        return direction
