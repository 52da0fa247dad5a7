"""Supersteps of a search that a part on a GPU runs by itself, in one launch.

When no vertex of the other parts wants a message any more, none crosses the cut. The kernel of whole graphs does the
rest: rows outside the part are empty, so it considers their vertices done.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dromos.engines import GraphShape
from dromos.engines.cuda.device_slices import clipped_offsets, device_slice
from dromos.engines.cuda.layout import control_type, row_type
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.modules import Kernel, module_of
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.cuda.part_kernels import PartKernels
from dromos.engines.cuda.transfers import fetch_later, pinned_empty, send_later
from dromos.graph.slices import GraphSlice
from dromos.plan import Constants, Levels
from dromos.program import Analysis, TypedProgram

__all__ = ["LoneSearch", "least_pulled"]

_BLOCK: Final = 1024
_MAX_ROWS: Final = 1 << 8  # supersteps of a launch: each leaves a row for the trace
_CONSTANTS: Final = Constants(beta=24.0)  # as on a whole graph
_PULL, _SWITCH = 1, 2  # policies of ``kernels/claiming.cuh``: always pull; choose directions on the device
_BYTE: Final = np.dtype(np.uint8)


def least_pulled(num_vertices: int) -> int:
    """The least size of a first frontier that is pulled.

    >>> least_pulled(240)
    10
    """
    return -int(-num_vertices // _CONSTANTS.beta)


class LoneSearch:
    """The kernel of ``kernels/claiming.cuh`` on a part."""

    def __init__(self, kernels: PartKernels, typed: TypedProgram, analysis: Analysis, shape: GraphShape) -> None:
        import cupy

        self._kernels, self._shape = kernels, shape
        self._options = CudaOptions()
        self._module = module_of(typed, analysis, Kernel("claiming"), kernels.types, self._options, _BLOCK)
        n = shape.num_vertices
        self._visited = cupy.empty((n + 31) // 32, cupy.uint32)
        self._hubs = cupy.empty(n, typed.types.id)
        self._rows = cupy.empty(_MAX_ROWS * row_type.itemsize, cupy.uint8)
        self._read = pinned_empty(self._rows.nbytes, _BYTE)
        self._begin = pinned_empty(kernels.control.nbytes, _BYTE)
        self._control_type = control_type(typed)
        work = kernels.arguments["W"][0]
        work["visited"], work["hubs"] = address(self._visited), address(self._hubs)
        work["rows"], work["max_rows"] = address(self._rows), _MAX_ROWS

    def start(
        self, out: GraphSlice, into: GraphSlice, size: int, arcs: int, horizon: int | None, *, pull: bool = False
    ) -> None:
        """Start up to ``horizon`` supersteps from a frontier of ``size`` vertices with ``arcs`` out-arcs.

        ``out``, ``into``: the part's rows. ``pull``: all supersteps pull; otherwise the device chooses directions.
        """
        import cupy

        kernels, stream = self._kernels, cupy.cuda.get_current_stream()
        self._point_at(out, into)
        step = kernels.arguments["step"][0]
        step["policy"], step["horizon"] = (
            _PULL if pull else _SWITCH,
            min(horizon or _MAX_ROWS, _MAX_ROWS),
        )
        step["nanoseconds"] = int(self._options.launch_ms * 1e6)
        step["alpha"], step["beta"] = _CONSTANTS.alpha, _CONSTANTS.beta
        begin = self._begin.view(self._control_type)[0]
        self._begin[:] = 0
        begin["size"], begin["out"], begin["in"] = size, arcs, arcs
        begin["pulled"], begin["untouched"] = size >= least_pulled(self._shape.num_vertices), self._shape.num_arcs
        send_later(self._begin, kernels.control, stream)
        with kernels.clock:
            grid = self._module.cooperative_grid("run", _BLOCK)
            self._module.launch("run", grid, _BLOCK, kernels.arguments, together=True)
        fetch_later(self._rows, self._read, stream)

    def finish(self) -> tuple[Any, int, Levels]:
        """Wait for the kernel; return its record, the messages, and the supersteps."""
        record = self._kernels.record()
        rows = self._read.view(row_type)[: int(record["supersteps"])]
        levels = Levels(
            rows["frontier"].astype(np.int64), rows["out"].astype(np.int64), rows["nanoseconds"] / 1e9,
            rows["pulled"].astype(bool),
        )  # fmt: skip
        return record, int(rows["messages"].sum()), levels

    def _point_at(self, out: GraphSlice, into: GraphSlice) -> None:
        graph = self._kernels.arguments["G"][0]
        room = self._kernels.room
        pushed = device_slice(self._shape, out, "push", room)
        pulled = device_slice(self._shape, into, "pull", room)
        graph["offsets"] = address(clipped_offsets(self._shape, out, "push"))
        graph["in_offsets"] = address(clipped_offsets(self._shape, into, "pull"))
        graph["targets"], graph["weights"] = pushed.targets, pushed.weights
        graph["sources"], graph["in_weights"] = pulled.targets, pulled.weights
        graph["max_degree"] = pushed.max_degree
