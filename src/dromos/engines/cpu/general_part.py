"""A part of a graph on the cores of this machine, for any program: compiled kernels over its slices."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dromos.codegen.facts import keeps_old_rows
from dromos.dtypes import Array, read_only
from dromos.engines import GraphShape
from dromos.engines.board import Board, posted_range
from dromos.engines.cpu.asynchronous_slices import AsynchronousSlices
from dromos.engines.cpu.compiled_part import CompiledPart
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.initial import start_by_arrays
from dromos.engines.cpu.launching import (
    LINE,
    QUEUE,
    TOUCHED,
    as_bytes,
    edge_arrays,
    rows_in,
    slice_arrays,
)  # fmt: skip
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.cpu.offers import are_far
from dromos.engines.cpu.skeletons import constants
from dromos.engines.cpu.sorted_slice import SortedSlice
from dromos.engines.cpu.source_order import BY_ID, SourceOrder
from dromos.engines.cpu.tiles import tiles_of
from dromos.engines.cpu.topology import HUB_LENGTH, NO_VALUES
from dromos.engines.merging import Accumulators, listed
from dromos.engines.parts import Copies, Messages, fold_reductions
from dromos.graph.slices import GraphSlice
from dromos.plan import Path
from dromos.program import GraphTypes, Program
from dromos.program.forms import is_offered
from dromos.program.monoid import ANY

__all__ = ["CpuPart"]

(SUMMED,), (MESSAGES,) = constants("slices", "SUMMED"), constants("common", "MESSAGES")


class Working(NamedTuple):
    """Arrays that a part's kernels work on."""

    fields: tuple[Array, ...]
    old: tuple[Array, ...]
    locks: Array
    following: Array
    """Room for the next frontier."""


class CpuPart(CompiledPart):
    """See :class:`dromos.engines.parts.Part`."""

    skeleton = "slices"
    slices_stay = True
    """Whether slices stay in memory between supersteps, so that data derived from them may be kept."""
    rows_serve_both = False
    """Whether the slices of a pull are those of a push, since the graph is symmetric."""

    def __init__(
        self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int, threads: int
    ) -> None:
        super().__init__(program, shape, types, first, last, threads)
        self._offered_at = self._posted_at = -1  # the supersteps of `_offers` and `_posted`
        self._offered_in = BY_ID  # the order of `_offers`
        self._board: Board | None = None
        self._posted: tuple[Array, ...] = ()
        self._at_once: AsynchronousSlices | None = None
        self._pulled: list[GraphSlice] = []  # the slices pulled in this superstep, if their messages go out in blocks
        n, self._ids = shape.num_vertices, types.id
        self._touched, self._following = np.empty(n, types.id), np.empty(last - first, types.id)
        self._frontier = np.empty(0, types.id)
        self._locks = np.zeros(n, np.uint8)
        copied = self.ir.written if keeps_old_rows(self.ir) else ()
        self._old = tuple(np.empty_like(a) if name in copied else a for name, a in self.state.items())
        types_of = [(r.monoid, self.typed.reduction_type(r.name)) for r in self.ir.reductions]
        blocks = max(1, -(-(last - first) // SUMMED))
        self._sums = tuple(np.full(blocks, m.identity(dtype), dtype) for m, dtype in types_of) or (np.zeros(1),)
        self.reductions = tuple(dtype.type(0) for _, dtype in types_of)

    @cached_property
    def merged(self) -> Accumulators:
        """The accumulators of the messages."""
        return Accumulators(self.typed, self.shape.num_vertices, reused_empty)

    @cached_property
    def _offers(self) -> tuple[Array, ...]:
        """The message of every vertex, if it depends on the vertex alone; empty for other programs."""
        rows = self.shape.num_vertices if is_offered(self.ir, self.analysis) else 0
        return tuple(as_bytes(reused_empty(rows, dtype)) for dtype in self.typed.accumulators)

    # ---- the halves of a superstep ---------------------------------------------------------------------------------

    def _start(self) -> tuple[Array, tuple[Any, ...]]:
        run, kernel = self._launcher, self._kernels.start_part
        counters, report = run.counters(), run.report()
        args = (
            self.first, self.last, self._fields(), run.context(), self._following, run.buffer(), counters, run.memory(),
            report, self._sums,
        )  # fmt: skip
        found = start_by_arrays(self, kernel, (0, run.threads, *args))
        if found is not None:
            return found
        run.run(kernel, *args, counters=counters, work=self.shape.num_vertices)
        self._launcher.require_fit(report, "init")
        return self._queued(counters), self._folded()

    def wanting(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""
        if self.analysis.wants is None:
            return None
        found = np.empty(self.last - self.first, np.uint8)
        self._launcher.run(
            self._kernels.list_wanting, self.first, self.last, self._fields(), self._launcher.context(), found,
            work=len(found),
        )  # fmt: skip
        return listed(found, self._ids, self.first)

    @property
    def applies_at_once(self) -> bool:
        """Whether it has asynchronous supersteps, for programs that allow them; see :class:`AsynchronousSlices`."""
        return self._alone and not self.always and not self.ir.sent

    def send(self, piece: GraphSlice, path: Path) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        if path.sync == "async":
            self._at_once = self._at_once or AsynchronousSlices(self)
            self._messages += self._at_once.send(piece, path)
            return
        counters, report = self._launcher.counters(), self._launcher.report()
        arrays, merged = slice_arrays(self, piece), self.merged
        values, got = tuple(map(as_bytes, merged.values)), as_bytes(merged.got)
        fields, edges, context = self._fields(), edge_arrays(self, piece, path.direction), self._launcher.context()
        if path.direction == "push":
            rows = self._rows_in(piece, self.sending)
            if rows is not None and not len(rows):
                return
            is_listed = not (self._alone and self.ir.update_on == "all")
            self._launcher.run(
                self._kernels.push_slice, arrays, self.first, self.last, fields, edges, context, values, self._locks,
                got, rows is None, self._touched[:0] if rows is None else rows, 0 if rows is None else len(rows),
                is_listed, self._touched, np.empty(piece.num_arcs // HUB_LENGTH + 1, np.int64), self._launcher.buffer(),
                counters, self._launcher.memory(), report,
                counters=counters, work=piece.num_arcs,
            )  # fmt: skip
        else:
            self._pull(piece, arrays, fields, edges, context, values, got, counters, report)
        merged.note(self._touched[: int(counters[TOUCHED * LINE])].copy())
        self._messages += int(report.reshape(-1, LINE)[:, MESSAGES].sum())

    def _pull(
        self, piece: GraphSlice, arrays: Any, fields: Any, edges: Any, context: Any, values: Any, got: Array,
        counters: Array, report: Array,
    ) -> None:  # fmt: skip
        run, offers, tiles = self._launcher, self._offers, None
        if isinstance(piece, SortedSlice):
            self._pull_sorted(piece, values, counters)
            return
        self.mark_own_frontier()
        first, last = self.first, self.last
        if self._folds_blocks:  # the vertices that got a message are not listed
            self._pulled.append(piece)
            first, last = piece.start, piece.stop
        if self.posts_offers:
            if self._posted_at == self.superstep:
                assert self._board is not None
                self._board.wait()
                offers = self._posted
            else:
                self._renew_offers()
            tiles = tiles_of(self.shape, piece, run.threads) if self.slices_stay else None
        if tiles is None:
            run.run(
                self._kernels.pull_slice, arrays, first, last, fields, edges, context, values, got,
                as_bytes(self.member), offers, are_far(self._offers), self._touched, run.buffer(), counters, report,
                counters=counters, work=piece.num_arcs,
            )  # fmt: skip
            return
        sums = tuple(as_bytes(reused_empty(run.threads * tiles.rows, dtype)) for dtype in self.typed.accumulators)
        cut = (np.int64(tiles.rows), read_only(tiles.starts), read_only(tiles.sources))
        run.run(
            self._kernels.pull_tiles, arrays[0], arrays[1], cut, first, last, fields, context, values, got,
            offers, sums, self._touched, run.buffer(), counters, run.memory(), report,
            counters=counters, work=piece.num_arcs,
        )  # fmt: skip

    @property
    def pulls_sorted(self) -> bool:
        """Whether pulls accept a :class:`SortedSlice`: every vertex gathers from all of its sources."""
        return self.posts_offers and self.always and self.ir.update_on == "all" and self.analysis.wants is None

    def _pull_sorted(self, piece: SortedSlice, values: Any, counters: Array) -> None:
        assert piece.blocks is not None
        run, blocks = self._launcher, piece.blocks
        self._renew_offers(blocks.order)
        merged = tuple(as_bytes(reused_empty(run.threads * blocks.rows, dtype)) for dtype in self.typed.accumulators)
        run.run(
            kernel_module(self.typed, self.analysis, "slice_blocks").pull_sorted, np.int64(piece.start),
            blocks.arrays(), np.int64(blocks.rows), self._offers, values, merged, counters,
            counters=counters, work=piece.num_arcs,
        )  # fmt: skip
        self._messages += piece.num_arcs

    def refresh(self, copies: Copies) -> None:
        """See :class:`dromos.engines.parts.Part`; blocks are copied by kernels."""
        if not copies.all_rows or copies.marks is None or self.always:
            super().refresh(copies)
            return
        from dromos.engines.cpu import copy_kernels as kernels

        run, size = self._launcher.run, copies.last - copies.first
        for name, values in copies.fields.items():
            into = self.state[name][copies.first : copies.last]
            run(kernels.copy_words, read_only(_as_words(values)), _as_words(into), work=size)
        run(kernels.spread_bits, read_only(copies.marks), copies.first, copies.last, as_bytes(self.member), work=size)

    # ---- messages to others' vertices that a pull in a grid gathers --------------------------------------------------

    @cached_property
    def _folds_blocks(self) -> bool:
        """Whether such messages go to their owner as one block: all vertices want a message, and are updated."""
        combine = self.ir.combine
        mergeable = combine is not ANY and not combine.keyed
        return self.in_grid and mergeable and self.ir.update_on == "all" and self.analysis.wants is None

    def outbox(self, first: int, last: int) -> Messages:
        """See :class:`dromos.engines.parts.Part`."""
        if not self._pulled:
            return super().outbox(first, last)
        reached = max(_end_of_arcs(piece, first, last) for piece in self._pulled)
        return Messages(first, reached, None, self.merged.take_block(first, reached))

    # ---- messages that depend on their source alone ----------------------------------------------------------------

    @cached_property
    def posts_offers(self) -> bool:
        """See :class:`dromos.engines.board.PostingPart`."""
        return is_offered(self.ir, self.analysis)

    def board_rows(self, rows: int, dtype: np.dtype[Any]) -> Array:
        """See :class:`dromos.engines.board.PostingPart`."""
        return reused_empty(rows, dtype)

    def post_offers(self, board: Board) -> None:
        """See :class:`dromos.engines.board.PostingPart`."""
        self._board, self._posted, self._posted_at = board, tuple(map(as_bytes, board.arrays)), self.superstep
        self.mark_own_frontier()
        own = posted_range(self.shape.offsets, self.first, self.last)
        self._make_offers(own.start, own.stop, self._posted)

    def take_offers(self, board: Board, first: int, last: int) -> None:
        """See :class:`dromos.engines.board.PostingPart`: they are read where they are."""

    def _renew_offers(self, order: SourceOrder = BY_ID) -> None:
        """Compute the offers of this superstep in the given order, unless they are there already."""
        if self._offered_at == self.superstep and self._offered_in is order:
            return
        self._offered_at, self._offered_in = self.superstep, order
        if order is BY_ID:
            self._make_offers(0, self.shape.num_vertices, self._offers)
            return
        self._launcher.run(
            kernel_module(self.typed, self.analysis, "slice_blocks").make_offers_in_order, order.places, self._fields(),
            (NO_VALUES,), self._launcher.context(), self._offers, work=self.shape.num_vertices,
        )  # fmt: skip

    def _make_offers(self, first: int, last: int, offers: tuple[Array, ...]) -> None:
        self._launcher.run(
            self._kernels.make_offers, np.int64(first), np.int64(last), self._fields(), (NO_VALUES,),
            self._launcher.context(), as_bytes(self.member), offers, work=last - first,
        )  # fmt: skip

    # ---- the second half -------------------------------------------------------------------------------------------

    def _settle(self) -> tuple[Array, Array, tuple[Any, ...]]:
        self._pulled = []
        if self._at_once is not None and self._at_once.begun:
            return self._touched[:0], self._at_once.settle(), ()
        if self.ir.sent:
            self.mark_own_frontier()
        merged, counters, report = self.merged, self._launcher.counters(), self._launcher.report()
        touched = merged.touched(self.first, self.last)
        everyone = self.always or self.ir.update_on == "all"
        self._launcher.run(
            self._kernels.settle_part, self.first, self.last, self._fields(), self._old, self._launcher.context(),
            tuple(map(as_bytes, merged.values)), as_bytes(merged.got), as_bytes(self.member), self._frontier,
            len(self._frontier), touched, len(touched), self._following, self._launcher.buffer(), counters,
            self._launcher.memory(), report, self._sums,
            counters=counters,
            work=self.last - self.first if everyone or self.ir.reductions else len(touched) + len(self._frontier),
        )  # fmt: skip
        merged.forget(self.first, self.last)
        self._launcher.require_fit(report, "update")
        if not (self._told("push") or self._told("edges")):
            looked_at = touched  # not used
        elif everyone:
            looked_at = np.arange(self.first, self.last)
        else:
            looked_at = np.concatenate((touched, self._frontier)) if self.ir.sent else touched
        return looked_at, self._queued(counters), self._folded()

    # ---- edge fields -----------------------------------------------------------------------------------------------

    def _start_edges(self, piece: GraphSlice) -> None:
        report = self._launcher.report()
        self._launcher.run(
            self._kernels.start_edges, slice_arrays(self, piece), self._fields(), edge_arrays(self, piece),
            self._launcher.context(), report,
            work=piece.num_arcs,
        )  # fmt: skip
        self._launcher.require_fit(report, "edge_init")

    def _write_edges(self, piece: GraphSlice) -> None:
        report, rows = self._launcher.report(), self._rows_in(piece, self._senders)
        before = tuple(self._before[spec.name] for spec in self.ir.fields)
        self._launcher.run(
            self._kernels.write_edges, slice_arrays(self, piece), self.first, self.last, self._fields(), before,
            edge_arrays(self, piece), self._launcher.context(), rows is None,
            self._touched[:0] if rows is None else rows, 0 if rows is None else len(rows), report,
            work=piece.num_arcs,
        )  # fmt: skip
        self._launcher.require_fit(report, "edge_update")

    # ---- what kernels are given ------------------------------------------------------------------------------------

    @staticmethod
    def _rows_in(piece: GraphSlice, vertices: Array | None) -> Array | None:
        return None if vertices is None else rows_in(piece, vertices)

    @property
    def arrays(self) -> Working:
        """The part's working arrays."""
        return Working(self._fields(), self._old, self._locks, self._following)

    # ---- what kernels gave -----------------------------------------------------------------------------------------

    def _queued(self, counters: Array) -> Array:
        return np.sort(self._following[: int(counters[QUEUE * LINE])])

    def _folded(self) -> tuple[Any, ...]:
        return fold_reductions(self.typed, self._sums) if self.ir.reductions else ()


def _end_of_arcs(piece: GraphSlice, first: int, last: int) -> int:
    """One past the last of the vertices ``first..last`` that has arcs in a slice; ``first`` if none has."""
    start, stop = max(first, piece.start), min(last, piece.stop)
    if start >= stop:
        return first
    rows = posted_range(piece.offsets, start - piece.start, stop - piece.start)
    return piece.start + rows.stop if rows.stop > rows.start else first


def _as_words(values: Array) -> Array:
    """View an array as unsigned integers of the same size, so that few kernels serve all types."""
    flat = values.reshape(-1)
    size = flat.itemsize
    return flat.view(np.dtype(f"u{size}")) if size in (1, 2, 4, 8) else flat.view(np.uint8)
