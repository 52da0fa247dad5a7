"""What a part of a graph on a GPU sends to other parts, and what it receives from them.

All exchanges go through the host's memory. It is pinned, so that a device copies at the link's rate and concurrently
with its kernels, and it is kept for the next superstep.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.array_part import fields_told
from dromos.engines.cuda.memory import State, address
from dromos.engines.cuda.part_kernels import PartKernels
from dromos.engines.cuda.transfers import fetch_later, pinned_empty, send_later, to_host
from dromos.engines.device_part import CopiesThere
from dromos.engines.leading import Led
from dromos.engines.parts import Copies, Messages, Phase
from dromos.engines.shipping import RowStage
from dromos.program import Analysis, ProgramIR, TypedProgram
from dromos.program.forms import is_claimed

__all__ = ["TellingPart", "on_device"]

_BYTE: Any = np.dtype(np.uint8)
_LARGE = 1 << 22  # bytes that are not worth a copy on the host
_ROOMS, _ROOM = 6, 1 << 16  # the number and bytes of arrays sent in a superstep for which memory is allocated at first
_FEW = 1 << 14  # messages that are copied before their number is known

_Method = TypeVar("_Method", bound=Callable[..., Any])


def on_device(method: _Method) -> _Method:
    """Run a method of a part with the part's device as the current one."""

    @wraps(method)
    def run(part: TellingPart, *args: Any) -> Any:
        import cupy

        with cupy.cuda.Device(part.device):
            return method(part, *args)

    return cast(_Method, run)


class TellingPart:
    """The half of :class:`dromos.engines.cuda.part.CudaPart` that other parts see."""

    shape: GraphShape
    first: int
    last: int
    device: int
    typed: TypedProgram
    ir: ProgramIR
    analysis: Analysis
    always: bool
    kernels: PartKernels
    memory: State
    _size: int
    _superstep: int
    _pulled_at: int
    _sorted: Any

    def __init__(self) -> None:
        self._stages: dict[object, Array] = {}
        self._rooms: list[tuple[Array, Any]] = []  # pinned memory, and as much on the device, for what is sent there
        self._num_sent = 0
        self._rows_here: list[Any] = []  # rows of other parts' vertices, where they were staged
        self._told_in: dict[Phase, tuple[str, ...]] = {}
        self._listed: tuple[int, int] | None = None  # the range whose messages are listed on the device
        self._first_ones: list[Array] = []
        self._no_ids = np.empty(0, self.typed.types.id)
        self._no_values = tuple(np.empty(0, dtype) for dtype in self.typed.accumulators)
        self.copies_blocks = False
        """Whether copies may hold all rows if many vertices are active; for parts in one process."""
        self.in_grid = False

    @on_device
    def enter_grid(self, block: Hashable, num_rows: int) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        self.in_grid = True
        self.kernels.enter_grid(block, num_rows)
        if self._told("targets"):
            self.kernels.note_changes()

    def _told(self, phase: Phase) -> tuple[str, ...]:
        if phase not in self._told_in:
            self._told_in[phase] = self._find_told(phase)
        return self._told_in[phase]

    def _find_told(self, phase: Phase) -> tuple[str, ...]:
        if self.last - self.first == self.shape.num_vertices:
            return ()
        if phase == "push" and is_claimed(self.typed, self.analysis):
            return ()  # a target's fields are read only while it wants a message, and are initial then
        return fields_told(self.ir, self.analysis, phase)

    @on_device
    def _members(self) -> Any:
        """The frontier on the device, ascending."""
        import cupy

        if self._sorted is None:
            listed = self.kernels.queue()
            self._sorted = cupy.sort(listed) if len(listed) > 1 else listed
        return self._sorted

    @on_device
    def own_rows(self, name: str) -> Array:
        """The rows of a field that the part owns, copied from the device."""
        return to_host(self.memory.fields[name][self.first : self.last])

    @on_device
    def _on_host(self, values: Any) -> Array:
        import cupy

        return to_host(cupy.ascontiguousarray(values))

    # ---- exchange between parts ------------------------------------------------------------------------------------

    @on_device
    def copies(self, phase: Phase) -> Copies | None:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        names, rows_here = self._told(phase), slice(self.first, self.last)
        of_sources = phase in ("pull", "sources")
        if not names and (not of_sources or self.always):
            return None
        ids = None
        if of_sources:
            own = self.last - self.first
            everyone = self.always or self._size == own
            if phase == "pull" and not names and not self.copies_blocks:
                return self._block(names)  # however few are active: all ranks have to send the same form
            # no list has to be converted to bits, and copying all rows is faster than gathering and listing some
            least = 0 if not self.copies_blocks or phase == "sources" else 8 if names else self.last
            if not everyone and least * self._size > own:
                return self._block(names)
            ids = None if everyone else self._members()
        elif phase != "lookup":
            ids = cupy.flatnonzero(self.kernels.changed[rows_here]) + self.first
            self.kernels.changed[rows_here] = 0
        rows = {name: self._on_host(self.memory.fields[name][rows_here if ids is None else ids]) for name in names}
        listed = None if ids is None else to_host(ids)
        return Copies(self.first, self.last, listed, rows, active=of_sources)

    @on_device
    def copies_there(self, phase: Phase) -> CopiesThere | None:
        """See :class:`dromos.engines.device_part.DevicePart`."""
        names = self._told(phase)
        if self.always and phase in ("pull", "sources") and names:
            return CopiesThere([self.memory.fields[name] for name in names])
        if phase == "pull" and not names and not self.always:
            return CopiesThere([], self.kernels.member_words(self.first, self.last))
        return None

    @on_device
    def room_for_marks(self, marks: Any, start: int, words: int) -> Any:
        """See :class:`dromos.engines.device_part.DevicePart`."""
        import cupy

        whole = cupy.empty(words, cupy.uint64)
        whole[start : start + len(marks)] = marks
        return whole

    def _block(self, names: tuple[str, ...]) -> Copies:
        """The own frontier in bits, and the rows of all own vertices."""
        import cupy

        marks = self._staged(-1, self.kernels.member_words(self.first, self.last))
        own = slice(self.first, self.last)
        rows = {name: self._staged(f"rows of {name}", self.memory.fields[name][own]) for name in names}
        cupy.cuda.get_current_stream().synchronize()
        return Copies(self.first, self.last, None, rows, active=True, marks=marks, all_rows=True)

    @on_device
    def refresh(self, copies: Copies) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        marks, ids = copies.marks, None
        if (marks is None or (copies.fields and not copies.all_rows)) and copies.ids is not None:
            ids = self._sent(copies.ids, self.typed.types.id)
        for name, values in copies.fields.items():
            if ids is None or copies.all_rows:
                self.memory.fields[name][copies.first : copies.last] = self._sent(values)
            elif len(values):
                self.kernels.place_rows(ids, self._sent(values), self.memory.fields[name])
        if copies.active and not self.always:
            if self.in_grid and marks is None:
                self.kernels.queue_others(copies.first, copies.last, ids)
            words = None if marks is None else self._sent(marks)
            everyone, count = ids is None and words is None, 0 if ids is None else len(ids)
            self.kernels.point_at_range(copies.first, copies.last)
            self.kernels.launch(
                "mark_members", np.int32(everyone), np.uint64(address(ids)), np.int64(count),
                np.uint64(address(words)), together=not everyone and words is None,
            )  # fmt: skip

    @on_device
    def reserve(self, first: int, last: int) -> None:
        """Allocate memory for exchanges about the vertices ``first..last``, before it is needed."""
        for number, array in enumerate(self.kernels.reserve_packed(last - first)):
            self._stage(number, min(last - first, _FEW), array.dtype)
        for _ in range(_ROOMS):
            self._space(_ROOM, _BYTE)
        self._waited()

    @on_device
    def begin_outbox(self, first: int, last: int) -> None:
        """Start what :meth:`outbox` of the same vertices waits for: a list that a kernel makes in one pass."""
        self.kernels.pack_box(first, last)
        self._listed = (first, last)
        self._first_ones = self._fetched(min(last - first, _FEW))  # so that waiting for the count is the only wait

    def _fetched(self, count: int) -> list[Array]:
        """Begin to copy ``count`` of the listed messages: their ids, then their values."""
        assert self.kernels.packed is not None
        return [self._staged(number, array[:count]) for number, array in enumerate(self.kernels.packed)]

    @on_device
    def outbox(self, first: int, last: int) -> Messages:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        if self._listed != (first, last):
            self.begin_outbox(first, last)
        self._listed = None
        count = self.kernels.num_packed()
        if not count:
            return Messages(first, last, self._no_ids, self._no_values)
        found = [array[:count] for array in self._first_ones]
        if count > len(found[0]):
            found = self._fetched(count)
            cupy.cuda.get_current_stream().synchronize()
        dtypes = self.typed.accumulators
        told = tuple(array.astype(dtype, copy=False) for array, dtype in zip(found[1:], dtypes, strict=True))
        return Messages(first, last, found[0], told)

    def _staged(self, name: object, values: Any) -> Array:
        """Begin to copy an array to the host, into memory that the next call with the same name reuses."""
        import cupy

        out = self._stage(name, values.size, values.dtype)[: values.size].reshape(values.shape)
        fetch_later(values, out, cupy.cuda.get_current_stream())
        return out

    def _stage(self, name: object, size: int, dtype: np.dtype[Any]) -> Array:
        """Pinned memory for at least ``size`` values: the same for the same name."""
        room = self._stages.get(name)
        if room is None or room.dtype != dtype or len(room) < size:
            room = self._stages[name] = pinned_empty(max(5 * size // 4, 1 << 12), dtype)
        return room

    def _sent(self, values: Array, dtype: Any = None) -> Any:
        """Copy an array to the device through pinned memory; both are reused after :meth:`_waited`."""
        import cupy

        if isinstance(values, cupy.ndarray):
            return values
        dtype = values.dtype if dtype is None else np.dtype(dtype)
        if values.size * dtype.itemsize > _LARGE:
            return cupy.asarray(values, dtype=dtype)
        staged, found = self._space(values.size, dtype)
        staged[:] = values.reshape(-1)
        send_later(staged, found, cupy.cuda.get_current_stream())
        return found.reshape(values.shape)

    def _space(self, count: int, dtype: np.dtype[Any]) -> tuple[Array, Any]:
        """Memory for an array, pinned and on the device; both are reused after :meth:`_waited`."""
        import cupy

        size = count * dtype.itemsize
        if self._num_sent == len(self._rooms):
            self._rooms.append((pinned_empty(0, _BYTE), cupy.empty(0, cupy.uint8)))
        pinned, there = self._rooms[self._num_sent]
        if len(pinned) < size:
            room = max(5 * size // 4, 1 << 12)
            pinned, there = self._rooms[self._num_sent] = pinned_empty(room, _BYTE), cupy.empty(room, cupy.uint8)
        self._num_sent += 1
        return pinned[:size].view(dtype), there[:size].view(dtype)

    def _waited(self) -> None:
        """Note that the device has finished all its work."""
        self._num_sent = 0

    @on_device
    def inbox(self, messages: Messages) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        count, ids = len(messages.values[0]), messages.ids
        if not count:
            return
        both = zip(messages.values, self.memory.merged, strict=True)
        arrays = [self._sent(values, into.dtype) for values, into in both]
        if ids is None:
            # all rows of a block without bits count: the host's leaf sends such blocks if all vertices are updated
            # anyway
            everyone = np.full(-(-count // 8), 255, np.uint8)
            which = self._sent(everyone if messages.got is None else messages.got)
        else:
            which = self._sent(ids, self.typed.types.id)
        self.kernels.point_at_range(messages.first, messages.last)
        places = (0, address(which)) if ids is None else (address(which), 0)
        self.kernels.launch("merge_box", *map(np.uint64, places), np.int64(count), self.kernels.box(arrays))

    @on_device
    def stage_rows(self, rows: int, arcs: int, weight: np.dtype[Any] | None) -> RowStage:
        """See :class:`dromos.engines.shipping.RowTakingPart`."""
        ids = self.typed.types.id
        kinds = [(rows, ids), (rows + 1, np.dtype(np.int64)), (arcs, ids)]
        kinds += [] if weight is None else [(arcs, weight)]
        spaces = [self._space(count, dtype) for count, dtype in kinds]
        self._rows_here = [there for _, there in spaces]
        sources, starts, targets, *weights = (staged for staged, _ in spaces)
        return RowStage(sources, starts, targets, weights[0] if weights else None)

    @on_device
    def push_rows(self, stage: RowStage) -> None:
        """See :class:`dromos.engines.shipping.RowTakingPart`; the kernel may still run when this returns."""
        import cupy

        staged = [stage.sources, stage.starts, stage.targets, *([] if stage.weights is None else [stage.weights])]
        for values, there in zip(staged, self._rows_here, strict=True):
            send_later(values, there, cupy.cuda.get_current_stream())
        with self.kernels.clock:
            self.kernels.push_rows(*self._rows_here)

    @on_device
    def adopt(self, led: Led) -> None:
        """See :class:`dromos.engines.leading.AdoptingPart`."""
        ids = self._sent(led.ids, self.typed.types.id)
        for name, values in led.rows.items():
            if len(values):
                self.kernels.place_rows(ids, self._sent(values), self.memory.fields[name])
        self.kernels.make_frontier(ids[len(ids) - led.frontier :])
        self._size, self._sorted = led.frontier, None
