"""Truss numbers: the triangles of each edge, then edges peeled level by level in one cooperative kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.compiler import Module
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import CYCLES, ID_VARIANTS, grid_for, launch, module_of, text_of
from dromos.engines.cuda.native.triangles import with_sorted_rows
from dromos.engines.cuda.native.wants import Wants
from dromos.engines.cuda.transfers import to_device, to_host
from dromos.graph.records import Edges

__all__ = ["WANTS", "sources", "trusses"]

WANTS: Final = Wants(bytes_per_arc=40)
_NAME: Final = "native_trusses"
_THREADS: Final = 512
# As in the kernel: words of state, those of cursors and the barrier, what is told, edges that a warp takes at a time.
_STATE, _PASSING, _SAVED, _EDGES = 112, slice(16, 64), 96, 32
_LIVE, _ROUNDS, _FINISHED = 4, 8, 9  # among what is told
_LEAST_PIECE: Final = 64  # neighbours that are looked up for an entry of the queue
_PART_BITS: Final = 24
_WORTH_PACKING: Final = 1 << 14  # edges
_SPARSE: Final = 0.7  # of the edges in the rows: when fewer are left, the rows are packed


class _Rows(NamedTuple):
    """The neighbours of each vertex, ids rising, and the edges to them."""

    offsets: Any
    targets: Any
    edge_of: Any


def trusses(graph: DeviceGraph, *, edges: Edges) -> Mapping[str, Array]:
    """``truss`` of each of ``edges``, those of a simple undirected graph in any order: 2 where it has no triangle.

    Memory: some 40 bytes for each arc, twice that where there are 2^32 arcs and more.
    """
    import cupy

    n, count = graph.num_vertices, len(edges.src)
    if count == 0:
        return {"truss": np.zeros(0, np.int64)}
    module = module_of(_NAME, graph)
    offsets, targets = graph.out.offsets, graph.out.targets
    if graph.ids is None:
        targets = with_sorted_rows(offsets, targets)
    low = cupy.empty(n, offsets.dtype)
    launch(module, "count_lesser", grid_for(n, 256), 256, offsets, targets, targets.dtype.type(n), low)
    base = cupy.zeros(n + 1, offsets.dtype)
    cupy.cumsum(low, out=base[1:], dtype=offsets.dtype)
    del low
    support = _peeled(module, offsets, targets, base, count)
    src, dst = (to_device(ends.astype(targets.dtype, copy=False)) for ends in (edges.src, edges.dst))
    truss = cupy.empty(count, cupy.int64)
    launch(
        module, "tell_trusses", grid_for(count, 256), 256, offsets, targets, base, support, src, dst, graph.rank,
        np.uint64(count), truss,
    )  # fmt: skip
    del support, src, dst
    return {"truss": to_host(truss)}


def _peeled(module: Module, offsets: Any, targets: Any, base: Any, count: int) -> Any:
    """The truss number less two of each of ``count`` edges, named by their arcs from the greater end."""
    import cupy

    n, edge, vertex = len(offsets) - 1, offsets.dtype, targets.dtype
    rows = _Rows(offsets, targets, cupy.empty(len(targets), edge))
    upper, lower = cupy.empty(count, vertex), cupy.empty(count, vertex)
    lookups, cursor = cupy.zeros(1, cupy.uint64), cupy.zeros(1, cupy.uint64)
    launch(
        module, "name_edges", grid_for(count, 256), 256, offsets, targets, base, vertex.type(n), edge.type(count),
        rows.edge_of, upper, lower, lookups,
    )  # fmt: skip
    support = cupy.zeros(count, cupy.int32)
    grid, turns = module.cooperative_grid("count_support", _THREADS), -(-count // _EDGES)
    while True:
        launch(
            module, "count_support", grid, _THREADS, offsets, targets, base, upper, lower, edge.type(count), support,
            cursor, np.int64(CYCLES),
        )  # fmt: skip
        if int(cursor.get()[0]) >= turns:
            break
    everything = int(lookups.get()[0])
    piece = _piece(everything, count, n)
    queue, turn = cupy.empty(count + everything // piece, cupy.uint64), cupy.empty(count, cupy.uint32)
    lists = [cupy.empty(count // 2 + 1, edge) for _ in range(2)]
    state, in_rows = cupy.empty(_STATE, cupy.uint64), count
    launch(module, "start_peeling", grid_for(count, 256), 256, np.uint64(count), turn, state)
    grid = module.cooperative_grid("peel", _THREADS)
    while True:
        sparse = int(_SPARSE * in_rows) if in_rows > _WORTH_PACKING else 0
        launch(
            module, "peel", grid, _THREADS, *rows, upper, lower, support, turn, queue, np.uint32(piece), *lists, state,
            np.int64(sparse), np.int64(CYCLES), together=True,
        )  # fmt: skip
        told = state[_SAVED:].get()
        if told[_FINISHED]:
            return support
        state[_PASSING] = 0
        if int(told[_LIVE]) < sparse:
            rows, in_rows = _packed(module, rows, turn, int(told[_ROUNDS])), int(told[_LIVE])


def _piece(lookups: int, edges: int, n: int) -> int:
    """How many neighbours an entry of the queue stands for: with so many there are three entries an edge at most.

    >>> _piece(1000, 100, 50), _piece(200_000, 100, 3000)
    (64, 1024)
    """
    piece = _LEAST_PIECE
    while 2 * piece * edges < lookups or n > piece << _PART_BITS:
        piece *= 2
    return piece


def _packed(module: Module, rows: _Rows, turn: Any, rounds: int) -> _Rows:
    """The rows without the edges that were peeled in so many rounds."""
    import cupy

    edge, n, arcs = rows.offsets.dtype, len(rows.offsets) - 1, len(rows.targets)
    kept = cupy.empty(arcs, edge)
    launch(
        module, "mark_left", grid_for(arcs, 256), 256, rows.edge_of, edge.type(arcs), turn, np.uint32(rounds), kept
    )  # fmt: skip
    upto = cupy.cumsum(kept, dtype=edge)
    del kept
    left = int(upto[-1].get())
    packed = _Rows(cupy.empty(n + 1, edge), cupy.empty(left, rows.targets.dtype), cupy.empty(left, edge))
    launch(
        module, "pack_rows", grid_for(max(arcs, n + 1), 256), 256, *rows, rows.targets.dtype.type(n), edge.type(arcs),
        upto, *packed,
    )  # fmt: skip
    return packed


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [(_NAME, text_of(_NAME), defines) for defines in ID_VARIANTS]
