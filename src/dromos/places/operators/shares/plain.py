"""The plain form of shares of shortest paths, which defines their meaning."""

from __future__ import annotations

from dromos.dtypes import Array
from dromos.graph.slices import GraphSlice
from dromos.places.operators.shares import AddShares, Values

__all__ = ["add"]


def add(threads: int | None = None) -> AddShares:
    """See :mod:`dromos.places.operators.shares`."""
    return _add


def _add(piece: GraphSlice, values: Values, through: Array, by_arc: bool) -> int:
    level, paths, gain = values
    row = 0
    for u, v in zip(piece.sources.tolist(), piece.targets.tolist(), strict=True):
        if not (by_arc or u < v):
            continue
        for source in range(level.shape[1]):
            step = level[v, source] - level[u, source]
            if step == 1:
                through[row] += paths[u, source] * gain[v, source]
            elif step == -1 and not by_arc:
                through[row] += paths[v, source] * gain[u, source]
        row += 1
    return row
