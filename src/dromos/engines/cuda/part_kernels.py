"""The kernels of a part of a graph on a GPU: their working memory, their arguments, and their record."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.arc_order import in_order
from dromos.engines.cuda.compiler import as_bytes
from dromos.engines.cuda.device_slices import DeviceSlice, device_offsets, device_slice, offsets_dtype
from dromos.engines.cuda.layout import (
    HEAD_BYTES,
    LAUNCH_BYTES,
    arguments_type,
    control_type,
    merged_type,
    piece_type,
    reduced_type,
)
from dromos.engines.cuda.memory import State, address, addresses_of, fill_params
from dromos.engines.cuda.modules import module_of, slices_kernel
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.cuda.residency import free_bytes
from dromos.engines.cuda.streamed_rows import RowsOnDevice, StreamedRows
from dromos.engines.cuda.transfers import fetch_later, pinned_empty
from dromos.graph.slices import GraphSlice
from dromos.plan.path import Direction
from dromos.program import Analysis, Program, TypedProgram
from dromos.program.expr import reads
from dromos.program.forms import is_claimed
from dromos.program.monoid import ANY

__all__ = ["BLOCK", "DeviceClock", "PartKernels"]

BLOCK: Final = 512
"""Threads in a block of the kernels of parts."""
_MOST_BLOCKS: Final = 1 << 13
_SHORT: Final = 1 << 14  # arcs of a row that a warp processes beside 31 others
_FILL: Final = 0.9  # of what is free: frontiers and results take some
_MANY: Final = 1 << 14  # active vertices among which a few long rows do not matter
_MEMBERS: Final = {
    "push": ("offsets", "targets", "weights"),
    "pull": ("in_offsets", "sources", "in_weights"),
}


class DeviceClock:
    """The time that the device spends on work started inside ``with clock:``, over several of these."""

    def __init__(self) -> None:
        self._pairs: list[tuple[Any, Any]] = []
        self._used = 0

    def __enter__(self) -> None:
        import cupy

        if self._used == len(self._pairs):
            self._pairs.append((cupy.cuda.Event(), cupy.cuda.Event()))
        self._pairs[self._used][0].record()

    def __exit__(self, *error: object) -> None:
        self._pairs[self._used][1].record()
        self._used += 1

    def seconds(self) -> float:
        """The sum since the last call; the caller has waited for the device."""
        import cupy

        used, self._used = self._pairs[: self._used], 0
        return float(sum(cupy.cuda.get_elapsed_time(*pair) for pair in used)) / 1e3


class PartKernels:
    """The arguments of ``kernels/slices.cuh``: fields of all vertices, accumulators, frontiers, and rows of a slice."""

    def __init__(
        self,
        program: Program,
        typed: TypedProgram,
        analysis: Analysis,
        shape: GraphShape,
        first: int,
        last: int,
        room: int | None,
    ) -> None:
        """``room``: the device memory for the arcs in bytes; None: all that they need."""
        import cupy

        self.typed, self.shape, self.room = typed, shape, room
        self.once = is_claimed(typed, analysis) and typed.ir.combine is ANY
        """Whether a vertex receives any one message, and then wants none."""
        n, ids = shape.num_vertices, typed.types.id
        self._arc_base = int(shape.offsets[first])
        self.memory = State(typed, n, int(shape.offsets[last]) - self._arc_base)
        self.received = cupy.zeros(n, cupy.uint8)
        self.changed = cupy.zeros(n, cupy.uint8)
        self._queues: Any = None  # the frontier, the next one, and hubs
        self._bits = cupy.zeros((3, (n + 63) // 64 * 2), cupy.uint32)  # members, the next ones, and locks
        self.control = cupy.zeros(control_type(typed).itemsize, cupy.uint8)
        self._record = pinned_empty(self.control.nbytes, self.control.dtype)
        self._partial = cupy.empty(2 * _MOST_BLOCKS * reduced_type(typed).itemsize, cupy.uint8)
        self._kernel = slices_kernel(typed, analysis)
        self.by_source = self._kernel.by_source
        self._searches = analysis.vote and not self.by_source
        self.types = types = (
            f"VID={'int' if ids.itemsize == 4 else 'long long'}",
            f"EID={'unsigned' if offsets_dtype(shape.num_arcs).itemsize == 4 else 'long long'}",
        )
        self._module = module_of(typed, analysis, self._kernel, types, CudaOptions(), BLOCK)
        self.arguments, self._piece = np.zeros(1, arguments_type(typed)), np.zeros(1, piece_type)
        self._passed = as_bytes(self.arguments), as_bytes(self._piece)
        self._merged_type = merged_type(typed)
        self._seen = self._record.view(control_type(typed))
        self._row_starts = device_offsets(shape, "push")
        self._in_starts = device_offsets(shape, "pull") if [*reads(typed.ir.exprs(), "in_degree")] else None
        self._flipped, self._num_own = False, 0
        self._block: Hashable = None  # the part's block of a grid
        self.streamed: StreamedRows | None = None
        """The buffers for rows of a graph on disk; None if slices stay in the host's memory."""
        self.clock = DeviceClock()
        self._program, self._own = program, (first, last)
        self._by_arc: dict[Direction, dict[str, int]] = {}  # the virtual start of the given values of all arcs
        self._kept: list[Any] = []
        self.packed: tuple[Any, ...] | None = None
        self._count = cupy.empty(1, cupy.uint32)
        self._counted = pinned_empty(1, self._count.dtype)
        self._fill(program, first, last)

    # ---- launches --------------------------------------------------------------------------------------------------

    def launch(self, name: str, *more: Any, together: bool = False) -> None:
        """Start a kernel of the part; ``together``: its blocks wait for each other."""
        if together:
            self.control.data.memset_async(0, LAUNCH_BYTES)
        grid = self._module.cooperative_grid(name, BLOCK)
        self._module.launch(name, grid, BLOCK, *self._passed, *more, together=together)

    def push_away(self) -> None:
        """Start a push along the current slice, without messages to the part's own vertices."""
        last = self._own[1]
        few = 0 < int(self._piece["size"][0]) < _MANY  # 0: not counted, all vertices are active
        rows_ascend = getattr(getattr(self.shape, "known_flags", None), "sorted", False)
        if not few and rows_ascend and last == self.shape.num_vertices and self._slice.max_degree < _SHORT:
            self.launch("push_below")
            return
        self._piece["away"] = 1
        self.launch("push_slice", together=True)
        self._piece["away"] = 0

    def pull(self, is_first: bool) -> None:
        """Start a pull along the current slice; ``is_first``: offers are computed anew."""
        box = self.arguments["A"].copy()
        if self.by_source:
            if is_first:
                self.offer(0, self.shape.num_vertices)
            self.arguments["A"] = self.box(self.memory.offers)
        self.launch("search_slice" if self._searches else "pull_slice", box)
        self.arguments["A"] = box

    def offer(self, first: int, last: int) -> None:
        """Start computing the messages of ``first..last``, if they depend on their source alone."""
        box, piece = self.arguments["A"].copy(), self._piece.copy()
        self.arguments["A"] = self.box(self.memory.offers)
        self.point_at_range(first, last)
        self.launch("offer_part")
        self.arguments["A"], self._piece[...] = box, piece

    def pack_box(self, first: int, last: int) -> None:
        """Start listing the messages to vertices ``first..last`` in :attr:`packed`, and resetting them in the box."""
        import cupy

        packed = self.reserve_packed(last - first)
        stream, piece = cupy.cuda.get_current_stream(), self._piece.copy()
        self._count.data.memset_async(0, self._count.nbytes)
        self.point_at_range(first, last)
        ids, *values = packed
        self.launch("pack_box", np.uint64(address(ids)), self.box(values), np.uint64(address(self._count)))
        self._piece[...] = piece
        fetch_later(self._count, self._counted, stream)

    def push_rows(self, sources: Any, starts: Any, targets: Any, weights: Any = None) -> None:
        """Start a push to own vertices along rows of other parts' vertices."""
        self.arguments["G"]["weights"] = address(weights)
        places = (sources, starts, targets)
        self.launch("push_rows", *(np.uint64(address(array)) for array in places), np.int64(len(sources)))

    def place_rows(self, ids: Any, rows: Any, field: Any) -> None:
        """Start writing rows of a field: ``rows[i]`` to the vertex ``ids[i]``."""
        size = rows.nbytes // len(rows)
        self.launch(
            "place_rows", np.uint64(address(ids)), np.int64(len(ids)), np.int64(size), np.uint64(address(rows)),
            np.uint64(address(field)),
        )  # fmt: skip

    def make_frontier(self, ids: Any) -> None:
        """Start making own vertices (distinct) the frontier; other parts' bits are cleared too."""
        bits = self._bits[int(self._flipped)]
        bits.data.memset_async(0, bits.nbytes)
        self._piece["size"] = self._num_own = len(ids)
        self.launch("make_frontier", np.uint64(address(ids)))

    def reserve_packed(self, most: int) -> tuple[Any, ...]:
        """Memory on the device for a list of ``most`` messages: their ids, then their values."""
        import cupy

        if self.packed is None or len(self.packed[0]) < most:
            types = (self.typed.types.id, *(array.dtype for array in self.memory.merged))
            self.packed = tuple(cupy.empty(most, dtype) for dtype in types)
        return self.packed

    def num_packed(self) -> int:
        """How many messages the last :meth:`pack_box` listed; waits for it."""
        import cupy

        cupy.cuda.get_current_stream().synchronize()
        return int(self._counted[0])

    def record(self) -> Any:
        """Wait for the kernels since the last :meth:`turn`, and return their record; valid until the next one."""
        import cupy

        stream = cupy.cuda.get_current_stream()
        fetch_later(self.control, self._record, stream)
        stream.synchronize()
        return self._seen[0]

    def turn(self, superstep: int, size: int, reductions: dict[str, Any], *, flip: bool = True) -> None:
        """Make the next frontier, of ``size`` vertices, the current one; reset the record.

        ``flip``: it was written to the buffers of the next frontier; otherwise to those of the current one.
        """
        context, work = self.arguments["K"][0], self.arguments["W"][0]
        for name, value in reductions.items():
            context[f"r_{name}"] = value
        context["superstep"] = superstep
        if flip:
            for name in ("queue", "member"):
                work[name] = work[name][::-1].copy()
            self._flipped = not self._flipped
        self._point_at_tables(self.memory.fields)
        self._piece["size"] = self._num_own = size
        self.control.data.memset_async(0, HEAD_BYTES)

    def queue(self) -> Any:
        """The own vertices of the frontier, in no order."""
        return self._queues[int(self._flipped)][: self._num_own]

    def enter_grid(self, block: Hashable, num_rows: int) -> None:
        """Set the part's block of ``num_rows`` out-rows, also of other parts' vertices, and make room in the queues."""
        self._block = block
        self._make_queues(max(num_rows, self._own[1] - self._own[0]))

    def queue_others(self, first: int, last: int, ids: Any) -> None:
        """Also push from another part's active vertices: ``ids``, or all of ``first..last`` if that is None."""
        import cupy

        size = int(self._piece["size"][0])
        count = last - first if ids is None else len(ids)
        self._queues[int(self._flipped)][size : size + count] = cupy.arange(first, last) if ids is None else ids
        self._piece["size"] = size + count

    def _make_queues(self, room: int) -> None:
        import cupy

        self._queues = cupy.empty((3, max(room, 1)), self.typed.types.id)
        work, queues = self.arguments["W"][0], addresses_of(self._queues)
        work["queue"], work["hubs"] = queues[:2], queues[2]

    def member_words(self, first: int, last: int) -> Any:
        """The bits of the frontier's members in words of 64 vertices, from that of ``first`` to that of ``last``."""
        bits = self._bits[int(self._flipped)]
        return bits[first // 64 * 2 : -(-last // 64) * 2].view(np.uint64)

    def box(self, arrays: Any) -> Any:
        """Accumulators as kernel arguments."""
        record = np.zeros(1, self._merged_type)
        for i, array in enumerate(arrays):
            record[f"a{i}"] = address(array)
        return record

    # ---- rows ------------------------------------------------------------------------------------------------------

    def stream(self, offsets: Mapping[Direction, Array], weights: np.dtype[Any] | None) -> StreamedRows:
        """Take slices whose pages are in the host's memory only until the next slice.

        ``offsets``: as of :class:`StreamedRows`. ``weights``: their type, if they are read.
        """
        ir = self.typed.ir
        room = int(free_bytes() * _FILL) if self.room is None else self.room
        self.streamed = StreamedRows(
            self.shape, offsets, (self.typed.types.id, weights), room, self.types,
            in_order=bool(ir.edge_fields or ir.edge_params),
        )  # fmt: skip
        return self.streamed

    def with_rows(self, piece: GraphSlice, direction: Direction, launch: Callable[[], None]) -> None:
        """Call ``launch`` with the rows of a slice passed to the kernels: once, or for one piece of it at a time."""
        if self.streamed is None:
            self.point_at(piece, direction)
            launch()
            return

        def on(found: RowsOnDevice) -> None:
            self._point_at_rows(found, direction)
            self.point_at_range(found.start, found.stop)
            launch()

        self.streamed.send(piece, direction, on)

    def point_at(self, piece: GraphSlice, direction: Direction) -> None:
        """Pass the rows of a slice in memory to the kernels."""
        self._slice = device_slice(self.shape, piece, direction, self.room, self._block)
        self._point_at_rows(self._slice, direction)
        self.point_at_range(piece.start, piece.stop)

    def _point_at_rows(self, found: DeviceSlice | RowsOnDevice, direction: Direction) -> None:
        graph = self.arguments["G"][0]
        for name, place in zip(_MEMBERS[direction], (found.offsets, found.targets, found.weights), strict=True):
            graph[name] = place
        graph["max_degree"], graph["classes"] = found.max_degree, found.classes
        for name, place in self._given_by_arc(direction).items():
            self.arguments["E"][f"e_{name}"] = place

    def point_at_range(self, start: int, stop: int) -> None:
        """Pass a range of vertices to the kernels."""
        self._piece["start"], self._piece["stop"] = start, stop

    def point_at_all(self) -> None:
        """Pass the offsets of all rows to the kernels, for the degree sums of frontiers."""
        graph = self.arguments["G"][0]
        graph["offsets"], graph["in_offsets"] = address(self._row_starts), 0

    def keep_tables(self) -> None:
        """Copy the fields that are read by id, since vertices change from here on."""
        for name, table in self._tables.items():
            table[...] = self.memory.fields[name]
        self._point_at_tables(self._tables)

    def _point_at_tables(self, arrays: Mapping[str, Any]) -> None:
        for name in self._tables:
            self.arguments["K"][f"at_{name}"] = address(arrays[name])

    def note_changes(self) -> None:
        """Let the kernels mark vertices that may have changed in :attr:`changed`."""
        self._piece["changed"] = address(self.changed)

    def _given_by_arc(self, direction: Direction) -> dict[str, int]:
        """The edge parameters of the part's own rows, in the order of those of a push or of a pull."""
        if direction not in self._by_arc:
            import cupy

            ir, places, (first, last) = self.typed.ir, {}, self._own
            if ir.edge_params:
                # a pull implies that there is a transpose: feeds without one only push
                into = self.shape.transpose if direction == "pull" else self.shape  # type: ignore[attr-defined]
                begin, end = int(into.offsets[first]), int(into.offsets[last])
                rows: Any = slice(begin, end)
                if direction == "pull":
                    rows = in_order(self.shape, into)[rows]  # type: ignore[arg-type]
            for spec in ir.edge_params:
                values = np.ascontiguousarray(self._program.params[spec.name][rows])
                array = cupy.asarray(values, dtype=self.typed.types.resolve(spec.dtype))
                self._kept.append(array)
                places[spec.name] = _whole_address(array, begin)
            self._by_arc[direction] = places
        return self._by_arc[direction]

    # ---- addresses -------------------------------------------------------------------------------------------------

    def _fill(self, program: Program, first: int, last: int) -> None:
        import cupy

        a, piece, memory = self.arguments, self._piece, self.memory
        for structure, arrays in (("S", memory.fields), ("O", memory.before)):
            for name, array in arrays.items():
                a[structure][f"f_{name}"] = address(array)
        for name, array in memory.edge_fields.items():  # so that an arc is indexed by its number in the whole graph
            a["E"][f"e_{name}"] = _whole_address(array, self._arc_base)
        a["A"] = self.box(memory.merged)
        self._make_queues(last - first)
        bits, work, context = addresses_of(self._bits), a["W"][0], a["K"][0]
        work["member"], work["locks"] = bits[:2], bits[2]
        work["control"], work["partial"] = address(self.control), address(self._partial)
        context["num_vertices"], context["num_arcs"] = self.shape.num_vertices, self.shape.num_arcs
        context["out_offsets"], context["in_offsets"] = address(self._row_starts), address(self._in_starts)
        self._tables = {name: cupy.empty_like(memory.fields[name]) for name in self.typed.ir.tables}
        self._params = fill_params(context, program, self.typed, lambda values: values)
        piece["first"], piece["last"], piece["received"] = first, last, address(self.received)
        piece["once"] = self.once
        a["G"]["n"] = self.shape.num_vertices


def _whole_address(array: Any, begin: int) -> int:
    """The virtual start of an array with a row for every arc, of which ``array`` is the piece from ``begin`` on."""
    row = int(array.nbytes // len(array)) if len(array) else 0
    return (address(array) - begin * row) % 2**64
