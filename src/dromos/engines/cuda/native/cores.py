"""Core numbers by peeling, all levels in one cooperative kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import CYCLES, ID_VARIANTS, grid_for, launch, module_of, text_of

__all__ = ["cores", "sources"]

_NAME: Final = "native_cores"
_THREADS: Final = 1024
# As in the kernel: words of state, where the barrier's words are, which word says that all is done, arcs in a piece.
_STATE, _BARRIER, _FINISHED, _PIECE = 96, slice(16, 48), 87, 128


def cores(graph: DeviceGraph) -> Mapping[str, Any]:
    """``core``: the core number of each vertex of an undirected graph without self-loops; parallel edges count."""
    import cupy

    n, arcs = graph.num_vertices, graph.num_arcs
    if n == 0:
        return {"core": cupy.zeros(0, cupy.int64)}
    wide = arcs >= 2**31
    module = module_of(_NAME, graph, f"DEGREE={'long long' if wide else 'int'}")
    offsets, targets = graph.out.offsets, graph.out.targets
    left, state = cupy.empty(n, cupy.int64 if wide else cupy.int32), cupy.empty(_STATE, cupy.uint64)
    queue = cupy.empty(n + arcs // _PIECE + 1, cupy.uint64)
    lists = [cupy.empty(n // 2 + 1, targets.dtype) for _ in range(2)]
    launch(module, "start_peeling", grid_for(n, 256), 256, offsets, targets.dtype.type(n), left, state)
    grid = module.cooperative_grid("peel", _THREADS)
    while True:
        launch(
            module, "peel", grid, _THREADS, offsets, targets, left, queue, *lists, state, np.int64(CYCLES),
            together=True,
        )  # fmt: skip
        if int(state[_FINISHED].get()):
            return {"core": left.astype(cupy.int64, copy=False)}
        state[_BARRIER] = 0


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    degrees = ("DEGREE=int", "DEGREE=long long")
    return [(_NAME, text_of(_NAME), (*defines, degree)) for defines in ID_VARIANTS for degree in degrees]
