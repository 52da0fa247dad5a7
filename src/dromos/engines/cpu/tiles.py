"""Long in-rows split into tiles of sources, so that the values of a tile's sources fit a core's private cache.

A hub's row covers all sources, and a gather from a table of a hundred megabytes waits for memory at nearly every arc.
Tile after tile, all rows read one small piece of the table. An arc of a tile is stored in 16 bits, half of an id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines import GraphShape
from dromos.graph.slices import GraphSlice
from dromos.identity_cache import IdentityCache
from dromos.parallel import run_team

__all__ = ["LEAST_ARCS", "LEAST_SEGMENT", "SPAN", "Tiles", "tiles_of"]

SPAN: Final = 1 << 16
"""Sources of a tile; the kernels have the same constant."""
LEAST_ARCS = 1 << 21
"""Least number of arcs of a slice: below, the table or the gain is small."""
LEAST_SEGMENT = 8
"""Least average number of arcs of a row in a tile: with fewer, walking the segments costs more than is gained."""
_kept = IdentityCache()


@dataclass(frozen=True, eq=False)
class Tiles:
    """The in-rows of a slice: segment ``tile * rows + row`` holds the sources of a row that lie in a tile."""

    rows: int
    starts: Array
    """Where each segment begins, and where the last one ends."""
    sources: Array
    """The source of each arc, counted from the first source of its tile."""


def tiles_of(shape: GraphShape, piece: GraphSlice, threads: int) -> Tiles | None:
    """The tiles of a slice of in-rows, kept while the graph lives; None if its rows are too short.

    >>> import dromos as dr
    >>> graph = dr.generators.path(3)
    >>> tiles_of(graph, GraphSlice(0, 3, graph.offsets, graph.targets, None), 1) is None
    True
    """
    rows, arcs = piece.stop - piece.start, piece.num_arcs
    if arcs < LEAST_ARCS:
        return None
    # vertices after the last one with out-arcs are never sources
    tiles = -(-int(np.searchsorted(shape.offsets, shape.offsets.dtype.type(shape.num_arcs))) // SPAN)
    if tiles < 2 or rows * tiles * LEAST_SEGMENT > arcs:
        return None
    # the first source distinguishes blocks of a grid that have the same rows
    known, key = _kept.of(shape), (piece.start, piece.stop, int(piece.offsets[0]), arcs, int(piece.targets[0]))
    if key not in known:
        known[key] = _made(piece, tiles, threads)
    found: Tiles = known[key]
    return found


def _made(piece: GraphSlice, tiles: int, threads: int) -> Tiles:
    from dromos.engines.cpu import tile_kernels as kernels

    rows = piece.stop - piece.start
    ends = read_only(piece.targets.view(np.dtype(f"u{piece.targets.itemsize}")))
    offsets, cursor = read_only(piece.offsets), np.zeros(1, np.int64)
    counts = np.zeros(tiles * rows + 1, np.uint32 if piece.num_arcs < 2**32 else np.int64)
    run_team(kernels.count_segments, offsets, ends, counts, cursor, threads=threads)
    starts = np.cumsum(counts, dtype=counts.dtype)
    sources, cursor[0] = np.empty(piece.num_arcs, np.uint16), 0
    run_team(kernels.fill_segments, offsets, ends, starts.copy(), sources, cursor, threads=threads)
    return Tiles(rows, starts, sources)
