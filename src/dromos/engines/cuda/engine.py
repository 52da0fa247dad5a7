"""Programs on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, Final

from dromos.engines import GraphLike, NativeKernel
from dromos.engines.cuda.availability import require_device
from dromos.engines.cuda.device_graph import DeviceGraph, device_graph, forget
from dromos.engines.cuda.execution import CudaExecution
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.cuda.out_of_memory import told_when_full
from dromos.engines.cuda.residency import Need
from dromos.engines.cuda.reuse import leave_memory, run_of
from dromos.engines.cuda.transfers import to_host
from dromos.engines.direction import along
from dromos.errors import DeviceError
from dromos.program import Program

__all__ = ["NATIVE", "CudaEngine"]

NATIVE: Final = ("betweenness", "components", "cores", "cdlp", "joint", "triangles")
"""Each is a module of :mod:`dromos.engines.cuda.native` with a function of the same name."""
NATIVE_BYTES_PER_VERTEX: Final = 64
"""Roughly what they need on the device beside the graph; kernels for many sources need more, for each source."""


@lru_cache(maxsize=16)
def _keeping(options: CudaOptions) -> CudaOptions:
    return replace(options, on_device=True)


class CudaEngine:
    """Compiles programs with NVRTC and runs them on one CUDA device.

    ``options``: a :class:`CudaOptions`, or its values by name.
    """

    name = "cuda"

    def __init__(self, options: CudaOptions | Mapping[str, Any] | None = None) -> None:
        require_device()
        self.options = options if isinstance(options, CudaOptions) else CudaOptions(**(options or {}))

    def keeping_results(self) -> CudaEngine:
        """The same engine, but one that leaves results on the device."""
        return CudaEngine(_keeping(self.options))

    def prepare(self, program: Program, graph: GraphLike) -> CudaExecution:
        """The program in its initial state; the graph is copied to the device by the first program that runs on it."""
        import cupy

        program, graph = along(program, graph)
        try:
            return run_of(program, graph, self.options)
        except cupy.cuda.memory.OutOfMemoryError:
            forget(graph, others=True)
        try:
            return run_of(program, graph, self.options)
        except cupy.cuda.memory.OutOfMemoryError as error:
            forget()
            free, total = cupy.cuda.runtime.memGetInfo()
            raise DeviceError(
                f"{type(program).__name__} does not fit on the GPU beside the graph: {free / 2**30:.2f} GiB are free "
                f"of {total / 2**30:.2f} GiB ({error}); use device='cpu', or free memory on the device"
            ) from None

    def recycle(self, run: CudaExecution) -> None:
        """Take back a run of which nothing is asked any more."""
        leave_memory(run)

    def native(self, name: str) -> NativeKernel | None:
        """The kernel called ``name``; it takes the host's graph."""
        return partial(self._native, name) if name in NATIVE else None

    def _native(self, name: str, graph: GraphLike, **arguments: Any) -> Mapping[str, Any]:
        options, state = self.options, NATIVE_BYTES_PER_VERTEX * graph.num_vertices
        need = Need(options.memory, state, weights=False, share=options.share)
        copy = device_graph(graph, renumber=options.renumber, need=need)
        kernel = getattr(import_module(f"dromos.engines.cuda.native.{name}"), name)
        with told_when_full(name):
            return {key: self._given(copy, values) for key, values in kernel(copy, **arguments).items()}

    def _given(self, copy: DeviceGraph, values: Any) -> Any:
        """A field in the given order, where the options want it; a number about the whole graph as it is."""
        if not getattr(values, "ndim", 0):
            return values
        fields = copy.to_given_order(values)
        return fields if self.options.on_device else to_host(fields)
