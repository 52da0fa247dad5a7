"""A part of a graph on a GPU: its state, its boxes and its slices stay on the device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, wraps
from typing import Any, TypeVar, cast

import numpy as np

from dromos.codegen.cuda.structures import shared_type
from dromos.codegen.facts import is_always_active
from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.array_part import fields_told
from dromos.engines.board import Board, posted_range
from dromos.engines.cuda.availability import require_device
from dromos.engines.cuda.device_slices import no_room
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.part_kernels import PartKernels
from dromos.engines.cuda.transfers import fetch_later, pinned_empty, send_later, to_host
from dromos.engines.forms import is_claimed
from dromos.engines.native.forest import Forest
from dromos.engines.parts import Copies, Messages, Partial, Phase
from dromos.graph.slices import GraphSlice
from dromos.plan import PATHS, Path
from dromos.program import GraphTypes, Program, analyse

__all__ = ["CudaLeaf", "CudaPart"]

_Method = TypeVar("_Method", bound=Callable[..., Any])


class CudaLeaf:
    """Runs parts on a CUDA device; ``device`` is its number."""

    def __init__(self, device: int = 0) -> None:
        require_device(device)
        self.device = device

    @property
    def name(self) -> str:
        """``cuda``, with a number if it is not the first device."""
        return f"cuda:{self.device}" if self.device else "cuda"

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> CudaPart:
        """See :class:`dromos.engines.parts.Leaf`."""
        import cupy

        with cupy.cuda.Device(self.device):
            try:
                return CudaPart(program, shape, types, first, last, self.device)
            except cupy.cuda.memory.OutOfMemoryError as error:
                raise no_room(f"the fields of {shape.num_vertices:,} vertices") from error

    def link_rows(self, forest: Forest, shape: GraphShape, piece: GraphSlice) -> None:
        """Join the trees of a forest along the out-rows of a slice."""
        import cupy

        from dromos.engines.cuda.native.components import link_rows

        with cupy.cuda.Device(self.device):
            try:
                link_rows(forest, shape, piece)
            except cupy.cuda.memory.OutOfMemoryError as error:
                raise no_room(f"the trees of {shape.num_vertices:,} vertices") from error


def _on_device(method: _Method) -> _Method:
    """Run a method of a part with the part's device as the current one."""

    @wraps(method)
    def run(part: CudaPart, *args: Any) -> Any:
        import cupy

        with cupy.cuda.Device(part.device):
            return method(part, *args)

    return cast(_Method, run)


class CudaPart:
    """See :class:`dromos.engines.parts.Part`; between kernels the host reads nothing but the record of a superstep."""

    asynchronous = True
    copies_blocks: bool
    """Whether copies may hold all rows where many vertices are active; for parts in one process."""

    def __init__(
        self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int, device: int
    ) -> None:
        self.shape, self.first, self.last, self.device = shape, first, last, device
        self.typed = program.typed(types)
        self.ir = self.typed.ir
        self.analysis = analyse(self.typed)
        self.always = is_always_active(self.ir, self.analysis)
        self.kernels = PartKernels(program, self.typed, self.analysis, shape, first, last)
        self.memory = self.kernels.memory
        if self._told("push") or self._told("edges"):
            self.kernels.note_changes()
        self._size = self._following = self._superstep = 0
        self._begun = False
        self._pulled_at = -1
        self._stages: dict[object, Array] = {}
        self._no_ids = np.empty(0, types.id)
        self._no_values = tuple(np.empty(0, dtype) for dtype in self.typed.accumulators)
        self.copies_blocks = False
        self._sorted: Any = None  # the frontier on the device in ascending order, once somebody asks

    def _told(self, phase: Phase) -> tuple[str, ...]:
        if self.last - self.first == self.shape.num_vertices:
            return ()
        if phase == "push" and is_claimed(self.typed, self.analysis):
            return ()  # fields of a target are read while it wants a message, which is how they began
        return fields_told(self.ir, self.analysis, phase)

    # ---- what others see -------------------------------------------------------------------------------------------

    @property
    def planning(self) -> Mapping[str, Any]:
        """See :class:`dromos.engines.parts.Part`."""
        return {"dominated": tuple(path for path in PATHS if path.direction == "push")} if self.always else {}

    @property
    def frontier(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`; copied from the device."""
        return None if self.always else self._on_host(self._members())

    @property
    def state(self) -> Mapping[str, Array]:
        """See :class:`dromos.engines.parts.Part`; each field is copied from the device when it is looked at."""
        return _Fields(self, self.memory.fields)

    @property
    def edge_state(self) -> Mapping[str, Array]:
        """See :class:`dromos.engines.parts.Part`."""
        return _Fields(self, self.memory.edge_fields)

    @_on_device
    def wanting(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        if self.analysis.wants is None:
            return None
        found = cupy.empty(self.last - self.first, cupy.uint8)
        self.kernels.launch("list_wanting", found)
        return to_host(cupy.flatnonzero(found) + self.first)

    @_on_device
    def _members(self) -> Any:
        """The frontier on the device, ascending."""
        import cupy

        if self._sorted is None:
            self._sorted = cupy.sort(self.kernels.queue())
        return self._sorted

    @_on_device
    def _on_host(self, values: Any) -> Array:
        import cupy

        return to_host(cupy.ascontiguousarray(values))

    # ---- a superstep -----------------------------------------------------------------------------------------------

    @_on_device
    def start(self) -> Partial:
        """See :class:`dromos.engines.parts.Part`."""
        self.kernels.point_at_all()
        self.kernels.launch("start_part", together=True)
        return self._read("init")

    @_on_device
    def send(self, piece: GraphSlice, path: Path) -> None:
        """See :class:`dromos.engines.parts.Part`; the kernel may still run when this returns."""
        self.kernels.point_at(piece, path.direction)
        with self.kernels.clock:
            if path.direction == "push":
                self.kernels.launch("push_slice", together=True)
            else:
                self.kernels.pull(is_first=self._pulled_at != self._superstep)
        self._pulled_at = self._superstep

    @_on_device
    def begin_settle(self) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        if self.ir.edge_fields:  # their new values depend on what all vertices were when they sent
            for name in self.ir.written:
                cupy.copyto(self.memory.before[name], self.memory.fields[name])
        self.kernels.keep_tables()
        self.kernels.point_at_all()
        with self.kernels.clock:
            self.kernels.launch("settle_part", together=True)

    @_on_device
    def settle(self) -> Partial:
        """See :class:`dromos.engines.parts.Part`."""
        return self._read("update")

    def _read(self, function: str) -> Partial:
        record = self.kernels.record()
        slot = record["slots"][1]
        size, out = int(slot["size"]), int(slot["out"])
        self._following = size
        if self.always:
            offsets = self.shape.offsets
            size, out = self.last - self.first, int(offsets[self.last]) - int(offsets[self.first])
        reductions = tuple(record["reduced"][f"r_{spec.name}"] for spec in self.ir.reductions)
        overflow, seconds = self._overflow(record, function), self.kernels.clock.seconds()
        return Partial(size, out, 0, int(slot["messages"]), reductions, overflow, seconds)

    def _overflow(self, record: Any, function: str) -> str:
        if not record["slots"][1]["misfits"]:
            return ""
        return (
            f"{self.ir.name}.{function}: a value does not fit the integer type of its field; "
            "declare the field with a wider type"
        )

    @_on_device
    def finish(self, reductions: tuple[Any, ...]) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        self._superstep += self._begun
        self._begun = True
        self._size, self._sorted = self._following, None
        named = {spec.name: value for spec, value in zip(self.ir.reductions, reductions, strict=True)}
        self.kernels.turn(self._superstep, self._size, named)

    # ---- messages that depend on their source alone ----------------------------------------------------------------

    @cached_property
    def posts_offers(self) -> bool:
        """See :class:`dromos.engines.board.PostingPart`: boards hold messages in their own types."""
        return self.kernels.by_source and all(shared_type(dtype) == dtype for dtype in self.typed.accumulators)

    def board_rows(self, rows: int, dtype: np.dtype[Any]) -> Array:
        """See :class:`dromos.engines.board.PostingPart`."""
        return pinned_empty(rows, dtype)

    @_on_device
    def post_offers(self, board: Board) -> None:
        """See :class:`dromos.engines.board.PostingPart`; they are copied beside the kernels that follow."""
        import cupy

        own = posted_range(self.shape.offsets, self.first, self.last)
        self.kernels.offer(own.start, own.stop)
        made = cupy.cuda.get_current_stream().record()
        self._copying.wait_event(made)
        for array, rows in zip(self.memory.offers, board.arrays, strict=True):
            fetch_later(array[own], rows[own], self._copying)
        done = self._copying.record()
        board.later(self.first, done.synchronize)
        self._pulled_at = self._superstep

    @_on_device
    def take_offers(self, board: Board, first: int, last: int) -> None:
        """See :class:`dromos.engines.board.PostingPart`."""
        import cupy

        board.wait(first)
        theirs, stream = posted_range(self.shape.offsets, first, last), cupy.cuda.get_current_stream()
        for array, rows in zip(self.memory.offers, board.arrays, strict=True):
            send_later(rows[theirs], array[theirs], stream)

    @cached_property
    def _copying(self) -> Any:
        import cupy

        return cupy.cuda.Stream(non_blocking=True)

    # ---- edge fields -----------------------------------------------------------------------------------------------

    def start_edges(self, piece: GraphSlice) -> str:
        """See :class:`dromos.engines.parts.Part`."""
        return self._on_edges("start_edges", piece, "edge_init")

    def write_edges(self, piece: GraphSlice) -> str:
        """See :class:`dromos.engines.parts.Part`."""
        return self._on_edges("write_edges", piece, "edge_update")

    @_on_device
    def _on_edges(self, kernel: str, piece: GraphSlice, function: str) -> str:
        self.kernels.point_at(piece, "push")
        self.kernels.launch(kernel)
        return self._overflow(self.kernels.record(), function)

    # ---- what parts tell each other --------------------------------------------------------------------------------

    @_on_device
    def copies(self, phase: Phase) -> Copies | None:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        names, own = self._told(phase), slice(self.first, self.last)
        if not names and (phase != "pull" or self.always):
            return None
        marks = ids = None
        if phase == "pull":
            everyone = self.always or self._size == self.last - self.first
            # bits are shorter than a list, and all rows are copied sooner than some are gathered and listed
            least = 32 if not names else 8 if self.copies_blocks else 0
            if not everyone and least * self._size > self.last - self.first:
                return self._block(names)
            ids = None if everyone else self._members()
        elif phase != "lookup":
            ids = cupy.flatnonzero(self.kernels.changed[own]) + self.first
            self.kernels.changed[own] = 0
        rows = {name: self._on_host(self.memory.fields[name][own if ids is None else ids]) for name in names}
        listed = None if ids is None else to_host(ids)
        return Copies(self.first, self.last, listed, rows, active=phase == "pull", marks=marks)

    def _block(self, names: tuple[str, ...]) -> Copies:
        """The own frontier in bits, and the rows of all own vertices."""
        import cupy

        marks = self._staged(-1, self.kernels.member_words(self.first, self.last))
        own = slice(self.first, self.last)
        rows = {name: self._staged(f"rows of {name}", self.memory.fields[name][own]) for name in names}
        cupy.cuda.get_current_stream().synchronize()
        return Copies(self.first, self.last, None, rows, active=True, marks=marks, all_rows=True)

    @_on_device
    def refresh(self, copies: Copies) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        marks, ids = copies.marks, None
        if (marks is None or (copies.fields and not copies.all_rows)) and copies.ids is not None:
            ids = cupy.asarray(copies.ids.astype(self.typed.types.id, copy=False))
        for name, values in copies.fields.items():
            at = slice(copies.first, copies.last) if ids is None or copies.all_rows else ids
            self.memory.fields[name][at] = cupy.asarray(values)
        if copies.active and not self.always:
            words = None if marks is None else cupy.asarray(marks)
            everyone, count = ids is None and words is None, 0 if ids is None else len(ids)
            self.kernels.point_at_range(copies.first, copies.last)
            self.kernels.launch(
                "mark_members", np.int32(everyone), np.uint64(address(ids)), np.int64(count),
                np.uint64(address(words)), together=True,
            )  # fmt: skip

    @_on_device
    def outbox(self, first: int, last: int) -> Messages:
        """See :class:`dromos.engines.parts.Part`; as a list, which a kernel makes in one pass."""
        import cupy

        count = self.kernels.pack_box(first, last)
        if not count:
            return Messages(first, last, self._no_ids, self._no_values)
        assert self.kernels.packed is not None
        ids, *values = self.kernels.packed
        found = [self._staged(number, array[:count]) for number, array in enumerate((ids, *values))]
        cupy.cuda.get_current_stream().synchronize()
        dtypes = self.typed.accumulators
        told = tuple(array.astype(dtype, copy=False) for array, dtype in zip(found[1:], dtypes, strict=True))
        return Messages(first, last, found[0], told)

    def _staged(self, name: object, values: Any) -> Array:
        """Begin to copy an array to the host, into memory that the next call with the same name uses again."""
        import cupy

        room = self._stages.get(name)
        if room is None or room.dtype != values.dtype or len(room) < values.size:
            room = self._stages[name] = pinned_empty(max(5 * values.size // 4, 1 << 12), values.dtype)
        out = room[: values.size].reshape(values.shape)
        fetch_later(values, out, cupy.cuda.get_current_stream())
        return out

    @_on_device
    def inbox(self, messages: Messages) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        count, ids = len(messages.values[0]), messages.ids
        if not count:
            return
        both = zip(messages.values, self.memory.merged, strict=True)
        arrays = [cupy.asarray(values).astype(into.dtype, copy=False) for values, into in both]
        which = cupy.asarray(messages.got if ids is None else ids.astype(self.typed.types.id, copy=False))
        self.kernels.point_at_range(messages.first, messages.last)
        places = (0, address(which)) if ids is None else (address(which), 0)
        self.kernels.launch("merge_box", *map(np.uint64, places), np.int64(count), self.kernels.box(arrays))


class _Fields(Mapping[str, Array]):
    """Fields of a part, each copied when it is looked at."""

    def __init__(self, part: CudaPart, arrays: Mapping[str, Any]) -> None:
        self._part, self._arrays = part, arrays

    def __getitem__(self, name: str) -> Array:
        return self._part._on_host(self._arrays[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)
