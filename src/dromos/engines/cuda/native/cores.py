"""Core numbers by peeling, all levels in one cooperative kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import CYCLES, ID_VARIANTS, grid_for, launch, module_of, text_of

__all__ = ["cores", "peeled", "sources"]

_NAME: Final = "native_cores"
_THREADS: Final = 1024
# As in the kernel: words of state, where the barrier's words are, which word says that all is done, arcs in a piece.
_STATE, _BARRIER, _FINISHED, _PIECE = 96, slice(16, 48), 87, 128


def cores(graph: DeviceGraph) -> Mapping[str, Any]:
    """``core``: the core number of each vertex of an undirected graph without self-loops; parallel edges count."""
    import cupy

    return {"core": peeled(graph, 0, None).astype(cupy.int64, copy=False)}


def peeled(graph: DeviceGraph, first: int, last: int | None) -> Any:
    """How many neighbours each vertex has left when the levels ``first`` to ``last`` are peeled off, or all levels.

    Of those that were peeled off it is their level, which is ``first`` for all below it.
    """
    import cupy

    n, arcs = graph.num_vertices, graph.num_arcs
    if n == 0:
        return cupy.zeros(0, cupy.int64)
    wide = arcs >= 2**31
    kind = np.int64 if wide else np.int32
    most = int(np.iinfo(kind).max) - 1
    module = module_of(_NAME, graph, f"DEGREE={'long long' if wide else 'int'}")
    offsets, targets = graph.out.offsets, graph.out.targets
    left, state = cupy.empty(n, kind), cupy.empty(_STATE, cupy.uint64)
    queue = cupy.empty(n + arcs // _PIECE + 1, cupy.uint64)
    lists = [cupy.empty(n // 2 + 1, targets.dtype) for _ in range(2)]
    begin = kind(min(first, most))
    launch(module, "start_peeling", grid_for(n, 256), 256, offsets, targets.dtype.type(n), begin, left, state)
    grid, end = module.cooperative_grid("peel", _THREADS), kind(most if last is None else min(last, most))
    while True:
        launch(
            module, "peel", grid, _THREADS, offsets, targets, left, queue, *lists, state, end, np.int64(CYCLES),
            together=True,
        )  # fmt: skip
        if int(state[_FINISHED].get()):
            return left
        state[_BARRIER] = 0


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    degrees = ("DEGREE=int", "DEGREE=long long")
    return [(_NAME, text_of(_NAME), (*defines, degree)) for defines in ID_VARIANTS for degree in degrees]
