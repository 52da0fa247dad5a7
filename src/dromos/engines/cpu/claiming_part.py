"""A part of a graph on the CPU for traversals in which a vertex receives one message: BFS and its kin.

Between supersteps the frontier is a list or a bitmap, in the form that the last direction left, and is converted to the
other form on demand. In a superstep on a thin frontier, no work here grows with the number of vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines import GraphShape
from dromos.engines.cpu.compiled_part import CompiledPart
from dromos.engines.cpu.launching import (
    LINE,
    QUEUE,
    TOUCHED,
    as_bytes,
    edge_arrays,
    rows_in,
    slice_arrays,
)  # fmt: skip
from dromos.engines.cpu.memory import reused_empty, reused_zeros
from dromos.engines.cpu.skeletons import constants
from dromos.engines.cpu.topology import HUB_LENGTH
from dromos.engines.cpu.words import is_clear, rows_of, words_of
from dromos.engines.parts import Copies, Messages, Partial, Phase
from dromos.engines.saving import Saved
from dromos.graph.slices import GraphSlice
from dromos.plan import Path
from dromos.plan.path import Direction
from dromos.program import FieldSpec, GraphTypes, Program
from dromos.program.expr import reads

__all__ = ["ClaimingPart"]

CLAIMED, OPEN_STARTS = constants("claiming_slices", "CLAIMED", "OPEN_STARTS")
(OUT_DEGREES,) = constants("common", "OUT_DEGREES")


class ClaimingPart(CompiledPart):
    """See :class:`dromos.engines.parts.Part`; only where :func:`is_claimed` says so and there are no open starts.

    ``_wanting`` has a bit for each vertex of the graph: it still wants a message or, of another part, it may and was
    not told one. A message is told once: the owner takes it, or has no use for any.
    """

    skeleton = "claiming_slices"

    def __init__(
        self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int, threads: int
    ) -> None:
        super().__init__(program, shape, types, first, last, threads)
        n = shape.num_vertices
        words = (n + 63) // 64
        self._offsets = read_only(shape.offsets)
        self._words = slice(first // 64, (last + 63) // 64)
        self._wanting = reused_empty(words, np.uint64)
        self._own, self._following = reused_zeros(words, np.uint64), reused_zeros(words, np.uint64)
        self._front = self._own if self._alone else reused_zeros(words, np.uint64)  # of all parts
        self._front_step = -1  # the superstep that `_front` was made for
        self._queue, self._next = reused_empty(last - first, types.id), reused_empty(last - first, types.id)
        others = 0 if self._alone else n
        self._away = reused_empty(others, types.id)
        self._sorted_away: Array | None = None
        self._told_messages = tuple(as_bytes(reused_empty(others, dtype)) for dtype in self.typed.accumulators)
        self._no_values = tuple(np.empty(0, dtype) for dtype in self.typed.accumulators)
        self._size = self._out = 0  # vertices and out-degrees of the frontier
        self._listed: Array | None = None  # the frontier as a list, if there is one; in any order
        self._ascends = False
        self._in_bits = False  # the frontier is in `_own`
        self._found = self._found_out = self._gone = 0  # in the current superstep
        self._pulled = False
        self._pulled_out = 0  # how many vertices a pull found; messages of other parts may add more
        self._initialise()

    def _allocate(self, specs: tuple[FieldSpec, ...], rows: int) -> dict[str, Array]:
        return {
            spec.name: reused_empty((rows,) if spec.size is None else (rows, spec.size), self.typed.dtype(spec.name))
            for spec in specs
        }

    # ---- the first frontier ----------------------------------------------------------------------------------------

    def _initialise(self) -> None:
        run = self._launcher
        counters, report = run.counters(), run.report()
        facts = self.analysis
        own_only = not (facts.source_fields or facts.target_fields or reads([self.ir.start], "field"))
        run.run(
            self._kernels.start_claims, self.first, self.last, own_only, self._fields(), run.context(), self._offsets,
            self._wanting, (self._next, self._away), (run.buffer(), run.buffer()), counters, report,
            counters=counters, work=self.shape.num_vertices,
        )  # fmt: skip
        lines = report.reshape(-1, LINE)
        self._started = report
        self.has_open_starts = bool(lines[:, OPEN_STARTS].any())
        """Some vertex in the first frontier still wants a message: this kind of part does not support that."""
        self._found, self._found_out = int(counters[QUEUE * LINE]), int(lines[:, OUT_DEGREES].sum())
        self._away_starts = int(counters[TOUCHED * LINE])  # other parts' vertices in the first frontier, in `_away`

    def _start(self) -> tuple[Array, tuple[Any, ...]]:
        self._launcher.require_fit(self._started, "init")
        return self._advance(), ()

    # ---- a superstep -----------------------------------------------------------------------------------------------

    @property
    def frontier(self) -> Array:
        """See :class:`dromos.engines.parts.Part`."""
        listed = self._list()
        if not self._ascends:
            listed.sort()
            self._ascends = True
        return listed

    @property
    def sending(self) -> Array:
        """As its base, never None: a search ends, so that never all vertices are active."""
        found = super().sending
        assert found is not None
        return found

    def _list(self) -> Array:
        """The frontier as a list, in any order."""
        if self._listed is None:
            self._listed, self._ascends = self._listing(self._own, self._queue, self.first, self.last), True
        return self._listed

    def wanting(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""
        room = np.empty(self.last - self.first, self.types.id)
        return self._listing(self._wanting, room, self.first, self.last)

    def marked(self, direction: Direction) -> Array | None:
        """The vertices that send, or that want a message in a pull, as bits; None if they are only listed."""
        if direction == "pull":
            return self._wanting
        return self._own if self._in_bits and self._listed is None else None

    def wanting_between(self, first: int, last: int) -> Array:
        """The vertices of ``first..last`` that want a message now, even during a superstep; ascending."""
        return self._listing(self._wanting, np.empty(last - first, self.types.id), first, last)

    @property
    def wants_none(self) -> bool:
        """Whether no own vertex wants a message any more, so that none need be sent here."""
        return is_clear(self._wanting, self.first, self.last)

    def _listing(self, bits: Array, room: Array, first: int, last: int) -> Array:
        run, report = self._launcher, self._launcher.report()
        # pieces of the part are listed while others run: one thread is done before the other threads are awake
        work = last - first if last - first == self.last - self.first else 0
        run.run(self._kernels.to_list, bits, first, last, room, run.memory(), report, work=work)
        return room[: int(report.reshape(-1, LINE)[:, CLAIMED].sum())]

    def send(self, piece: GraphSlice, path: Path) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        if self._size == 0 and self._alone:
            return
        if path.direction == "pull":
            self._pull(piece)
        elif self._size or self._heard:
            self._push(piece)

    def _push(self, piece: GraphSlice) -> None:
        whole = piece.num_arcs == int(self._offsets[self.last]) - int(self._offsets[self.first])
        if self.in_grid:
            rows = rows_in(piece, self.sending)
        else:
            rows = self._list() if whole else rows_in(piece, self.frontier)
        if not len(rows):
            return
        run = self._launcher
        counters, report = run.counters(queue=self._found, touched=self._gone), run.report()
        run.run(
            self._kernels.push_claims, slice_arrays(self, piece), self.first, self.last, False, self._fields(),
            edge_arrays(self, piece), run.context(), self._told_messages, self._offsets, self._wanting, rows, len(rows),
            (self._next, self._away), np.empty(piece.num_arcs // HUB_LENGTH + 1, np.int64),
            (run.buffer(), run.buffer(), run.buffer()), counters, run.memory(), report,
            counters=counters, work=piece.num_arcs if self.in_grid else min(piece.num_arcs, self._out),
        )  # fmt: skip
        self._count(counters, report)
        self._gone = int(counters[TOUCHED * LINE])

    def _pull(self, piece: GraphSlice) -> None:
        if self._front_step != self.superstep:
            self._make_front()
        if not self._pulled:
            self._following[self._words] = 0
            self._pulled = True
        run = self._launcher
        counters, report = run.counters(touched=self._gone), run.report()
        run.run(
            self._kernels.pull_claims, slice_arrays(self, piece), piece.lacks_arcs, self.first, self.last,
            self._fields(), edge_arrays(self, piece, "pull"), run.context(), self._told_messages, self._offsets,
            self._front, self._wanting, self._following, self._away, run.buffer(), counters, report,
            counters=counters, work=piece.num_arcs,
        )  # fmt: skip
        self._gone = int(counters[TOUCHED * LINE])
        lines = report.reshape(-1, LINE)
        self._found += int(lines[:, CLAIMED].sum())
        self._pulled_out = self._found
        self._found_out += int(lines[:, OUT_DEGREES].sum())

    def _count(self, counters: Array, report: Array) -> None:
        self._found = int(counters[QUEUE * LINE])
        self._found_out += int(report.reshape(-1, LINE)[:, OUT_DEGREES].sum())

    def settle(self) -> Partial:
        """See :class:`dromos.engines.parts.Part`."""
        messages = self._found + self._gone
        self._advance()
        return Partial(self._size, self._out, 0, messages)

    def _settle(self) -> tuple[Array, Array, tuple[Any, ...]]:
        raise NotImplementedError  # vertices are updated as soon as their messages arrive

    def _partial(self, reductions: tuple[Any, ...]) -> Partial:
        return Partial(self._size, self._out)

    def _advance(self) -> Array:
        """Make the vertices that were found the frontier; return an empty list."""
        self._size, self._out = self._found, self._found_out
        if self._pulled:
            told = self._next[self._pulled_out : self._found]  # found through messages of other parts, after the pull
            if len(told):
                self._launcher.run(self._kernels.to_bits, told, self._following, work=len(told))
            if self._front is self._own:
                self._front = self._following
            self._own, self._following = self._following, self._own
            self._listed, self._in_bits = None, True
        else:
            self._queue, self._next = self._next, self._queue
            self._listed, self._ascends, self._in_bits = self._queue[: self._size], self._size < 2, False
        self._found = self._found_out = self._gone = 0
        self._pulled, self._sorted_away = False, None
        return self._queue[:0]

    # ---- checkpoints -----------------------------------------------------------------------------------------------

    def _saved_frontier(self) -> dict[str, Array | None]:
        """The frontier in its own order, which decides between parents, and the vertices that still want a message."""
        return {"frontier": self._list(), "ascends": np.asarray(self._ascends), "wanting": self._wanting}

    def restore(self, saved: Saved, superstep: int) -> None:
        """As its base."""
        super().restore(saved, superstep)
        front = saved["frontier"]
        self._wanting[:] = saved["wanting"]
        self._found, self._found_out = len(front), int((self._offsets[front + 1] - self._offsets[front]).sum())
        self._next[: len(front)] = front
        self._advance()
        self._ascends = bool(saved["ascends"])

    # ---- exchange between parts ------------------------------------------------------------------------------------

    def copies(self, phase: Phase) -> Copies | None:
        """See :class:`dromos.engines.parts.Part`: a pull needs the frontier, a push and edges nothing.

        A push reads fields of a target as they are while it wants a message, which is how they began. In a grid a push
        needs a list of the frontier, and who pulls for others is told who of them wants no message any more.
        """
        if phase == "sources":
            fields = {name: self.state[name][self.frontier] for name in self._told("pull")}
            return Copies(self.first, self.last, self.frontier, fields, active=True)
        if phase not in ("pull", "targets"):
            return None
        if self._front_step != self.superstep:
            self._make_front()
        names = self._told("pull") if phase == "pull" else ()
        fields = {name: self.state[name][self.frontier] for name in names}
        return Copies(self.first, self.last, None, fields, active=True, marks=self._own[self._words])

    def refresh(self, copies: Copies) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        if copies.fields:
            at = copies.rows
            for name, values in copies.fields.items():
                self.state[name][at] = values
        if not copies.active:
            return
        if self.in_grid and copies.marks is None:
            self._heard.append(np.arange(copies.first, copies.last) if copies.ids is None else copies.ids)
        marks = words_of(copies) if copies.marks is None else copies.marks
        self._launcher.run(
            self._kernels.take_marks, copies.first, copies.last, read_only(marks), self._front, self._wanting,
            work=len(marks),
        )  # fmt: skip

    def _make_front(self) -> None:
        """Put the own frontier into ``_own`` and ``_front``; those of all other parts are added before a pull."""
        if not self._in_bits:
            listed = self._list()
            self._own[self._words] = 0
            self._launcher.run(self._kernels.to_bits, listed, self._own, work=len(listed))
            self._in_bits = True
        if self._front is not self._own:
            self._front[self._words] = self._own[self._words]  # words at both ends are shared: other parts' bits follow
        self._front_step = self.superstep

    def outbox(self, first: int, last: int) -> Messages:
        """See :class:`dromos.engines.parts.Part`."""
        if not self._gone:
            return Messages(first, last, self._away[:0], self._no_values)
        if last - first + self.last - self.first == self.shape.num_vertices:  # there is no third part
            ids = self._away[: self._gone]
        else:
            if self._sorted_away is None:
                away = self._away[: self._gone]
                # a single thread that pulls goes word by word, in ascending order
                self._sorted_away = away if bool((away[1:] > away[:-1]).all()) else np.sort(away)
            begin, end = np.searchsorted(self._sorted_away, np.array((first, last), self.types.id))
            ids = self._sorted_away[begin:end]
        kinds = zip(self._told_messages, self.typed.accumulators, strict=True)
        return Messages.packed(first, last, ids, tuple(rows_of(values, ids).view(dtype) for values, dtype in kinds))

    def inbox(self, messages: Messages) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        ids, values = messages.unpacked()
        if not len(ids):
            return
        run = self._launcher
        counters, report = run.counters(queue=self._found), run.report()
        run.run(
            self._kernels.receive_claims, read_only(ids.astype(self.types.id, copy=False)),
            tuple(read_only(as_bytes(array)) for array in values), self._fields(), run.context(), self._offsets,
            self._wanting, self._next, run.buffer(), counters, report,
            counters=counters, work=len(ids),
        )  # fmt: skip
        self._count(counters, report)

    # ---- edge fields: such a program has none ----------------------------------------------------------------------

    def _start_edges(self, piece: GraphSlice) -> None:
        return

    def _write_edges(self, piece: GraphSlice) -> None:
        return
