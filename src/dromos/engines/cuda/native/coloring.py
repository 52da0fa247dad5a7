"""Greedy colours in a given order, by the rounds of Jones and Plassmann in one cooperative kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import CYCLES, ID_VARIANTS, grid_for, launch, module_of, text_of
from dromos.engines.cuda.records import number_of
from dromos.engines.cuda.transfers import to_device

__all__ = ["coloring", "sources"]

_NAME: Final = "native_coloring"
_THREADS: Final = 512
_PIECE: Final = number_of(_NAME, "PIECE")
_HEADER: Final = number_of(_NAME, "HEADER")
# As in the kernel: words of state, those of the barrier, which word says that all is done.
_STATE, _BARRIER, _FINISHED = 80, slice(32, 64), 66


def coloring(graph: DeviceGraph, *, order: Array, by_degree: bool = False) -> Mapping[str, Any]:
    """``color`` of each vertex of a symmetric graph, the least that is free when its turn comes in ``order``.

    ``by_degree``: those of the greatest degrees come first, equal ones in ``order``.
    """
    import cupy

    n, arcs = graph.num_vertices, graph.num_arcs
    color = cupy.zeros(n, cupy.int32)
    if arcs == 0:
        return {"color": color}
    module = module_of(_NAME, graph)
    offsets, targets = graph.out.offsets, graph.out.targets
    vertex = targets.dtype.type
    place = _places(graph, order, by_degree)
    # longer rows have at most arcs / PIECE bits' headers, a word for each 32 arcs and one that is not full
    long_rows = arcs // _PIECE
    queue = cupy.empty(n + long_rows + 1, cupy.uint64)
    bits = cupy.zeros(arcs // 32 + (_HEADER + 1) * long_rows + 1, cupy.uint32)
    state, before, at = cupy.zeros(_STATE, cupy.uint64), cupy.zeros(n, cupy.int32), cupy.empty(n, cupy.uint32)
    num_items = cupy.zeros(1, cupy.uint64)
    launch(module, "cut_rows", grid_for(n, 256), 256, offsets, vertex(n), queue, num_items)
    launch(
        module, "count_before", grid_for(max(n, arcs // 8), 256), 256, offsets, targets, place, vertex(n), queue,
        num_items, before,
    )  # fmt: skip
    grid = module.cooperative_grid("color_vertices", _THREADS)
    while True:
        launch(
            module, "color_vertices", grid, _THREADS, offsets, targets, vertex(n), place, before, color, at, bits,
            queue, state, np.int64(CYCLES), together=True,
        )  # fmt: skip
        if int(state[_FINISHED].get()):
            return {"color": color}
        state[_BARRIER] = 0


def _places(graph: DeviceGraph, order: Array, by_degree: bool) -> Any:
    """When the turn of each of the device's vertices comes."""
    import cupy

    n, dtype, rank = graph.num_vertices, graph.out.targets.dtype, graph.rank
    module, blocks, count = module_of(_NAME, graph), grid_for(graph.num_vertices, 256), np.uint64(graph.num_vertices)
    turns = to_device(order.astype(dtype, copy=False))
    keys, place = None, cupy.empty(n, dtype)
    if by_degree:
        keys = cupy.empty(n, cupy.uint64)
        launch(module, "degree_keys", blocks, 256, graph.out.offsets, turns, rank, count, keys)
        keys.sort()
    launch(module, "place_turns", blocks, 256, turns, keys, rank, count, place)
    return place


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [(_NAME, text_of(_NAME), defines) for defines in ID_VARIANTS]
