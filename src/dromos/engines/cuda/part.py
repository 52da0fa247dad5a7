"""A part of a graph on a GPU: its state, its boxes and its slices stay on the device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

from dromos.codegen.facts import is_always_active
from dromos.dtypes import Array
from dromos.engines import GraphLike, GraphShape, NativeKernel
from dromos.engines.cuda import part_saving
from dromos.engines.cuda.availability import require_device, room_for_arcs
from dromos.engines.cuda.device_slices import no_room
from dromos.engines.cuda.lone_search import LoneSearch, least_pulled
from dromos.engines.cuda.memory import HostCopies
from dromos.engines.cuda.part_exchange import on_device
from dromos.engines.cuda.part_kernels import PartKernels
from dromos.engines.cuda.part_streaming import StreamingPart
from dromos.engines.cuda.transfers import to_host
from dromos.engines.native.forest import Forest
from dromos.engines.parts import Partial
from dromos.engines.saving import Saved
from dromos.graph.slices import GraphSlice
from dromos.plan import PATHS, Constants, Levels, Path
from dromos.program import GraphTypes, Program, analyse

__all__ = ["CudaLeaf", "CudaPart"]

# What a push finds of other parts' vertices is sent to them, a pull needs bits: it is left later than on one device.
_CONSTANTS: Final = Constants(beta=18.0)
_SPARE: Final = 1.01  # a part has only about its share of the arcs: whole rows


class CudaLeaf:
    """Runs parts on a CUDA device; ``device`` is its number.

    ``memory``: the bytes that a part may take there; arcs that do not fit are in the host's memory, and kernels read
    them in place.
    """

    def __init__(self, device: int = 0, memory: int | None = None) -> None:
        require_device(device)
        self.device, self.memory = device, memory

    @property
    def name(self) -> str:
        """``cuda``, with a number if it is not the first device."""
        return f"cuda:{self.device}" if self.device else "cuda"

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> CudaPart:
        """See :class:`dromos.engines.parts.Leaf`."""
        import cupy

        with cupy.cuda.Device(self.device):
            try:
                room = room_for_arcs(self.memory, shape.num_vertices)
                return CudaPart(program, shape, types, first, last, self.device, room)
            except cupy.cuda.memory.OutOfMemoryError as error:
                raise no_room(f"the fields of {shape.num_vertices:,} vertices") from error

    def can_hold(self, graph: GraphLike, share: float) -> bool:
        """Whether a part with about that share of a graph's arcs may be completely on the device."""
        room = room_for_arcs(self.memory, graph.num_vertices)
        size = graph.targets.itemsize + (0 if graph.weights is None else graph.weights.itemsize)
        return room is None or _SPARE * share * graph.num_arcs * size < room

    def native(self, name: str) -> NativeKernel | None:
        """The kernel called ``name`` for whole graphs, on this device; None if there is none."""
        import cupy

        from dromos.engines.cuda.engine import CudaEngine

        with cupy.cuda.Device(self.device):
            kernel = CudaEngine({"memory": self.memory}).native(name)
        if kernel is None:
            return None

        def run(graph: GraphLike, **options: Any) -> Mapping[str, Any]:
            with cupy.cuda.Device(self.device):
                return kernel(graph, **options)

        return run

    def link_rows(self, forest: Forest, shape: GraphShape, piece: GraphSlice) -> None:
        """Join the trees of a forest along the out-rows of a slice."""
        import cupy

        from dromos.engines.cuda.native.components import link_rows

        with cupy.cuda.Device(self.device):
            try:
                link_rows(forest, shape, piece, room_for_arcs(self.memory, shape.num_vertices))
            except cupy.cuda.memory.OutOfMemoryError as error:
                raise no_room(f"the trees of {shape.num_vertices:,} vertices") from error


class CudaPart(StreamingPart):
    """See :class:`dromos.engines.parts.Part`; between kernels the host reads nothing but the record of a superstep."""

    asynchronous = True

    def __init__(
        self,
        program: Program,
        shape: GraphShape,
        types: GraphTypes,
        first: int,
        last: int,
        device: int,
        room: int | None = None,
    ) -> None:
        self.shape, self.first, self.last, self.device = shape, first, last, device
        self.typed = program.typed(types)
        self.ir = self.typed.ir
        self.analysis = analyse(self.typed)
        self.always = is_always_active(self.ir, self.analysis)
        super().__init__()
        self.kernels = PartKernels(program, self.typed, self.analysis, shape, first, last, room)
        self.memory = self.kernels.memory
        if self._told("push") or self._told("edges"):
            self.kernels.note_changes()
        self._size = self._following = self._superstep = 0
        self._begun = False
        self.reductions: tuple[Any, ...] = ()
        self._pulled_at = -1
        self._searching = False  # a kernel is running that finds and settles
        self._sorted: Any = None  # the frontier on the device in ascending order, once it is needed

    # ---- what others see -------------------------------------------------------------------------------------------

    @property
    def planning(self) -> Mapping[str, Any]:
        """See :class:`dromos.engines.parts.Part`."""
        dominated = tuple(path for path in PATHS if path.direction == "push") if self.always else ()
        return {"constants": _CONSTANTS, "dominated": dominated}

    @property
    def frontier(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`; copied from the device."""
        if self.always:
            return None
        return self._on_host(self._members()) if self._size else self._no_ids

    @property
    def state(self) -> Mapping[str, Array]:
        """See :class:`dromos.engines.parts.Part`; each field is copied from the device when it is looked at."""
        return HostCopies(self.memory.fields, self._on_host)

    @property
    def edge_state(self) -> Mapping[str, Array]:
        """See :class:`dromos.engines.parts.Part`."""
        return HostCopies(self.memory.edge_fields, self._on_host)

    @on_device
    def wanting(self) -> Array | None:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        if self.analysis.wants is None:
            return None
        found = cupy.empty(self.last - self.first, cupy.uint8)
        self.kernels.launch("list_wanting", found)
        return to_host(cupy.flatnonzero(found) + self.first)

    # ---- a superstep -----------------------------------------------------------------------------------------------

    @on_device
    def start(self) -> Partial:
        """See :class:`dromos.engines.parts.Part`."""
        self.kernels.point_at_all()
        self.kernels.launch("start_part", together=True)
        return self._read("init")

    @on_device
    def send(self, piece: GraphSlice, path: Path) -> None:
        """See :class:`dromos.engines.parts.Part`; the kernel may still run when this returns."""

        def launch() -> None:
            with self.kernels.clock:
                if path.direction == "push":
                    self.kernels.launch("push_slice", together=True)
                else:
                    self.kernels.pull(is_first=self._pulled_at != self._superstep)
            self._pulled_at = self._superstep

        self.kernels.with_rows(piece, path.direction, launch)

    @on_device
    def send_away(self, piece: GraphSlice) -> None:
        """Push along the out-rows of a slice, only to the vertices of other parts; the kernel may still run."""
        self.kernels.point_at(piece, "push")
        with self.kernels.clock:
            self.kernels.push_away()

    @on_device
    def wait(self) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        cupy.cuda.get_current_stream().synchronize()

    @on_device
    def begin_settle(self) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        import cupy

        if self.ir.edge_fields:  # their new values depend on the state of all vertices when they sent
            for name in self.ir.written:
                cupy.copyto(self.memory.before[name], self.memory.fields[name])
        self.kernels.keep_tables()
        self.kernels.point_at_all()
        with self.kernels.clock:
            self.kernels.launch("settle_part", together=True)

    @on_device
    def settle(self) -> Partial:
        """See :class:`dromos.engines.parts.Part`."""
        return self._found_by_search() if self._searching else self._read("update")

    def _read(self, function: str) -> Partial:
        record = self.kernels.record()
        self._waited()
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
        if not record["slots"][1]["overflowed"]:
            return ""
        return (
            f"{self.ir.name}.{function}: a value does not fit the integer type of its field; "
            "declare the field with a wider type"
        )

    @on_device
    def finish(self, reductions: tuple[Any, ...]) -> None:
        """See :class:`dromos.engines.parts.Part`."""
        self._superstep += self._begun
        self._begun = True
        self._size, self._sorted, self.reductions = self._following, None, reductions
        self.kernels.turn(self._superstep, self._size, self._named(reductions))

    def _named(self, reductions: tuple[Any, ...]) -> dict[str, Any]:
        return {spec.name: value for spec, value in zip(self.ir.reductions, reductions, strict=True)}

    # ---- checkpoints -----------------------------------------------------------------------------------------------

    @on_device
    def save(self) -> dict[str, Array]:
        """See :class:`dromos.engines.saving.ResumablePart`."""
        return part_saving.save(self)

    @on_device
    def restore(self, saved: Saved, superstep: int) -> None:
        """See :class:`dromos.engines.saving.ResumablePart`."""
        part_saving.restore(self, saved, superstep)

    def resume_at(self, superstep: int, reductions: tuple[Any, ...], size: int) -> None:
        """Continue after ``superstep`` supersteps; the frontier that the part started with has ``size`` vertices."""
        self._superstep, self._size, self._sorted, self.reductions = superstep, size, None, reductions
        self.kernels.turn(superstep, size, self._named(reductions), flip=False)

    @on_device
    def take_copies(self, fields: Mapping[str, Array]) -> None:
        """See :class:`dromos.engines.saving.ResumablePart`."""
        import cupy

        for name, values in fields.items():
            self.memory.fields[name][...] = cupy.asarray(values)

    # ---- when no other part takes or sends messages ----------------------------------------------------------------

    @property
    def least_alone(self) -> int | None:
        """See :class:`dromos.engines.leading.LonePart`."""
        return least_pulled(self.shape.num_vertices) if self.kernels.once and self._superstep else None

    @on_device
    def reserve(self, first: int, last: int) -> None:
        """As its base; and memory for a search."""
        super().reserve(first, last)
        if self.kernels.once:
            self._lone_search  # noqa: B018  # made when it is first looked at

    @cached_property
    def _lone_search(self) -> LoneSearch:
        return LoneSearch(self.kernels, self.typed, self.analysis, self.shape)

    @on_device
    def begin_search(self, out: GraphSlice, into: GraphSlice, front: Partial) -> None:
        """See :class:`dromos.engines.leading.LonePart`."""
        self._lone_search.start(out, into, front.frontier, front.out_degree, 1, pull=True)
        self._searching = True

    def _found_by_search(self) -> Partial:
        record, messages, _ = self._lone_search.finish()
        self._waited()
        self._searching, self._following = False, int(record["size"])
        return Partial(self._following, int(record["out"]), 0, messages, seconds=self.kernels.clock.seconds())

    @on_device
    def search_alone(
        self, out: GraphSlice, into: GraphSlice, front: Partial, horizon: int | None
    ) -> tuple[Partial, Levels]:
        """See :class:`dromos.engines.leading.LonePart`."""
        self._lone_search.start(out, into, front.frontier, front.out_degree, horizon)
        record, messages, levels = self._lone_search.finish()
        self._waited()
        self._superstep += len(levels.frontier)
        self._size, self._sorted = int(record["size"]), None
        found = Partial(self._size, int(record["out"]), 0, messages, seconds=self.kernels.clock.seconds())
        self.kernels.turn(self._superstep, self._size, {}, flip=bool(record["flipped"]))
        return found, levels

    # ---- edge fields -----------------------------------------------------------------------------------------------

    def start_edges(self, piece: GraphSlice) -> str:
        """See :class:`dromos.engines.parts.Part`."""
        return self._on_edges("start_edges", piece, "edge_init")

    def write_edges(self, piece: GraphSlice) -> str:
        """See :class:`dromos.engines.parts.Part`."""
        return self._on_edges("write_edges", piece, "edge_update")

    @on_device
    def _on_edges(self, kernel: str, piece: GraphSlice, function: str) -> str:
        self.kernels.with_rows(piece, "push", lambda: self.kernels.launch(kernel))
        return self._overflow(self.kernels.record(), function)
