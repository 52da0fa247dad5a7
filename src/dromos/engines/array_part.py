"""Shared code of parts on the host's leaf engines: state in arrays, copies of other parts' rows, outbox and inbox."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from dromos.codegen.facts import is_always_active
from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.arc_order import in_order
from dromos.engines.interpreter import allocate
from dromos.engines.merging import Accumulators
from dromos.engines.parts import Copies, Messages, Partial, Phase
from dromos.engines.saving import Saved, pack, put_back, reductions_of
from dromos.errors import FieldOverflowError
from dromos.graph.slices import GraphSlice
from dromos.parallel import in_blocks
from dromos.plan import PATHS, Path
from dromos.plan.path import Direction
from dromos.program import Analysis, Expr, FieldSpec, GraphTypes, Program, ProgramIR, TypedProgram, analyse
from dromos.program.expr import reads

__all__ = ["ArrayPart", "fields_told"]

_COUNTED = 1 << 17  # rows


def fields_told(ir: ProgramIR, analysis: Analysis, phase: Phase) -> tuple[str, ...]:
    """The fields of a part's vertices that other parts read in a phase, limited to fields that ever change."""
    read = analysis.target_fields
    if phase == "lookup":
        return ir.tables
    if phase in ("pull", "sources"):
        read = analysis.source_fields
    elif phase == "edges":
        at_target = reads(ir.exprs("edge_update"), "field")
        read = read | {node.attr[1] for node in at_target if node.role == "target"}
        if not ir.edge_fields:
            return ()
    return tuple(spec.name for spec in ir.fields if spec.name in read & analysis.written_fields)


def _put_rows(into: Array, ids: Array | None, values: Array) -> None:
    """Write rows to the indices ``ids`` (distinct; None: consecutive), with all threads if there are many rows."""

    def put(begin: int, end: int) -> None:
        at = slice(begin, end)
        into[at if ids is None else ids[at]] = values[at]

    in_blocks(put, len(values))


def _put_bits(into: Array, first: int, last: int, marks: Array) -> None:
    """Unpack the bits of ``first..last`` to booleans; ``marks`` begins with the word that holds ``first``."""
    packed, begin = marks.view(np.uint8), first & ~63

    def put(at: int, end: int) -> None:
        low, high = max(begin + 8 * at, first), min(begin + 8 * end, last)
        bits = np.unpackbits(packed[at:end], bitorder="little")
        into[low:high] = bits[low - begin - 8 * at : high - begin - 8 * at]

    in_blocks(put, len(packed), 1 << 13)


def _arcs_of(offsets: Array, vertices: Array) -> int:
    """How many arcs rows have together; their lengths are not held all at once."""
    pieces = (vertices[begin : begin + _COUNTED] for begin in range(0, len(vertices), _COUNTED))
    return sum(int((offsets[piece + 1] - offsets[piece]).sum()) for piece in pieces)


class ArrayPart(ABC):
    """A part whose fields are NumPy arrays; see :class:`dromos.engines.parts.Part`.

    A leaf implements the abstract methods. It reads the state of all vertices, updates the state of its own vertices,
    and leaves the next frontier in ``frontier``. Copying and exchanging are the same for all leaves.
    """

    def __init__(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> None:
        self.program, self.shape, self.types, self.first, self.last = program, shape, types, first, last
        self.typed: TypedProgram = program.typed(types)
        self.ir = self.typed.ir
        self.analysis: Analysis = analyse(self.typed)
        self.always = is_always_active(self.ir, self.analysis)
        self.superstep, self._begun = 0, False
        self.reductions: tuple[Any, ...] = ()
        n, arcs = shape.num_vertices, int(shape.offsets[last]) - int(shape.offsets[first])
        self.state = self._allocate(self.ir.fields, n)
        self.edge_state = self._allocate(self.ir.edge_fields, arcs)
        self._frontier = np.empty(0, dtype=np.int64)
        self._marked = np.empty(0, dtype=np.int64)  # own vertices that are set in `member`
        self._messages = 0  # sent since the last superstep ended
        self._before: Mapping[str, Array] = {}  # with edge fields: all fields when messages were made
        self._senders: Array | None = None
        self.tables: dict[str, Array] = {}  # the fields as the last superstep left them, while this one changes them
        self._given_by_arc: dict[Direction, dict[str, Array]] = {}
        self.in_grid = False
        """Whether it has arcs between other parts' vertices, and not all of its own; see :mod:`dromos.places.grid`."""
        self._heard: list[Array] = []  # in a grid: the active vertices of other parts in this superstep

    def enter_grid(self, block: Hashable, num_rows: int) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        self.in_grid = True

    @property
    def planning(self) -> Mapping[str, Any]:
        """See :class:`dromos.engines.parts.Part`."""
        return {"dominated": tuple(path for path in PATHS if path.direction == "push")} if self.always else {}

    def _allocate(self, specs: tuple[FieldSpec, ...], rows: int) -> dict[str, Array]:
        return allocate(self.typed, specs, rows)

    # ---- what a leaf does ------------------------------------------------------------------------------------------

    @abstractmethod
    def _start(self) -> tuple[Array, tuple[Any, ...]]:
        """Initialize the state of all vertices of the graph; return the part's first frontier and its reductions."""

    @abstractmethod
    def send(self, piece: GraphSlice, path: Path) -> None:
        """See :class:`dromos.engines.parts.Part`."""

    @abstractmethod
    def _settle(self) -> tuple[Array, Array, tuple[Any, ...]]:
        """The second half: return a superset of the vertices that changed, the next frontier, and the reductions."""

    @abstractmethod
    def _start_edges(self, piece: GraphSlice) -> None:
        """Initial values of the edge fields of a slice."""

    @abstractmethod
    def _write_edges(self, piece: GraphSlice) -> None:
        """Write the new edge fields of a slice, where ``_senders`` sent messages from the state ``_before``."""

    @abstractmethod
    def wanting(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""

    # ---- a superstep -----------------------------------------------------------------------------------------------

    @property
    def frontier(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""
        return None if self.always else self._frontier

    @property
    def sending(self) -> Array | None:
        """The active vertices that the part pushes from, ascending; None: all vertices whose arcs it holds.

        These are its own vertices and, in a grid, those that other parts reported.
        """
        if self.always or not self.in_grid:
            return self.frontier
        own = self.frontier
        assert own is not None
        found: Array = np.concatenate([own, *(heard.astype(own.dtype, copy=False) for heard in self._heard)])
        found.sort()
        return found

    def start(self) -> Partial:
        """See :class:`dromos.engines.parts.Part`."""
        try:
            self._frontier, reductions = self._start()
        except FieldOverflowError as error:
            return Partial(overflow=str(error))
        return self._partial(reductions)

    def start_edges(self, piece: GraphSlice) -> str:
        """See :class:`dromos.engines.parts.Part`."""
        try:
            self._start_edges(piece)
        except FieldOverflowError as error:
            return str(error)
        return ""

    asynchronous = False

    def wait(self) -> None:  # noqa: B027  # a leaf need not override it
        """See :class:`dromos.engines.parts.Part`: nothing, :meth:`send` waits."""

    def begin_settle(self) -> None:  # noqa: B027  # a leaf need not override it
        """See :class:`dromos.engines.parts.Part`: nothing, kernels of the host are waited for."""

    def settle(self) -> Partial:
        """See :class:`dromos.engines.parts.Part`."""
        self.tables = {name: self.state[name].copy() for name in self.ir.tables}
        if self.ir.edge_fields:
            self._before, self._senders = self._written_copies(), self.frontier
        try:
            looked_at, self._frontier, reductions = self._settle()
        except FieldOverflowError as error:
            return Partial(overflow=str(error))
        if self._told("push") or self._told("edges"):
            self._changed[looked_at] = True
        partial = self._partial(reductions)
        self._messages = 0
        return partial

    def write_edges(self, piece: GraphSlice) -> str:
        """See :class:`dromos.engines.parts.Part`."""
        try:
            self._write_edges(piece)
        except FieldOverflowError as error:
            return str(error)
        return ""

    def finish(self, reductions: tuple[Any, ...]) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        self.reductions = reductions
        self.superstep += self._begun
        self.tables = {}
        self._heard = []
        self._begun = True

    # ---- checkpoints -----------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Array]:
        """The part's own rows, its frontier and the reductions, for :meth:`restore`."""
        own = {name: values[self.first : self.last] for name, values in self.state.items()}
        return pack(own, self.edge_state, self.reductions, **self._saved_frontier())

    def _saved_frontier(self) -> dict[str, Array | None]:
        return {"frontier": self.frontier}

    def restore(self, saved: Saved, superstep: int) -> None:
        """Continue after ``superstep`` supersteps, in a part that has just started; others' rows follow."""
        own = {name: values[self.first : self.last] for name, values in self.state.items()}
        put_back(saved, own, self.edge_state)
        if not self.always:
            self._frontier = saved["frontier"]
        self.superstep = superstep - 1
        self.finish(reductions_of(saved))

    def take_copies(self, fields: Mapping[str, Array]) -> None:
        """After :meth:`restore`: the rows of all vertices."""
        for name, values in fields.items():
            np.copyto(self.state[name], values)

    def _partial(self, reductions: tuple[Any, ...]) -> Partial:
        offsets, first, last = self.shape.offsets, self.first, self.last
        if self.always:
            return Partial(last - first, int(offsets[last] - offsets[first]), 0, self._messages, reductions)
        return Partial(len(self._frontier), _arcs_of(offsets, self._frontier), 0, self._messages, reductions)

    def _written_copies(self) -> dict[str, Array]:
        written = self.analysis.written_fields
        return {name: values.copy() if name in written else values for name, values in self.state.items()}

    # ---- copies ----------------------------------------------------------------------------------------------------

    @cached_property
    def member(self) -> Array:
        """Whether each vertex, own or not, is in the frontier; valid during a pull, between refreshes."""
        return np.zeros(self.shape.num_vertices, dtype=bool)

    @cached_property
    def _changed(self) -> Array:
        return np.zeros(self.shape.num_vertices, dtype=bool)

    @cached_property
    def _alone(self) -> bool:
        return self.last - self.first == self.shape.num_vertices

    def _told(self, phase: Phase) -> tuple[str, ...]:
        """As :func:`fields_told`, for this part; empty if there are no other parts."""
        return () if self._alone else fields_told(self.ir, self.analysis, phase)

    def copies(self, phase: Phase) -> Copies | None:
        """See :class:`dromos.engines.parts.Part`."""
        if phase == "lookup":
            told = {name: self.state[name][self.first : self.last] for name in self.ir.tables}
            return Copies(self.first, self.last, None, told)
        names = self._told(phase)
        of_sources = phase in ("pull", "sources")
        if of_sources:
            if self.always and not names:
                return None
            ids = self.frontier
        elif not names:
            return None
        else:
            ids = np.flatnonzero(self._changed[self.first : self.last]) + self.first
            self._changed[self.first : self.last] = False
        if ids is None or len(ids) == self.last - self.first:
            rows = {name: self.state[name][self.first : self.last] for name in names}
            return Copies(self.first, self.last, None, rows, active=of_sources)
        return Copies(self.first, self.last, ids, {name: self.state[name][ids] for name in names}, active=of_sources)

    def refresh(self, copies: Copies) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        if copies.fields:
            at = copies.rows
            for name, values in copies.fields.items():
                into = self.state[name]
                if isinstance(at, slice):
                    _put_rows(into[at], None, values)
                else:
                    _put_rows(into, at, values)
        if copies.active and not self.always:
            if self.in_grid and copies.marks is None:
                self._heard.append(np.arange(copies.first, copies.last) if copies.ids is None else copies.ids)
            if copies.marks is not None and copies.all_rows:
                _put_bits(self.member, copies.first, copies.last, copies.marks)
            else:
                self.member[copies.first : copies.last] = False
                self.member[slice(copies.first, copies.last) if copies.ids is None else copies.ids] = True

    def mark_own_frontier(self) -> None:
        """Set :attr:`member` for the part's own frontier."""
        if not self.always and self._marked is not self._frontier:
            self.member[self._marked] = False
            self.member[self._frontier] = True
            self._marked = self._frontier

    # ---- values of arcs ----------------------------------------------------------------------------------------------

    def given_by_arc(self, direction: Direction) -> dict[str, Array]:
        """The edge parameters, in the order of the out-rows (push) or of the in-rows (pull)."""
        if direction not in self._given_by_arc:
            given = {spec.name: self.program.params[spec.name] for spec in self.ir.edge_params}
            if direction == "pull" and given:
                # a pull implies that there is a transpose: feeds without one only push
                order = in_order(self.shape, self.shape.transpose)  # type: ignore[arg-type, attr-defined]
                given = {name: values[order] for name, values in given.items()}
            self._given_by_arc[direction] = given
        return self._given_by_arc[direction]

    # ---- messages to and from others -------------------------------------------------------------------------------

    @cached_property
    def merged(self) -> Accumulators:
        """The accumulators of the messages."""
        return Accumulators(self.typed, self.shape.num_vertices)

    def outbox(self, first: int, last: int) -> Messages:
        """See :class:`dromos.engines.parts.Part`."""
        ids, values = self.merged.take(first, last)
        return Messages.packed(first, last, ids.astype(self.types.id, copy=False), values)

    def inbox(self, messages: Messages) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        if messages.ids is None and messages.got is None:
            self.merged.add_block(messages.first, messages.last, messages.values)
            return
        self.merged.add_distinct(*messages.unpacked())

    def table(self, name: str) -> Array:
        """A field of all vertices, as the last superstep left it."""
        return self.tables.get(name, self.state[name])

    # ---- symbols that belong to no vertex --------------------------------------------------------------------------

    def global_value(self, node: Expr) -> Any:
        """The value of a parameter, a reduction, the superstep number or a size of the graph."""
        match node.op:
            case "param":
                value = self.program.params[node.attr[0]]
                return value[node.attr[1]] if np.ndim(value) else value
            case "reduction":
                names = [spec.name for spec in self.ir.reductions]
                return self.reductions[names.index(node.attr[0])]
            case "superstep":
                return self.superstep
        return getattr(self.shape, node.op)
