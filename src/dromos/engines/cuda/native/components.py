"""Weakly connected components by Afforest (Sutton, Ben-Nun, Barak: IPDPS 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final

import numpy as np

from dromos.engines import GraphShape
from dromos.engines.cuda.compiler import load
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.device_slices import device_slice, offsets_dtype
from dromos.engines.cuda.native.launching import ID_VARIANTS, grid_for, launch, module_of, slices, text_of
from dromos.engines.cuda.records import number_of
from dromos.engines.cuda.transfers import to_device, to_host
from dromos.engines.native.forest import UNKNOWN, Forest
from dromos.graph.slices import GraphSlice

__all__ = ["components", "link_rows", "sources"]

_NAME: Final = "native_components"
_THREADS: Final = 256
_SAMPLES: Final = number_of(_NAME, "SAMPLES")
_BLOCK_THREADS: Final = number_of(_NAME, "BLOCK_THREADS")
_BLOCKS: Final = number_of(_NAME, "BLOCKS")
_LAUNCH_ARCS: Final = 1 << 32


class _State(IntEnum):
    """Words of 8 bytes that the kernels share, zero at first."""

    SAMPLE_ARRIVALS = 0
    NAME_ARRIVALS = 1
    NUM_PIECES = 2
    TREES = 3
    GIANT = 4


def components(graph: DeviceGraph) -> Mapping[str, Any]:
    """``label``: the least given id of each vertex's component; arcs count in both directions. ``count``: of them.

    Nothing waits for the device: the count is an array with one number, there.
    """
    import cupy

    n, dtype = graph.num_vertices, graph.out.targets.dtype
    parent = cupy.empty(n, dtype)
    if n == 0:
        return {"label": parent, "count": 0}
    module = module_of(_NAME, graph)
    arcs, vertex, symmetric = graph.num_arcs, dtype.type, np.int32(graph.symmetric)
    rows = (graph.out.offsets, graph.out.targets)
    least = None if graph.ids is None else cupy.empty(n, dtype)
    state = cupy.zeros(len(_State), cupy.uint64)
    place = {word: np.uint64(state.data.ptr + 8 * word) for word in _State}
    giant, num_pieces, trees = place[_State.GIANT], place[_State.NUM_PIECES], place[_State.TREES]
    grid = module.cooperative_grid("sample_trees", _BLOCK_THREADS, most=_BLOCKS)
    launch(
        module, "sample_trees", grid, _BLOCK_THREADS, *rows, vertex(n), symmetric, parent, least, giant,
        place[_State.SAMPLE_ARRIVALS], together=True,
    )  # fmt: skip
    pieces = cupy.empty(2 * (arcs // 3200 + 1), cupy.uint64)
    parts = 1 if graph.symmetric else -(-max(arcs, 1) // _LAUNCH_ARCS)
    for begin, end in slices(n, -(-n // parts)):  # the arcs that the sampling left out
        launch(
            module, "finish", grid_for(end - begin, _THREADS), _THREADS,
            *rows, vertex(begin), vertex(end), symmetric, giant, parent, pieces, num_pieces,
        )  # fmt: skip
        if parts > 1:
            cupy.cuda.get_current_stream().synchronize()
    grid = module.cooperative_grid("name_trees", _BLOCK_THREADS, most=_BLOCKS)
    launch(
        module, "name_trees", grid, _BLOCK_THREADS, *rows, vertex(n), graph.ids, giant, pieces, num_pieces, parent,
        least, trees, place[_State.NAME_ARRIVALS], together=True,
    )  # fmt: skip
    return {"label": parent, "count": state[_State.TREES]}


def link_rows(forest: Forest, shape: GraphShape, piece: GraphSlice, room: int | None = None) -> None:
    """As :func:`dromos.engines.native.forest.link_rows`, on the current device."""
    import cupy

    if not piece.num_arcs:
        return
    n, vertex = forest.size, forest.dtype.type
    wide = offsets_dtype(shape.num_arcs).itemsize > 4
    narrow = forest.dtype.itemsize == 4
    defines = (f"VID={'int' if narrow else 'long long'}", f"EID={'long long' if wide else 'unsigned'}")
    module = load(text_of(_NAME), _NAME, defines=defines)
    found = device_slice(shape, piece, "push", room)
    rows = (np.uint64(found.offsets), np.uint64(found.targets))
    parent = cupy.arange(n, dtype=forest.dtype) if forest.parent is None else to_device(forest.parent)
    giant = cupy.full(1, forest.giant, forest.dtype)
    grid, few = grid_for(n, _THREADS), piece.start + (piece.stop - piece.start) // 8
    for begin, end in ((piece.start, few), (few, piece.stop)):
        launch(module, "link_first", grid, _THREADS, *rows, vertex(begin), vertex(end), np.int32(0), parent)
        launch(module, "compress", grid, _THREADS, vertex(n), parent)
    if forest.giant == UNKNOWN:
        launch(module, "find_giant", 1, _SAMPLES, vertex(n), parent, giant)
    elif forest.giant >= 0:
        giant = parent[forest.giant : forest.giant + 1].copy()
    pieces, num_pieces = cupy.empty(2 * (piece.num_arcs // 3200 + 1), cupy.uint64), cupy.zeros(1, cupy.uint32)
    launch(
        module, "finish", grid_for(piece.stop - piece.start, _THREADS), _THREADS, *rows, vertex(piece.start),
        vertex(piece.stop), np.int32(1), giant, parent, pieces, num_pieces,
    )  # fmt: skip
    if piece.num_arcs > 4096:
        launch(module, "finish_pieces", 1024, _THREADS, *rows, pieces, num_pieces, parent)
    launch(module, "compress", grid, _THREADS, vertex(n), parent)
    forest.parent, forest.giant = to_host(parent), int(giant[0])


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [(_NAME, text_of(_NAME), defines) for defines in ID_VARIANTS]
