"""Programs on a GPU; a run reuses the memory of an earlier one if possible.

A search of a large graph takes a fraction of a millisecond. Allocating its memory and passing its addresses to the
kernels takes as long. So a run that has ended, and is not used any more, stays with the graph's copy on the device
while such runs are small, and the next run of the same program on the same graph reuses its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike, LeftToHostError, NativeKernel, check_params, graph_types
from dromos.engines.cuda.arc_values import arcs_in_given_order
from dromos.engines.cuda.availability import require_device
from dromos.engines.cuda.device_graph import DeviceGraph, copy_of, device_graph, forget
from dromos.engines.cuda.execution import CudaExecution
from dromos.engines.cuda.modules import ProgramFacts, facts_of
from dromos.engines.cuda.native.fields import AsItIs, ByArc
from dromos.engines.cuda.native.wants import USUAL, Wants
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.cuda.out_of_memory import told_when_full
from dromos.engines.cuda.residency import Need
from dromos.engines.cuda.transfers import shared_copy, to_device, to_host
from dromos.engines.cuda.vertex_values import has_not_finite
from dromos.engines.direction import along
from dromos.errors import DeviceError
from dromos.program import Program

__all__ = ["NATIVE", "CudaEngine"]

NATIVE: Final = (
    "betweenness", "cdlp", "coloring", "communities", "components", "cores", "edge_betweenness", "forest", "joint",
    "k_core", "matching", "sampling", "similarity", "triangles", "trusses", "walks",
)  # fmt: skip
"""Each is a module of :mod:`dromos.engines.cuda.native` with a function of the same name, and ``WANTS`` if that is more
than usual."""
_MOST_IDLE: Final = 256 << 20
"""Bytes of finished runs that are kept with one graph on the device."""


@lru_cache(maxsize=16)
def _keeping(options: CudaOptions) -> CudaOptions:
    return replace(options, on_device=True)


class CudaEngine:
    """Compiles programs with NVRTC and runs them on one CUDA device.

    ``options``: a :class:`CudaOptions`, or its values by name.
    """

    name = "cuda"
    copies_params = True
    """Arrays of a program's parameters are copied to the device when it is prepared, or are there already."""

    def __init__(self, options: CudaOptions | Mapping[str, Any] | None = None) -> None:
        require_device()
        self.options = options if isinstance(options, CudaOptions) else CudaOptions(**(options or {}))

    adds_up_distances = True
    """Its kernel for joint searches takes ``sums``."""

    def keeping_results(self) -> CudaEngine:
        """The same engine, but leaving results on the device."""
        return CudaEngine(_keeping(self.options))

    def prepare(self, program: Program, graph: GraphLike) -> CudaExecution:
        """The program in its initial state; the graph is copied to the device by the first program that runs on it."""
        import cupy

        program, graph = along(program, graph)
        try:
            return self._begin(program, graph)
        except cupy.cuda.memory.OutOfMemoryError:
            forget(graph, others=True)
        try:
            return self._begin(program, graph)
        except cupy.cuda.memory.OutOfMemoryError as error:
            forget()
            free, total = cupy.cuda.runtime.memGetInfo()
            raise DeviceError(
                f"{type(program).__name__} does not fit on the GPU beside the graph: {free / 2**30:.2f} GiB are free "
                f"of {total / 2**30:.2f} GiB ({error}); use device='cpu', or free memory on the device"
            ) from None

    def _begin(self, program: Program, graph: GraphLike) -> CudaExecution:
        copy = copy_of(graph, renumber=self.options.renumber) if _keeps_runs(self.options) else None
        if copy is not None:
            known = facts_of(program.typed(graph_types(graph)))
            run: CudaExecution | None = copy.idle.pop(_key(known, self.options), None)
            if run is not None:
                check_params(program, graph)
                run.begin(program, graph, copy)
                return run
        return CudaExecution(program, graph, self.options)

    def placed(self, values: Array) -> Any:
        """The array on the device; the same one if it is there already."""
        return to_device(values) if isinstance(values, np.ndarray) else values

    def has_not_finite(self, values: Any) -> Callable[[], bool]:
        """Begin to look for an infinity or NaN among doubles on the device; the function waits for the answer."""
        return has_not_finite(values)

    def shared(self, values: Array) -> Any:
        """The device's copy of an array that never changes: made once, kept as long as ``values`` live."""
        return shared_copy(values)

    def recycle(self, run: CudaExecution) -> None:
        """Let the next run reuse the memory of ``run``, which must not be used after that."""
        copy, known, options = run.on_device, run.known, run.options
        aliased = options.on_device and copy.rank is None  # the caller has the fields themselves
        size = known.state_bytes(run.program, run.graph)
        fits = _keeps_runs(options) and run.graph.num_vertices > 0 and size <= _MOST_IDLE
        if aliased or known.in_given_order or not fits or not run.stats.finished:
            return
        run.forget_inputs()
        copy.idle[_key(known, options)] = run
        for other in list(copy.idle)[: -max(_MOST_IDLE // size, 1)]:  # about so many of this size
            copy.idle.pop(other, None)

    def native(self, name: str) -> NativeKernel | None:
        """The kernel called ``name``; it takes the host's graph."""
        return partial(self._native, name) if name in NATIVE else None

    def _native(self, name: str, graph: GraphLike, **arguments: Any) -> Mapping[str, Any]:
        options, module = self.options, import_module(f"dromos.engines.cuda.native.{name}")
        wants: Wants = getattr(module, "WANTS", USUAL)
        if graph.num_arcs < wants.least_arcs:
            raise LeftToHostError(f"{graph.num_arcs} arcs")
        need = Need(options.memory, wants.state_bytes(graph), weights=wants.weights, share=options.share)
        copy = device_graph(graph, renumber=options.renumber and not wants.given_order, need=need)
        if wants.host_graph:
            arguments["host"] = graph
        with told_when_full(name):
            fields = getattr(module, name)(copy, **arguments)
            return {key: self._given(graph, copy, values) for key, values in fields.items()}

    def _given(self, graph: GraphLike, copy: DeviceGraph, values: Any) -> Any:
        """A field in the given order, placed as the options say.

        A number about the whole graph, and data that a kernel has copied to the host, stay as they are.
        """
        if isinstance(values, ByArc):
            fields = arcs_in_given_order(graph, copy, values.values)
        elif isinstance(values, AsItIs):
            fields = values.values
        elif isinstance(values, np.ndarray) or not getattr(values, "ndim", 0):
            return values
        else:
            fields = copy.to_given_order(values)
        return fields if self.options.on_device or isinstance(fields, np.ndarray) else to_host(fields)


def _keeps_runs(options: CudaOptions) -> bool:
    """False if the options fix how much device memory a run may use (``memory``, ``share``)."""
    return options.memory is None and options.share is None


def _key(known: ProgramFacts, options: CudaOptions) -> tuple[Any, ...]:
    """The key of reusable memory: runs with equal keys can reuse each other's."""
    import cupy

    return known, options, int(cupy.cuda.get_current_stream().ptr)
