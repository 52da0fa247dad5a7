"""A part of a graph on the reference engine: defines both halves of a superstep, one vertex and edge at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.arc_order import in_order
from dromos.engines.array_part import ArrayPart
from dromos.engines.interpreter import Edge, Interpreter, Message, Vertex
from dromos.engines.parts import Messages
from dromos.graph.slices import GraphSlice
from dromos.plan import Path
from dromos.program import GraphTypes, Program

__all__ = ["ReferenceLeaf", "ReferencePart"]


class ReferenceLeaf:
    """Runs parts in plain Python."""

    name = "reference"

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> ReferencePart:
        """See :class:`dromos.engines.parts.Leaf`."""
        return ReferencePart(program, shape, types, first, last)


class ReferencePart(ArrayPart):
    """See :class:`dromos.engines.parts.Part`."""

    def __init__(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> None:
        super().__init__(program, shape, types, first, last)
        self._own = range(first, last)
        self._meaning = Interpreter(program, shape, types, 0)
        self._meaning.state, self._meaning.edge_state = self.state, self.edge_state
        self._mail: dict[int, Message] = {}

    @np.errstate(all="ignore")
    def _start(self) -> tuple[Array, tuple[Any, ...]]:
        started = self._meaning.start(self._own)
        return np.array(started, dtype=np.int64), self._reduced(self.state)

    def finish(self, reductions: tuple[Any, ...]) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        super().finish(reductions)
        self._meaning.tables = {}
        names = [spec.name for spec in self.ir.reductions]
        self._meaning.reductions = dict(zip(names, reductions, strict=True))
        self._meaning.superstep = self.superstep

    @np.errstate(all="ignore")
    def wanting(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""
        meaning = self._meaning
        return np.array([v for v in self._own if meaning.wants(meaning.now(v))], dtype=np.int64)

    @np.errstate(all="ignore")
    def send(self, piece: GraphSlice, path: Path) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        meaning = self._meaning
        if path.direction == "pull":
            self.mark_own_frontier()
        senders = range(piece.start, piece.stop) if self.sending is None else self.sending.tolist()
        for edge in self._pushed(piece, senders) if path.direction == "push" else self._pulled(piece):
            message = meaning.message(edge, meaning.now(edge.source), meaning.now(edge.target))
            if message is not None:
                self._messages += 1
                self._mail[edge.target] = meaning.merge(self._mail.get(edge.target), message)

    def outbox(self, first: int, last: int) -> Messages:
        """See :class:`dromos.engines.parts.Part`."""
        ids = sorted(v for v in self._mail if first <= v < last)
        mail = [self._mail.pop(v) for v in ids]
        values = tuple(
            np.array([message[i] for message in mail], dtype) for i, dtype in enumerate(self.typed.accumulators)
        )
        return Messages.packed(first, last, np.array(ids, self.types.id), values)

    @np.errstate(all="ignore")
    def inbox(self, messages: Messages) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        ids, values = messages.unpacked()
        for row, v in enumerate(ids.tolist()):
            message = tuple(column[row] for column in values)
            self._mail[v] = self._meaning.merge(self._mail.get(v), message)

    @np.errstate(all="ignore")
    def _settle(self) -> tuple[Array, Array, tuple[Any, ...]]:
        meaning, mail, active = self._meaning, self._mail, self._active()
        old = {name: array.copy() for name, array in self.state.items()}
        meaning.tables = self.tables
        for u in active:
            meaning.write(self.state, u, "sent", {"vertex": Vertex(u, old, u)})
        everyone = self.ir.update_on == "all"
        for v in self._own if everyone else sorted(mail):
            meaning.update(v, mail.get(v, meaning.identity))
        looked_at = list(self._own) if everyone else sorted({*mail, *active})
        following = [v for v in looked_at if meaning.is_active(Vertex(v, old, v))]
        self._mail = {}
        rows = np.array(looked_at, dtype=np.int64)
        return rows, np.array(following, dtype=np.int64), self._reduced(old)

    def _reduced(self, old: dict[str, Array]) -> tuple[Any, ...]:
        return tuple(self._meaning.reduce(old, self._own).values())

    @np.errstate(all="ignore")
    def _start_edges(self, piece: GraphSlice) -> None:
        for edge in self._pushed(piece, range(piece.start, piece.stop)):
            self._meaning.write(self.edge_state, edge.arc, "edge_init", self._meaning.ends(edge), edge)

    @np.errstate(all="ignore")
    def _write_edges(self, piece: GraphSlice) -> None:
        meaning, old = self._meaning, self._before
        senders = self._own if self._senders is None else self._senders.tolist()
        for edge in self._pushed(piece, senders):
            source, target = (Vertex(v, old, v) for v in (edge.source, edge.target))
            if meaning.message(edge, source, target) is not None:
                meaning.write(self.edge_state, edge.arc, "edge_update", meaning.ends(edge), edge)

    # ---- edges -----------------------------------------------------------------------------------------------------

    def _active(self) -> Any:
        return self._own if self.always else self._frontier.tolist()

    def _pushed(self, piece: GraphSlice, sources: Any) -> Iterator[Edge]:
        """The edges of a slice that leave ``sources``."""
        chosen = set(sources)
        own = int(piece.offsets[0]) - int(self.shape.offsets[self.first])
        for place, (row, end, weight) in enumerate(_arcs(piece)):
            if row in chosen:
                yield Edge(row, end, own + place, weight, int(piece.offsets[0]) + place)

    def _pulled(self, piece: GraphSlice) -> Iterator[Edge]:
        """The edges of a slice of in-rows that come from the frontier."""
        numbers = None
        if self.ir.edge_params:
            numbers = in_order(self.shape, self.shape.transpose)  # type: ignore[arg-type, attr-defined]
        for place, (row, end, weight) in enumerate(_arcs(piece), int(piece.offsets[0])):
            if self.always or self.member[end]:
                yield Edge(end, row, -1, weight, -1 if numbers is None else int(numbers[place]))


def _arcs(piece: GraphSlice) -> Iterator[tuple[int, int, Any]]:
    """Row, other end and weight of every arc of a slice."""
    base = int(piece.offsets[0])
    for row in range(piece.start, piece.stop):
        begin, end = (int(offset) - base for offset in piece.offsets[row - piece.start : row - piece.start + 2])
        for place in range(begin, end):
            yield row, int(piece.targets[place]), 1 if piece.weights is None else piece.weights[place]
