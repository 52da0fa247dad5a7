"""Shares of shortest paths with NumPy, some arcs at a time."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.graph.slices import GraphSlice
from dromos.places.operators.shares import BLOCK, AddShares, Values, answered

__all__ = ["add"]


def add(threads: int | None = None) -> AddShares:
    """See :mod:`dromos.places.operators.shares`."""
    return _add


def _add(piece: GraphSlice, values: Values, through: Array, by_arc: bool) -> int:
    level, paths, gain = values
    done = 0
    for sources, targets in piece.arc_blocks(BLOCK, np.dtype(np.int64)):
        kept = np.flatnonzero(answered(sources, targets, by_arc))
        u, v, own = sources[kept], targets[kept], through[done : done + len(kept)]
        for source in range(level.shape[1]):
            step = level[v, source] - level[u, source]
            down = np.flatnonzero(step == 1)
            own[down] += paths[u[down], source] * gain[v[down], source]
            if not by_arc:
                up = np.flatnonzero(step == -1)
                own[up] += paths[v[up], source] * gain[u[up], source]
        done += len(kept)
    return done
