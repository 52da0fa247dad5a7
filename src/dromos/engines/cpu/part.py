"""A part of a graph on the cores of this machine: compiled kernels over its slices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.array_part import ArrayPart
from dromos.engines.cpu.costs import planning
from dromos.engines.cpu.emit import fold_reductions, kernel_module
from dromos.engines.cpu.topology import HUB_LENGTH, NO_VALUES
from dromos.engines.merging import listed
from dromos.errors import FieldOverflowError
from dromos.graph.slices import GraphSlice
from dromos.parallel import num_threads, run_team
from dromos.plan import Path
from dromos.plan.path import Direction
from dromos.program import GraphTypes, Program
from dromos.program.expr import reads

__all__ = ["CpuLeaf", "CpuPart"]

# The layout that the skeletons write; the tests hold both sides to it.
LINE, BLOCK, SUMMED = 16, 256, 4096
MESSAGES, OVERFLOWS = 0, 3
QUEUE, TOUCHED, STOP = 5, 6, 7
_WORTH_A_TEAM = 1 << 13  # arcs, or vertices, from which waking the other threads is repaid


class CpuLeaf:
    """Runs parts with kernels that Numba compiles, on ``threads`` threads."""

    name = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        self.threads = num_threads(threads)

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> CpuPart:
        """See :class:`dromos.engines.parts.Leaf`."""
        return CpuPart(program, shape, types, first, last, self.threads)


class CpuPart(ArrayPart):
    """See :class:`dromos.engines.parts.Part`."""

    def __init__(
        self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int, threads: int
    ) -> None:
        super().__init__(program, shape, types, first, last)
        self._threads = threads
        self._kernels = kernel_module(self.typed, self.analysis, "slices")
        n, self._ids = shape.num_vertices, types.id
        self._touched, self._following = np.empty(n, types.id), np.empty(last - first, types.id)
        self._frontier = np.empty(0, types.id)
        self._locks = np.zeros(n, np.uint8)
        written = self.ir.written
        self._old = tuple(np.empty_like(a) if name in written else a for name, a in self.state.items())
        types_of = [(r.monoid, self.typed.reduction_type(r.name)) for r in self.ir.reductions]
        blocks = max(1, -(-(last - first) // SUMMED))
        self._sums = tuple(np.full(blocks, m.identity(dtype), dtype) for m, dtype in types_of) or (np.zeros(1),)
        self.reductions = tuple(dtype.type(0) for _, dtype in types_of)
        self._degrees = {node.op for node in reads(self.ir.exprs(), "out_degree", "in_degree")}

    @property
    def planning(self) -> Mapping[str, Any]:
        """See :class:`dromos.engines.parts.Part`; the same for any number of threads, since ranks may differ."""
        return planning(self.typed, self.analysis, several_threads=True)

    # ---- the halves of a superstep ---------------------------------------------------------------------------------

    def _start(self) -> tuple[Array, tuple[Any, ...]]:
        counters, report = self._counters(), self._report()
        self._launch(
            self._kernels.start_part, self.first, self.last, self._fields(), self._context(), self._following,
            self._buffer(), counters, self._memory(), report, self._sums,
            counters=counters, work=self.shape.num_vertices,
        )  # fmt: skip
        self._require_fit(report, "init")
        return self._queued(counters), self._folded()

    def wanting(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""
        if self.analysis.wants is None:
            return None
        found = np.empty(self.last - self.first, np.uint8)
        self._launch(
            self._kernels.list_wanting, self.first, self.last, self._fields(), self._context(), found, work=len(found)
        )  # fmt: skip
        return listed(found, self._ids, self.first)

    def send(self, piece: GraphSlice, path: Path) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        counters, report = self._counters(), self._report()
        arrays, merged = self._arrays(piece), self.merged
        values, got = tuple(map(_bytes, merged.values)), _bytes(merged.got)
        fields, edges, context = self._fields(), self._edges(piece, path.direction), self._context()
        if path.direction == "push":
            rows = self._rows_in(piece, self.frontier)
            if rows is not None and not len(rows):
                return
            is_listed = not (self._alone and self.ir.update_on == "all")
            self._launch(
                self._kernels.push_slice, arrays, self.first, self.last, fields, edges, context, values, self._locks,
                got, rows is None, self._touched[:0] if rows is None else rows, 0 if rows is None else len(rows),
                is_listed, self._touched, np.empty(piece.num_arcs // HUB_LENGTH + 1, np.int64), self._buffer(),
                counters, self._memory(), report,
                counters=counters, work=piece.num_arcs,
            )  # fmt: skip
        else:
            self.mark_own_frontier()
            self._launch(
                self._kernels.pull_slice, arrays, fields, edges, context, values, got, _bytes(self.member),
                self._touched, self._buffer(), counters, report,
                counters=counters, work=piece.num_arcs,
            )  # fmt: skip
        merged.note(self._touched[: int(counters[TOUCHED * LINE])].copy())
        self._messages += int(report.reshape(-1, LINE)[:, MESSAGES].sum())

    def _settle(self) -> tuple[Array, Array, tuple[Any, ...]]:
        if self.ir.sent:
            self.mark_own_frontier()
        merged, counters, report = self.merged, self._counters(), self._report()
        touched = merged.touched(self.first, self.last)
        everyone = self.always or self.ir.update_on == "all"
        self._launch(
            self._kernels.settle_part, self.first, self.last, self._fields(), self._old, self._context(),
            tuple(map(_bytes, merged.values)), _bytes(merged.got), _bytes(self.member), self._frontier,
            len(self._frontier), touched, len(touched), self._following, self._buffer(), counters, self._memory(),
            report, self._sums,
            counters=counters,
            work=self.last - self.first if everyone or self.ir.reductions else len(touched) + len(self._frontier),
        )  # fmt: skip
        merged.forget(self.first, self.last)
        self._require_fit(report, "update")
        if everyone and not self._alone:
            looked_at = np.arange(self.first, self.last)
        else:
            looked_at = np.concatenate((touched, self._frontier)) if self.ir.sent else touched
        return looked_at, self._queued(counters), self._folded()

    # ---- edge fields -----------------------------------------------------------------------------------------------

    def _start_edges(self, piece: GraphSlice) -> None:
        report = self._report()
        self._launch(
            self._kernels.start_edges, self._arrays(piece), self._fields(), self._edges(piece), self._context(), report,
            work=piece.num_arcs,
        )  # fmt: skip
        self._require_fit(report, "edge_init")

    def _write_edges(self, piece: GraphSlice) -> None:
        report, rows = self._report(), self._rows_in(piece, self._senders)
        before = tuple(self._before[spec.name] for spec in self.ir.fields)
        self._launch(
            self._kernels.write_edges, self._arrays(piece), self.first, self.last, self._fields(), before,
            self._edges(piece), self._context(), rows is None, self._touched[:0] if rows is None else rows,
            0 if rows is None else len(rows), report,
            work=piece.num_arcs,
        )  # fmt: skip
        self._require_fit(report, "edge_update")

    # ---- what kernels are given ------------------------------------------------------------------------------------

    def _launch(self, kernel: Any, *args: Any, counters: Array | None = None, work: int) -> None:
        """Run a kernel, on all threads where that is repaid; Ctrl-C raises the stop flag among its ``counters``."""
        threads = self._threads if work >= _WORTH_A_TEAM else 1
        stop = None if counters is None or threads == 1 else counters[STOP * LINE :]
        run_team(kernel, *args, threads=threads, stop=stop)

    def _fields(self) -> tuple[Array, ...]:
        return tuple(self.state.values())

    def _edges(self, piece: GraphSlice, direction: Direction = "push") -> tuple[Array, ...]:
        """The edge fields of a slice's arcs, and what is given by edge."""
        begin, count = int(piece.offsets[0]), piece.num_arcs
        own = begin - int(self.shape.offsets[self.first])
        fields = tuple(a[own : own + count] for a in self.edge_state.values())
        given = tuple(a[begin : begin + count] for a in self.given_by_arc(direction).values())
        return (*fields, *given) or (NO_VALUES,)

    def _arrays(self, piece: GraphSlice) -> tuple[Any, ...]:
        ends = piece.targets.view(np.dtype(f"u{piece.targets.itemsize}"))
        weights = NO_VALUES if piece.weights is None else piece.weights
        return np.int64(piece.start), _read_only(piece.offsets), _read_only(ends), _read_only(weights)

    def _context(self) -> tuple[Any, ...]:
        return (
            np.int32(self.superstep),
            np.int64(self.shape.num_vertices),
            np.int64(self.shape.num_arcs),
            _read_only(self.shape.offsets) if "out_degree" in self._degrees else NO_VALUES,
            _read_only(self.shape.in_degree) if "in_degree" in self._degrees else NO_VALUES,
            *(self.program.params[spec.name] for spec in self.ir.context_params),
            *self.reductions,
        )

    @staticmethod
    def _rows_in(piece: GraphSlice, vertices: Array | None) -> Array | None:
        if vertices is None:
            return None
        # of the same type: otherwise all of them are converted first
        begin, end = np.searchsorted(vertices, np.array((piece.start, piece.stop), vertices.dtype))
        return vertices[begin:end]

    def _counters(self) -> Array:
        return np.zeros(8 * LINE, dtype=np.int64)

    def _report(self) -> Array:
        return np.zeros(self._threads * LINE, dtype=np.int64)

    def _memory(self) -> Array:
        return np.zeros(3 * LINE * self._threads, dtype=np.int64)

    def _buffer(self) -> Array:
        return np.empty(self._threads * BLOCK, dtype=np.int64)

    # ---- what kernels gave -----------------------------------------------------------------------------------------

    def _queued(self, counters: Array) -> Array:
        return np.sort(self._following[: int(counters[QUEUE * LINE])])

    def _folded(self) -> tuple[Any, ...]:
        return tuple(fold_reductions(self.typed, self._sums)) if self.ir.reductions else ()

    def _require_fit(self, report: Array, function: str) -> None:
        if report.reshape(-1, LINE)[:, OVERFLOWS].any():
            raise FieldOverflowError(
                f"{self.ir.name}.{function}: a value does not fit the integer type of its field; "
                "declare the field with a wider type"
            )


def _bytes(array: Array) -> Array:
    """Truth values as bytes, which kernels change by atomics."""
    return array.view(np.uint8) if array.dtype == bool else array


def _read_only(array: Array) -> Array:
    """A view that cannot be written to: kernels are compiled for one type, wherever a slice comes from."""
    view = array.view()
    view.flags.writeable = False
    return view
