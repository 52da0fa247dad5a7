"""Long in-rows cut into tiles of sources, so that what a tile gathers from fits a core's own cache.

A hub's row reaches over all sources, and a gather from a table of a hundred megabytes waits for memory at nearly every
arc. Tile after tile, all rows read one small piece of the table. An arc of a tile is told by 16 bits, half of an id.
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
"""Sources of a tile; as in the kernels."""
LEAST_ARCS = 1 << 21
"""Of a slice: below, the table is small or the gain is."""
LEAST_SEGMENT = 8
"""Arcs that a row has in a tile on average: with fewer, walking the segments costs more than is gained."""
_kept = IdentityCache()


@dataclass(frozen=True, eq=False)
class Tiles:
    """The in-rows of a slice: segment ``tile * rows + row`` holds the sources of a row that lie in a tile."""

    rows: int
    starts: Array
    """Where each segment begins, and where the last one ends."""
    sources: Array
    """Of each arc, counted from the first source of its tile."""


def tiles_of(shape: GraphShape, piece: GraphSlice, threads: int) -> Tiles | None:
    """The tiles of a slice of in-rows, kept as long as the graph lives; None where rows are too short for that.

    >>> import dromos as dr
    >>> graph = dr.generators.path(3)
    >>> tiles_of(graph, GraphSlice(0, 3, graph.offsets, graph.targets, None), 1) is None
    True
    """
    rows, arcs = piece.stop - piece.start, piece.num_arcs
    if arcs < LEAST_ARCS:
        return None
    # vertices behind the last one with out-arcs are nobody's source
    tiles = -(-int(np.searchsorted(shape.offsets, shape.offsets.dtype.type(shape.num_arcs))) // SPAN)
    if tiles < 2 or rows * tiles * LEAST_SEGMENT > arcs:
        return None
    # the first source tells blocks of a grid apart that have the same rows
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
