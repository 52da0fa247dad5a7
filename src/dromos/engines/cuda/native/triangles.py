"""Triangles by rows of bits for the hubs, and by lookups for the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import (
    CYCLES,
    ID_VARIANTS,
    allow_shared,
    grid_for,
    launch,
    module_of,
    text_of,
)

__all__ = ["sources", "triangles", "with_sorted_rows"]

_NAME: Final = "native_triangles"
_THREADS: Final = 512
_HUBS: Final = {False: 32768, True: 16384}  # rows kept as bits, by whether vertices are counted
# As in the kernel: bits of the hashed marks, arcs down of an item, vertices taken at a time.
_FAR_BITS, _LONG_ROW, _BATCH = 4096, 1024, 8


def triangles(graph: DeviceGraph, *, counts: bool = True) -> Mapping[str, Any]:
    """``triangles`` through each vertex of a simple undirected graph; without ``counts`` their number alone, ``total``.

    It is quick where the least ids are those of the greatest degrees, as they are in the device's own order.
    """
    import cupy

    n, arcs = graph.num_vertices, graph.num_arcs
    offsets, targets = graph.out.offsets, graph.out.targets
    if graph.ids is None:
        targets = with_sorted_rows(offsets, targets)
    found, total = cupy.zeros(n if counts else 0, cupy.int64), cupy.zeros(1, cupy.int64)
    if arcs:
        width = _HUBS[counts]
        module = module_of(_NAME, graph, *_defines(counts))
        vertex = targets.dtype.type
        low, items = cupy.empty(n, offsets.dtype), cupy.empty(arcs // _LONG_ROW + 1, cupy.uint64)
        num_items, cursor = cupy.zeros(1, cupy.uint32), cupy.zeros(1, cupy.uint64)
        hubs = min(n, width)
        bits = cupy.zeros(hubs * (width // 32), cupy.uint32)
        launch(module, "measure_rows", grid_for(n, 256), 256, offsets, targets, vertex(n), low, items, num_items)
        launch(module, "mark_hubs", grid_for(32 * hubs, 256), 256, offsets, targets, low, vertex(hubs), bits)
        shared = _THREADS // 32 * ((width + _FAR_BITS) // 8 + width // 128) + (4 * width if counts else 0)
        allow_shared(module, "count_triangles", shared)
        grid = module.cooperative_grid("count_triangles", _THREADS, shared)
        turns = -(-n // _BATCH) + int(num_items.get()[0])
        while True:
            launch(
                module, "count_triangles", grid, _THREADS, offsets, targets, low, vertex(n), bits, items, num_items,
                cursor, found, total, np.int64(CYCLES), shared=shared,
            )  # fmt: skip
            if int(cursor.get()[0]) >= turns:
                break
    if not counts:
        return {"total": total}
    found >>= 1  # the kernel keeps them doubled
    return {"triangles": found}


def _defines(counts: bool) -> tuple[str, ...]:
    return f"COUNTS={int(counts)}", f"HUBS={_HUBS[counts]}"


def with_sorted_rows(offsets: Any, targets: Any) -> Any:
    """The targets, each row in rising order; rows that the device did not renumber may come in any."""
    import cupy

    arcs = len(targets)
    falls = cupy.flatnonzero(targets[1:] < targets[:-1]) + 1
    begins = cupy.zeros(arcs + 1, bool)
    begins[offsets] = True
    if bool(begins[falls].all()):
        return targets
    row = cupy.searchsorted(offsets[1:], cupy.arange(arcs, dtype=offsets.dtype), side="right")
    return targets[cupy.lexsort(cupy.stack([targets.astype(cupy.int64), row]))]


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [
        (_NAME, text_of(_NAME), (*defines, *_defines(counts))) for defines in ID_VARIANTS for counts in (False, True)
    ]
