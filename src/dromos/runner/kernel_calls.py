"""The native kernels that a call of an algorithm uses: finding them, running them, and recording them in the trace."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dromos.compiling import compile_seconds
from dromos.engines import Engine, LeftToHostError, LeftToProgramsError, NativeKernel
from dromos.engines.native import COMPILED_AT_ONCE, cpu_kernel
from dromos.errors import DeviceError, InvalidArgumentError, ResourceError
from dromos.graph import Graph
from dromos.plan import Path
from dromos.runner import first_calls
from dromos.runner.devices import HYBRID, engine_for
from dromos.runner.host import on_host
from dromos.runner.trace import FusedRow, TraceRow, parts_text

if TYPE_CHECKING:
    from dromos.runner.checkpoint import Checkpoint
    from dromos.runner.loop import Progress

__all__ = ["GPU", "KernelCalls"]

GPU: Final = "cuda"


class KernelCalls:
    """The kernel methods of :class:`dromos.runner.session.Session`, which sets the attributes."""

    name: str
    graph: Graph
    threads: int | None
    progress: Progress | None
    engine: Engine
    path: str | Path
    _checkpoint: Checkpoint | None
    _may_leave: bool
    """Whether the engine is a GPU that was not asked for explicitly."""
    _at_once: bool
    """Whether the engine is the one that needs no compiler, for a first call."""
    _rows: list[TraceRow | FusedRow]
    _kernel_calls: Counter[str]

    def _compile_from_now_on(self) -> None:
        """Switch away from the engine that needs no compiler, if it is in use."""
        if self._at_once:
            self.engine = engine_for("cpu", self.threads)
        self._at_once = False

    def native(
        self, kernel: str, graph: Graph | None = None, *, keep_on_device: bool = False, **options: Any
    ) -> Mapping[str, Any] | None:
        """The result of the engine's own kernel; None without one, or with a fixed path or checkpoints."""
        found = self._native(kernel)
        try:
            return None if found is None else self._call_or_compile(kernel, found, graph, keep_on_device, options)
        except LeftToProgramsError:
            return None

    def follow_kernel(self, kernel: str) -> None:
        """Switch to the CPU if it has this kernel, the GPU has none, and neither a device nor a path was asked for.

        For kernels that finish a graph before programs do: one pass over the arcs against a superstep per level. The
        graph lies in the host's memory in any case.
        """
        if self._may_leave and self.engine.native(kernel) is None and cpu_kernel(kernel) is not None:
            self.little_to_do()

    def little_to_do(self) -> None:
        """Switch to the CPU if neither a device nor a path was asked for: the call ends before a copy would."""
        if self._may_leave:
            self.engine, self._may_leave = engine_for("cpu", self.threads), False

    def has_native(self, kernel: str) -> bool:
        """Whether :meth:`native` has a kernel to run."""
        return self._native(kernel) is not None

    def _native(self, kernel: str) -> NativeKernel | None:
        if self.path != "auto" or self._checkpoint is not None:  # only programs have paths and can be saved
            return None
        return self.engine.native(kernel)

    def _call_or_compile(
        self, kernel: str, found: NativeKernel, graph: Graph | None, keep_on_device: bool, options: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Run a kernel; a first call that takes longer than compiling starts over with compiled code."""
        if self._at_once and found is self.engine.native(kernel):
            if kernel not in COMPILED_AT_ONCE:
                try:
                    return self._call(
                        kernel, found, graph, keep_on_device, {**options, "tell": first_calls.tell(kernel)}
                    )
                except first_calls.TakesLong:
                    pass
            self._compile_from_now_on()
            compiled = self.engine.native(kernel)
            assert compiled is not None, kernel
            found = compiled
        return self._call(kernel, found, graph, keep_on_device, options)

    def _call(
        self, kernel: str, found: NativeKernel, graph: Graph | None, keep_on_device: bool, options: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Run a kernel and record it in the trace."""
        begin, compiled = time.perf_counter(), compile_seconds()
        on = self.graph if graph is None else graph
        if kernel in getattr(self.engine, "reporting", ()):
            options = {**options, "progress": self.progress}
        fields = found(on, **options)
        reading = self._note_readings(kernel)
        # a single number is always copied to the host, which also waits for the kernel: the traced time is right
        fields = {
            name: values if keep_on_device and getattr(values, "ndim", 1) != 0 else on_host(values)
            for name, values in fields.items()
        }
        if "steps" in fields:  # the kernel reports its steps one by one
            for levels, frontier, said, spent, *more in fields["steps"]:
                read, parts = more[0] if more else 0, more[1] if len(more) > 1 else ()
                row = TraceRow(
                    kernel, self._kernel_calls[kernel], levels, frontier, 0, 0, "native", said, None, spent, 0, 0, read,
                    parts=parts_text(parts),
                )  # fmt: skip
                self._rows.append(row)
                self._kernel_calls[kernel] += levels
            return fields
        size, arcs = on.num_vertices, on.num_arcs
        reason = f"the engine's own kernel for {kernel}"
        # compiling and reading are reported apart
        seconds = max(0.0, time.perf_counter() - begin - (compile_seconds() - compiled) - reading)
        number = self._kernel_calls[kernel]
        self._rows.append(TraceRow(kernel, number, 1, size, arcs, arcs, "native", reason, None, seconds, 0, 0))
        self._kernel_calls[kernel] += 1
        return fields

    def _note_readings(self, phase: str) -> float:
        """Record graphs that the engine has read into memory; return the time that took."""
        take, seconds = getattr(self.engine, "take_readings", None), 0.0
        size, arcs = self.graph.num_vertices, self.graph.num_arcs
        for reading in take() if take is not None else ():
            seconds += reading.seconds
            self._rows.append(
                TraceRow(
                    phase, 0, 0, size, arcs, arcs, "read", reading.reason, None, reading.seconds, 0, 0, reading.bytes
                )
            )
        return seconds

    def operator(self, kernel: str) -> NativeKernel | None:
        """The engine's version of ``kernel`` over slices; None where it takes whole graphs."""
        find = getattr(self.engine, "operator", None)
        found: NativeKernel | None = None if find is None else find(kernel)
        return found

    def in_slices(self, kernel: str) -> bool:
        """Whether the engine's operator does this work, rather than a kernel of its own for graphs on disk."""
        if self.graph.on_disk and self._row_kernel(kernel) is not None:
            return False
        return self.operator(kernel) is not None

    def require_native(self, kernel: str, graph: Graph | None = None, **options: Any) -> Mapping[str, Any]:
        """As :meth:`native`, for what cannot be a program; over slices by the engine's operator."""
        self.refuse_path()
        operator = self.operator(kernel)
        if operator is not None:
            options.pop("keep_on_device", None)  # slices are processed in the host's memory
            found = self._call(kernel, operator, graph, False, options)
            return {name: values for name, values in found.items() if name != "steps"}  # the trace has them
        self.graph.require_in_memory()
        if getattr(self.engine, "streams", False):  # a mapped graph larger than memory: the operating system pages it
            self.engine = engine_for("cpu", self.threads)
        fields = self.native(kernel, graph, **options)
        if fields is None and self._at_once:
            self._compile_from_now_on()
            fields = self.native(kernel, graph, **options)
        if fields is None:
            raise InvalidArgumentError(
                f"{self.name} runs as a kernel on whole graphs, and the engine {self.engine.name!r} has no such "
                "kernel; use device='cpu' without slices and parts"
            )
        return fields

    def host_native(self, kernel: str, graph: Graph | None = None, **options: Any) -> Mapping[str, Any]:
        """As :meth:`require_native`, with the CPU's kernel where the engine has none or leaves the call to the CPU.

        A graph on disk is read by a kernel of its place.
        """
        self.refuse_path()
        if self.graph.on_disk and (reads_rows := self._row_kernel(kernel)) is not None:
            return self._call(kernel, reads_rows, graph, False, {**options, "progress": self.progress})
        needs_compiled_leaf = getattr(self.engine, "needs_compiled_leaf", None)
        if self.graph.on_disk and needs_compiled_leaf is not None and needs_compiled_leaf(kernel):
            raise InvalidArgumentError(
                f"device={self.engine.name.split(',')[0]!r}: {self.name} of a graph on disk is a compiled kernel; use "
                "device='cpu', or dr.read(path) instead of dr.open(path)"
            )
        self.graph.require_in_memory()
        if getattr(self.engine, "streams", False) and getattr(self.engine, "memory", None) is not None:
            raise InvalidArgumentError(
                f"memory=: {self.name} is one kernel for this graph in memory, which cannot work within a budget; "
                f"leave memory out{'' if self._row_kernel(kernel) is None else ', or use dr.open(path)'}"
            )
        fields = self.native_or_left(kernel, graph, **options)
        return self._call_on_host(kernel, graph, options) if fields is None else fields

    def native_or_left(self, kernel: str, graph: Graph | None = None, **options: Any) -> Mapping[str, Any] | None:
        """As :meth:`native`, with the CPU's kernel where the engine has a kernel but leaves this call to the CPU.

        An example is a GPU without room that was not asked for. None: a program has to do the work.
        """
        found = self._native(kernel)
        if found is None:
            return None
        try:
            return self._call_or_compile(kernel, found, graph, False, options)
        except LeftToHostError:
            pass
        except LeftToProgramsError:
            return None
        except (DeviceError, ResourceError):
            if not self._may_leave:
                raise
        return self._call_on_host(kernel, graph, options)

    def native_where_whole(self, kernel: str, graph: Graph | None = None, **options: Any) -> Mapping[str, Any] | None:
        """As :meth:`native_or_left`, with the CPU's kernel also where a GPU without one was given a graph in memory.

        None: a program has to do the work.
        """
        fields = self.native_or_left(kernel, graph, **options)
        is_free = self.path == "auto" and self._checkpoint is None
        if fields is None and is_free and self.engine.name == GPU and not self.graph.on_disk:
            return self._call_on_host(kernel, graph, options)
        return fields

    def _call_on_host(self, kernel: str, graph: Graph | None, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the CPU's kernel."""
        found = cpu_kernel(kernel, self.threads)
        if self.engine.name == GPU or HYBRID in self.engine.name:  # the result names the engine that computed it
            self.engine = engine_for("cpu", self.threads)
        assert found is not None, kernel
        return self._call_or_compile(kernel, found, graph, False, options)

    def _row_kernel(self, kernel: str) -> NativeKernel | None:
        find = getattr(self.engine, "row_kernel", None)
        found: NativeKernel | None = None if find is None else find(kernel)
        return found

    def refuse_path(self) -> None:
        """Refuse a fixed path and checkpoints, for an algorithm that is not a program."""
        if self._checkpoint is not None:
            raise InvalidArgumentError(
                f"checkpoint={str(self._checkpoint.path)!r}: {self.name} runs as one kernel, without supersteps "
                "to save it between; leave checkpoint out"
            )
        if self.path != "auto":
            raise InvalidArgumentError(
                f"path={str(self.path)!r}: {self.name} runs as one kernel, so it has no paths; leave path out"
            )
