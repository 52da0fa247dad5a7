"""The device memory of a run beside the graph: fields, accumulators, queues and bitmaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dromos.codegen.cuda.structures import shared_type
from dromos.dtypes import Array
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.layout import BITMAPS, row_type
from dromos.engines.cuda.modules import ProgramFacts
from dromos.engines.cuda.records import number_of
from dromos.engines.cuda.transfers import pinned_empty, to_device
from dromos.program import Program, TypedProgram

__all__ = [
    "LEVEL_COUNTERS",
    "MAX_ROWS",
    "Buffers",
    "HostCopies",
    "State",
    "address",
    "addresses_of",
    "edge_params",
    "fill_params",
]

MAX_ROWS = 1 << 16
"""Supersteps of one launch that are kept for the trace."""
_MOST_BLOCKS = 1 << 13
LEVEL_COUNTERS = number_of("stretch", "LEVELS")
"""Frontiers that a stretch of thin ones holds."""
_BUCKETS_BYTES = 3 * (8 + 4)  # of ``kernels/ordered.cuh``: a priority and a size for each of three passes
_HEAD_ALIGNMENT = 64
_USUAL_READ = 1 << 16
"""Bytes: most records, including the first rows of a trace, are smaller."""


def address(array: Any) -> int:
    """The device address of an array; 0 for none."""
    return 0 if array is None or array.size == 0 else int(array.data.ptr)


def addresses_of(table: Any) -> list[int]:
    """The addresses of the rows of a table."""
    return [int(table.data.ptr) + row * table.strides[0] for row in range(len(table))]


def fill_params(context: Any, program: Program, typed: TypedProgram, in_order: Callable[[Any], Any]) -> list[Any]:
    """Write a program's parameters into the context; return the arrays that it then points to, which must stay alive.

    ``in_order`` permutes per-vertex values to the device's order of vertices.
    """
    import cupy

    kept = []
    for spec in typed.ir.context_params:
        value = program.params[spec.name]
        if spec.per_vertex or spec.size is not None:
            array = _on_device(value, typed.types.resolve(spec.dtype))
            array = cupy.ascontiguousarray(in_order(array) if spec.per_vertex else array)
            kept.append(array)
            context[f"p_{spec.name}"] = address(array)
        else:
            context[f"p_{spec.name}"] = value
    return kept


def edge_params(program: Program, typed: TypedProgram, order: Any = None) -> dict[str, Any]:
    """A program's edge parameters on the device; ``order``: the index of each arc among those given, if different."""
    import cupy

    given = {}
    for spec in typed.ir.edge_params:
        values = program.params[spec.name]
        values = np.ascontiguousarray(values if order is None else values[order])
        given[spec.name] = cupy.asarray(values, dtype=typed.types.resolve(spec.dtype))
    return given


def _on_device(value: Any, dtype: np.dtype[Any]) -> Any:
    """Given values on the device; a broadcast value is not expanded on the host."""
    import cupy

    if not isinstance(value, np.ndarray):
        return cupy.asarray(value, dtype=dtype)
    if value.size and not any(value.strides):
        return cupy.full(value.shape, value.flat[0], dtype)
    return to_device(np.asarray(value, dtype))


class HostCopies(Mapping[str, Array]):
    """Arrays of the device by name, each copied to the host by ``copy`` on access."""

    def __init__(self, arrays: Mapping[str, Any], copy: Callable[[Any], Array]) -> None:
        self._arrays, self._copy = arrays, copy

    def __getitem__(self, name: str) -> Array:
        return self._copy(self._arrays[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


class State:
    """The fields of a program on the device, and the copies that its paths need."""

    def __init__(self, typed: TypedProgram, num_vertices: int, num_arcs: int) -> None:
        self.typed, self.num_vertices = typed, num_vertices
        ir = typed.ir
        self.fields = {spec.name: self._zeros(spec.name, spec.size, num_vertices) for spec in ir.fields}
        self.edge_fields = {spec.name: self._zeros(spec.name, spec.size, num_arcs) for spec in ir.edge_fields}
        self.before = self._copies()
        self._sent: dict[str, Any] | None = None
        self._merged: tuple[Any, ...] | None = None
        self._offers: tuple[Any, ...] | None = None

    def _zeros(self, name: str, size: int | None, rows: int) -> Any:
        import cupy

        return cupy.zeros((rows,) if size is None else (rows, size), self.typed.dtype(name))

    def _copies(self) -> dict[str, Any]:
        import cupy

        written = set(self.typed.ir.written)
        return {name: cupy.empty_like(a) if name in written else a for name, a in self.fields.items()}

    @property
    def sent(self) -> dict[str, Any]:
        """What sources send while their state changes."""
        if self._sent is None:
            self._sent = self._copies()
        return self._sent

    @property
    def merged(self) -> tuple[Any, ...]:
        """The accumulators of messages: the identity everywhere between supersteps."""
        if self._merged is None:
            import cupy

            self._merged = tuple(
                cupy.full(self.num_vertices, identity, shared_type(dtype))
                for identity, dtype in zip(self.typed.identities, self.typed.accumulators, strict=True)
            )
        return self._merged

    def made(self) -> list[str]:
        """Which of ``merged`` and ``sent`` have been allocated, by their names in a checkpoint."""
        kinds = {"merged.": self._merged, "sent.": self._sent}
        return [name for name, arrays in kinds.items() if arrays is not None]

    @property
    def offers(self) -> tuple[Any, ...]:
        """The message of each source, for a pull that computes them once per vertex."""
        if self._offers is None:
            import cupy

            self._offers = tuple(cupy.empty(self.num_vertices, shared_type(d)) for d in self.typed.accumulators)
        return self._offers


class _Place(NamedTuple):
    """Pinned memory through which records are read: allocating some costs more than a read."""

    memory: Array
    address: int

    @classmethod
    def of(cls, size: int) -> _Place:
        memory = pinned_empty(size, np.dtype(np.uint8))
        return cls(memory, int(memory.ctypes.data))


_places: list[_Place] = []  # of the usual size, for one reader at a time
_all_places: list[_Place] = []  # never freed: the device may still write to one that was not waited for


def _usual_place() -> _Place:
    try:
        return _places.pop()
    except IndexError:
        place = _Place.of(_USUAL_READ)
        _all_places.append(place)
        return place


class Buffers:
    """Queues, bitmaps and counters; bitmaps are clear at the start."""

    def __init__(self, known: ProgramFacts, graph: DeviceGraph) -> None:
        import cupy

        n, ids = graph.num_vertices, graph.out.targets.dtype
        self.queues = cupy.empty((4, n), ids)  # two frontiers, touched, hubs
        self.bits = cupy.zeros((len(BITMAPS), (n + 31) // 32), cupy.uint32)
        self.control_type = known.control
        self._head = -(-known.control.itemsize // _HEAD_ALIGNMENT) * _HEAD_ALIGNMENT
        self.report = cupy.zeros(self._head + MAX_ROWS * row_type.itemsize, cupy.uint8)
        self._address = int(self.report.data.ptr)
        self.partial = cupy.empty(2 * _MOST_BLOCKS * known.reduced_bytes, cupy.uint8)
        self.level_counters = cupy.empty(LEVEL_COUNTERS, cupy.uint64)
        self.buckets = cupy.empty(_BUCKETS_BYTES, cupy.uint8)

    def clear(self) -> None:
        """Reset them to their initial state."""
        self.bits.data.memset_async(0, self.bits.nbytes)
        self.report.data.memset_async(0, self._head)

    def fill(self, work: Any) -> None:
        """Write the addresses into a kernel's arguments."""
        queue, bitmap = addresses_of(self.queues), addresses_of(self.bits)
        work["queue"], work["touched"], work["hubs"] = queue[:2], queue[2], queue[3]
        work["member"] = bitmap[:2]
        for name, place in zip(BITMAPS[2:], bitmap[2:], strict=True):
            work[name] = place
        base = self._address
        work["control"], work["rows"], work["partial"] = base, base + self._head, int(self.partial.data.ptr)
        work["level_counters"], work["max_rows"] = int(self.level_counters.data.ptr), MAX_ROWS
        work["buckets"] = int(self.buckets.data.ptr)

    def read_later(self) -> Callable[[], Any]:
        """Begin to copy the control record to the host; the returned function waits for it and returns it."""
        import cupy

        size, stream, place = self.control_type.itemsize, cupy.cuda.get_current_stream(), _usual_place()
        runtime = cupy.cuda.runtime
        runtime.memcpyAsync(place.address, self._address, size, runtime.memcpyDeviceToHost, stream.ptr)

        def record() -> Any:
            stream.synchronize()
            raw = place.memory[:size].copy()
            _places.append(place)
            return raw.view(self.control_type)[0]

        return record

    def read(self, rows: int) -> tuple[Any, Array]:
        """The control record, and the first ``rows`` rows of the trace: one copy to the host."""
        import cupy

        size, stream = self._head + rows * row_type.itemsize, cupy.cuda.get_current_stream()
        usual = size <= _USUAL_READ
        place = _usual_place() if usual else _Place.of(size)
        runtime = cupy.cuda.runtime
        runtime.memcpyAsync(place.address, self._address, size, runtime.memcpyDeviceToHost, stream.ptr)
        stream.synchronize()
        raw = place.memory[:size].copy()
        if usual:
            _places.append(place)
        control = raw[: self.control_type.itemsize].view(self.control_type)[0]
        return control, raw[self._head :].view(row_type)
