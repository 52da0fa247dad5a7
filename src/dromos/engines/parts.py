"""A superstep in two halves: what a leaf engine offers so that a graph may come in slices and belong to several parts.

A *part* owns the vertices ``first..last`` of a graph and keeps the state of all vertices, indexed by their global ids:
its own rows are the truth, the rows of others are copies that are fresh where a superstep reads them. So kernels index
by global id wherever a slice comes from, and memory grows with the vertices alone. One superstep on all parts:

    copies = part.copies(direction); other.refresh(copies)      # what others read of a part's vertices
    part.send(slice, path)                                      # for every slice with something to do
    messages = part.outbox(first, last); other.inbox(messages)  # merged messages to vertices of another part
    part.begin_settle(); partial = part.settle()                # sent, update, active; partial reductions
    part.finish(reductions)                                     # the merged reductions; the next superstep begins

``dromos.places`` drives parts through this; no leaf knows where its slices come from or who owns the other vertices.
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
of a pull, since a part has arcs of others' vertices there."""


@dataclass(frozen=True, eq=False)
class Messages:
    """Merged messages to vertices of ``first..last``, one for each vertex, in any order.

    Sparse: ``ids`` and one value per id in each of ``values``. Dense, where that is smaller: ``ids`` is None, each of
    ``values`` has one row per vertex of the range, and the bits of ``got`` (packed, little-endian) tell which count.
    Where ``got`` is None too, all of them count: the identity stands where there was no message, and whoever gets such
    a block updates all vertices anyway.
    """

    first: int
    last: int
    ids: Array | None
    values: tuple[Array, ...]
    got: Array | None = None

    @classmethod
    def packed(cls, first: int, last: int, ids: Array, values: tuple[Array, ...]) -> Messages:
        """In the smaller of the two forms.

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

        Ids of a list are told by their gaps, which are short where there are many of them.
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

    Whose rows they are is told by ``ids`` (None: all of ``first..last``), or by ``marks``: words of 64 bits of a bitmap
    of the whole graph, from the word of ``first`` on, with no other bits set. Who does not look at ``marks`` finds the
    same in ``ids``. ``active``: they are the rows of the part's frontier, which is to be known too. ``all_rows``: the
    fields have a row for each of ``first..last`` all the same, since many are active and a block is copied faster.

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
        """Whose rows the fields hold."""
        return slice(self.first, self.last) if self.all_rows or self.ids is None else self.ids


@dataclass(frozen=True)
class Partial:
    """The outcome of a part's half of a superstep; :func:`merge_partials` makes those of all parts one."""

    frontier: int = 0
    out_degree: int = 0
    in_degree: int = 0
    messages: int = 0
    reductions: tuple[Any, ...] = ()
    overflow: str = ""
    """A value that did not fit its field: every part raises the error, so that none waits for another."""
    seconds: float = 0.0
    """What the superstep took so far; of all parts the longest, so that all of them plan by the same time."""
    sent: int = 0
    """Bytes that the part's process has sent to others in the superstep."""


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
        """The fields with one row per vertex of the graph; the part's own rows are the truth."""

    @property
    def edge_state(self) -> Mapping[str, Array]:
        """The edge fields with one row per arc of the part's own rows."""

    @property
    def asynchronous(self) -> bool:
        """Whether :meth:`send` and :meth:`begin_settle` return while their kernels run: such parts are called first."""

    @property
    def planning(self) -> Mapping[str, Any]:
        """What the planner is to know of paths on this leaf, as options of :class:`dromos.plan.Caps`."""

    def start(self) -> Partial:
        """Initial state, first frontier, first reductions; the part was made just before."""

    def start_edges(self, piece: GraphSlice) -> str:
        """Give the arcs of a slice their initial values; the text of an overflow, or nothing."""

    def wanting(self) -> Array | None:
        """The part's vertices that can still use a message, ascending; None: all of them."""

    def enter_grid(self, block: Hashable, num_rows: int) -> None:
        """Have a block of a grid of parts from now on, with so many out-rows; ``block`` tells it from others."""

    def copies(self, phase: Phase) -> Copies | None:
        """What other parts have to know of this one; None if nothing, and then all parts say so."""

    def refresh(self, copies: Copies) -> None:
        """Take over what another part tells of its vertices."""

    def send(self, piece: GraphSlice, path: Path) -> None:
        """Merge the messages of the frontier along the arcs of a slice.

        Pushing, a slice holds out-rows of the part's vertices; pulling, in-rows. It may hold a piece of a row only.
        """

    def wait(self) -> None:
        """Return when the kernels that :meth:`send` started are done."""

    def outbox(self, first: int, last: int) -> Messages:
        """The merged messages to the vertices of another part, which are then forgotten here."""

    def inbox(self, messages: Messages) -> None:
        """Merge messages to this part's vertices."""

    def begin_settle(self) -> None:
        """All messages are there: start what :meth:`settle` waits for."""

    def settle(self) -> Partial:
        """What was sent is taken away, states are updated, the next frontier is made, reductions are folded."""

    def write_edges(self, piece: GraphSlice) -> str:
        """Write the edge fields of the arcs of a slice that were sent along; the text of an overflow, or nothing."""

    def finish(self, reductions: tuple[Any, ...]) -> None:
        """The superstep is over; these are the reductions over all parts."""


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
    """All values as one, as a reduction merges them: a NaN never wins a minimum or maximum.

    >>> from dromos.program.monoid import MIN, SUM
    >>> fold(MIN, np.array([2.0, np.nan])), fold(SUM, np.array([1, 2]))
    (np.float64(2.0), np.int64(3))
    """
    operation: Any = _FOLDS[monoid.name]
    with np.errstate(all="ignore"):
        return values.dtype.type(operation.reduce(values, initial=monoid.identity(values.dtype), dtype=values.dtype))


def fold_reductions(typed: TypedProgram, columns: Sequence[Array]) -> tuple[Any, ...]:
    """Each reduction over many values as one; of a keyed monoid the whole row that wins.

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
            if monoid.keyed:  # the next component is of those that are the best so far
                among = np.arange(len(columns[place]))[rows]
                rows = among[columns[place][rows] == found[place]]
    return tuple(found[place] for place in range(len(typed.ir.reductions)))


def merge_partials(partials: Sequence[Partial], typed: TypedProgram) -> Partial:
    """The partial results of all parts as one; always in the same order, so that sums of floats come out the same."""
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
