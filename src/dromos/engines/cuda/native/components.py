"""Weakly connected components by Afforest (Sutton, Ben-Nun, Barak: IPDPS 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import ID_VARIANTS, grid_for, launch, module_of, slices, text_of

__all__ = ["components", "sources"]

_NAME: Final = "native_components"
_THREADS: Final = 256
_SAMPLES: Final = 512  # as in the kernel
_LAUNCH_ARCS: Final = 1 << 32


def components(graph: DeviceGraph) -> Mapping[str, Any]:
    """``label``: the least given id of each vertex's component; arcs count in both directions."""
    import cupy

    n, dtype = graph.num_vertices, graph.out.targets.dtype
    parent = cupy.empty(n, dtype)
    if n == 0:
        return {"label": parent}
    module = module_of(_NAME, graph)
    vertices, symmetric = dtype.type(n), np.int32(graph.symmetric)
    rows = (graph.out.offsets, graph.out.targets)
    giant, least = cupy.empty(1, dtype), None if graph.ids is None else cupy.empty(n, dtype)
    grid = grid_for(n, _THREADS)
    launch(module, "plant", grid, _THREADS, *rows, vertices, symmetric, parent, least)
    launch(module, "compress", grid, _THREADS, vertices, parent)
    # A few vertices join most of the trees: the others then find one root on both sides, and climb no chains.
    few = dtype.type(n // 8)
    for begin, end in ((dtype.type(0), few), (few, vertices)):
        launch(module, "link_first", grid, _THREADS, *rows, begin, end, symmetric, parent)
        launch(module, "compress", grid, _THREADS, vertices, parent)
    launch(module, "find_giant", 1, _SAMPLES, vertices, parent, giant)
    _finish(graph, module, parent, giant)
    if graph.ids is None:  # the root of a tree is its least id
        launch(module, "compress", grid, _THREADS, vertices, parent)
        return {"label": parent}
    launch(module, "gather_names", grid_for(n, _THREADS, each=8), _THREADS, vertices, graph.ids, giant, parent, least)
    label = cupy.empty(n, dtype)
    launch(module, "spread_names", grid, _THREADS, vertices, parent, least, label)
    return {"label": label}


def _finish(graph: DeviceGraph, module: Any, parent: Any, giant: Any) -> None:
    """The arcs that the sampling left out."""
    import cupy

    n, arcs, vertex = graph.num_vertices, graph.num_arcs, parent.dtype.type
    rows, symmetric = (graph.out.offsets, graph.out.targets), np.int32(graph.symmetric)
    pieces, num_pieces = cupy.empty(2 * (arcs // 3200 + 1), cupy.uint64), cupy.zeros(1, cupy.uint32)
    parts = 1 if graph.symmetric else -(-max(arcs, 1) // _LAUNCH_ARCS)
    for begin, end in slices(n, -(-n // parts)):
        launch(
            module, "finish", grid_for(end - begin, _THREADS), _THREADS,
            *rows, vertex(begin), vertex(end), symmetric, giant, parent, pieces, num_pieces,
        )  # fmt: skip
        if parts > 1:
            cupy.cuda.get_current_stream().synchronize()
    if arcs > 4096:
        launch(module, "finish_pieces", 1024, _THREADS, *rows, pieces, num_pieces, parent)


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """What there is to compile."""
    return [(_NAME, text_of(_NAME), defines) for defines in ID_VARIANTS]
