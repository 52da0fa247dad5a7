"""A superstep in two halves: the interface of leaf engines for graphs that come in slices and belong to several parts.

A *part* owns the vertices ``first..last`` of a graph and keeps the state of all vertices, indexed by global id. Its own
rows are authoritative. The rows of other parts' vertices are copies, refreshed before a superstep reads them. So
kernels index by global id wherever a slice comes from, and memory grows with the vertices alone. One superstep on all
parts:

    copies = part.copies(direction); other.refresh(copies)      # what others read of a part's vertices
    part.send(slice, path)                                      # for every slice with something to do
    messages = part.outbox(first, last); other.inbox(messages)  # merged messages to vertices of another part
    part.begin_settle(); partial = part.settle()                # sent, update, active; partial reductions
    part.finish(reductions)                                     # the merged reductions; the next superstep begins

``dromos.places`` drives parts through this interface. A leaf does not know where its slices come from, or which part
owns the other vertices.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.graph.slices import GraphSlice
from dromos.plan import Path
from dromos.program import GraphTypes, Program, TypedProgram
from dromos.program.monoid import Monoid

__all__ = ["Copies", "Leaf", "Messages", "Part", "Partial", "Phase", "fold_reductions", "merge_partials"]

Phase: TypeAlias = Literal["push", "pull", "edges", "lookup", "sources", "targets"]
"""What copies are for: the targets of a push, the sources of a pull, both ends of the edges that are written, or any
vertex that is read by its id. In a grid of parts (:mod:`dromos.places.grid`) also the sources of a push and the targets
of a pull, since a part holds arcs of other parts' vertices there."""


@dataclass(frozen=True, eq=False)
class Messages:
    """Merged messages to vertices of ``first..last``, one per vertex, in any order.

    There are three forms:

    - Sparse: ``ids``, and one value per id in each of ``values``.
    - Dense, if that is smaller: ``ids`` is None, and each of ``values`` has one row per vertex of the range. The bits
      of ``got`` (packed, little-endian) mark the rows that count.
    - Dense without ``got``: all rows count, and vertices without a message have the identity. A part that receives such
      a block updates all vertices anyway.
    """

    first: int
    last: int
    ids: Array | None
    values: tuple[Array, ...]
    got: Array | None = None

    @classmethod
    def packed(cls, first: int, last: int, ids: Array, values: tuple[Array, ...]) -> Messages:
        """Pack messages in the smaller of the two forms.

        >>> ids = np.array([4, 5, 6], np.int32)
        >>> Messages.packed(4, 7, ids, (np.ones(3),)).got.tolist(), Messages.packed(0, 90, ids, (np.ones(3),)).got
        ([7], None)
        """
        room = last - first
        if not cls.is_dense(room, len(ids), [array.dtype for array in values], ids.dtype):
            return cls(first, last, ids, values)
        at = ids - first
        got = np.zeros(room, dtype=bool)
        got[at] = True
        blocks = []
        for array in values:
            block = np.zeros(room, array.dtype)
            block[at] = array
            blocks.append(block)
        return cls(first, last, None, tuple(blocks), np.packbits(got, bitorder="little"))

    @staticmethod
    def is_dense(room: int, count: int, dtypes: Sequence[np.dtype[Any]], id_type: np.dtype[Any]) -> bool:
        """Whether ``count`` messages to ``room`` vertices take fewer bytes as a block than as a list.

        The ids of a list are sent as gaps, which are short if there are many ids.
        """
        size = sum(dtype.itemsize for dtype in dtypes)
        gap = 1 if room < 32 * count else id_type.itemsize
        return room * size + room // 8 < count * (size + gap)

    def unpacked(self) -> tuple[Array, tuple[Array, ...]]:
        """The ids, and one value per id in each array.

        >>> Messages.packed(4, 7, np.array([4, 6]), (np.array([1, 2], np.int8),)).unpacked()
        (array([4, 6]), (array([1, 2], dtype=int8),))
        """
        if self.ids is not None:
            return self.ids, self.values
        if self.got is None:
            return np.arange(self.first, self.last), self.values
        at = np.flatnonzero(np.unpackbits(self.got, count=self.last - self.first, bitorder="little"))
        return at + self.first, tuple(block[at] for block in self.values)


class Copies:
    """Rows of some fields of a part's vertices, for the parts that read them.

    ``ids`` (None: all of ``first..last``) or ``marks`` identify the vertices. ``marks`` are 64-bit words of a bitmap of
    the whole graph, beginning with the word of ``first``, with no other bits set; ``ids`` is derived from them on
    demand. ``active``: the rows are those of the part's frontier, and the frontier itself is to be copied too.
    ``all_rows``: the fields nevertheless have a row for each of ``first..last``, since many vertices are active and a
    block is copied faster.

    >>> Copies(66, 130, None, {}, marks=np.array([0b1100, 1], np.uint64)).ids.tolist()
    [66, 67, 128]
    """

    def __init__(
        self,
        first: int,
        last: int,
        ids: Array | None,
        fields: Mapping[str, Array],
        active: bool = False,
        *,
        marks: Array | None = None,
        all_rows: bool = False,
    ) -> None:
        self.first, self.last, self.fields, self.active, self.marks = first, last, fields, active, marks
        self.all_rows = all_rows
        self._ids = ids

    @property
    def ids(self) -> Array | None:
        """The vertices, ascending; None: all of ``first..last``."""
        if self._ids is None and self.marks is not None:
            at = np.flatnonzero(np.unpackbits(self.marks.view(np.uint8), bitorder="little"))
            self._ids = at + (self.first & ~63)
        return self._ids

    @property
    def rows(self) -> Array | slice:
        """The index of the rows that the fields hold."""
        return slice(self.first, self.last) if self.all_rows or self.ids is None else self.ids


@dataclass(frozen=True)
class Partial:
    """The outcome of a part's half of a superstep; :func:`merge_partials` merges those of all parts."""

    frontier: int = 0
    out_degree: int = 0
    in_degree: int = 0
    messages: int = 0
    reductions: tuple[Any, ...] = ()
    overflow: str = ""
    """A value that did not fit its field: every part raises the error, so that no part waits for another."""
    seconds: float = 0.0
    """Duration of the superstep so far; the maximum over all parts, so that all of them plan by the same time."""
    sent: int = 0
    """Bytes that the part's process has sent to other processes in the superstep."""


class Part(Protocol):
    """A program on the vertices ``first..last`` of a graph."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def frontier(self) -> Array | None:
        """The active vertices that the part owns, ascending; None: all of them."""

    @property
    def state(self) -> Mapping[str, Array]:
        """The fields with one row per vertex of the graph; only the part's own rows are authoritative."""

    @property
    def edge_state(self) -> Mapping[str, Array]:
        """The edge fields with one row per arc of the part's own rows."""

    @property
    def asynchronous(self) -> bool:
        """Whether :meth:`send` and :meth:`begin_settle` return while their kernels run: such parts are called first."""

    @property
    def planning(self) -> Mapping[str, Any]:
        """What the planner needs to know of paths on this leaf, as options of :class:`dromos.plan.Caps`."""

    def start(self) -> Partial:
        """Set the initial state and return the first frontier and reductions; called right after the part is made."""

    def start_edges(self, piece: GraphSlice) -> str:
        """Give the arcs of a slice their initial values; return the text of an overflow, or an empty string."""

    def wanting(self) -> Array | None:
        """The part's vertices that can still use a message, ascending; None: all of them."""

    def enter_grid(self, block: Hashable, num_rows: int) -> None:
        """Switch to a block of a grid of parts, with ``num_rows`` out-rows; ``block`` identifies it."""

    def copies(self, phase: Phase) -> Copies | None:
        """The rows that other parts need from this one; None if there are none, in which case all parts return None."""

    def refresh(self, copies: Copies) -> None:
        """Store the copies of another part's rows."""

    def send(self, piece: GraphSlice, path: Path) -> None:
        """Merge the messages of the frontier along the arcs of a slice.

        In a push, a slice holds out-rows of the part's vertices; in a pull, in-rows. It may hold only a piece of a row.
        """

    def wait(self) -> None:
        """Return when the kernels that :meth:`send` started are done."""

    def outbox(self, first: int, last: int) -> Messages:
        """Return the merged messages to the vertices of another part, and reset them here."""

    def inbox(self, messages: Messages) -> None:
        """Merge messages to this part's vertices."""

    def begin_settle(self) -> None:
        """Start what :meth:`settle` waits for; all messages have arrived."""

    def settle(self) -> Partial:
        """Apply ``sent``, update states, make the next frontier, and fold reductions."""

    def write_edges(self, piece: GraphSlice) -> str:
        """Write a slice's edge fields along the arcs that were used; return the text of an overflow, or nothing."""

    def finish(self, reductions: tuple[Any, ...]) -> None:
        """End the superstep, with the reductions over all parts."""


class Leaf(Protocol):
    """An engine that runs parts."""

    @property
    def name(self) -> str: ...

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> Part:
        """A program on the vertices ``first..last``, for :meth:`Part.start` to begin."""


_FOLDS: dict[str, Any] = {
    "SUM": np.add,
    "OR": np.bitwise_or,
    "AND": np.bitwise_and,
    **dict.fromkeys(("MIN", "ARGMIN"), np.fmin),
    **dict.fromkeys(("MAX", "ARGMAX"), np.fmax),
}


def fold(monoid: Monoid, values: Array) -> Any:
    """Fold all values to one as a reduction merges them: a NaN never wins a minimum or maximum.

    >>> from dromos.program.monoid import MIN, SUM
    >>> fold(MIN, np.array([2.0, np.nan])), fold(SUM, np.array([1, 2]))
    (np.float64(2.0), np.int64(3))
    """
    operation: Any = _FOLDS[monoid.name]
    with np.errstate(all="ignore"):
        return values.dtype.type(operation.reduce(values, initial=monoid.identity(values.dtype), dtype=values.dtype))


def fold_reductions(typed: TypedProgram, columns: Sequence[Array]) -> tuple[Any, ...]:
    """Fold each reduction over many values; of a keyed monoid, the whole row that wins.

    >>> import dromos.program as dr
    >>> class Nearest(dr.Program):
    ...     x = dr.field(np.float64, init=0.0)
    ...     combine = dr.MIN
    ...     @dr.reduction(dr.ARGMIN)
    ...     def nearest(self, v): return v.x, v.id
    ...     def compute(self, u, edge, v): return 0.0
    ...     def update(self, v, message): return v.x
    >>> columns = np.array([3.0, 1.0, np.nan, 1.0]), np.array([0, 7, 2, 5], np.int32)
    >>> fold_reductions(Nearest.typed(dr.GraphTypes()), columns)
    (np.float64(1.0), np.int32(5))
    """
    found: dict[int, Any] = {}
    for monoid, places in typed.ir.joint_reductions:
        rows: Any = slice(None)
        for place in places:
            found[place] = fold(monoid, columns[place][rows])
            if monoid.keyed:  # only rows that tie for the best so far compete in the next component
                among = np.arange(len(columns[place]))[rows]
                rows = among[columns[place][rows] == found[place]]
    return tuple(found[place] for place in range(len(typed.ir.reductions)))


def merge_partials(partials: Sequence[Partial], typed: TypedProgram) -> Partial:
    """Merge the results of all parts, always in the same order, so that sums of floats come out the same."""
    reductions: tuple[Any, ...] = ()
    if all(partial.reductions for partial in partials):
        columns = [
            np.array([partial.reductions[i] for partial in partials], typed.reduction_type(spec.name))
            for i, spec in enumerate(typed.ir.reductions)
        ]
        reductions = fold_reductions(typed, columns)
    return Partial(
        frontier=sum(partial.frontier for partial in partials),
        out_degree=sum(partial.out_degree for partial in partials),
        in_degree=sum(partial.in_degree for partial in partials),
        messages=sum(partial.messages for partial in partials),
        reductions=reductions,
        overflow=next((partial.overflow for partial in partials if partial.overflow), ""),
        seconds=max((partial.seconds for partial in partials), default=0.0),
        sent=sum(partial.sent for partial in partials),
    )
