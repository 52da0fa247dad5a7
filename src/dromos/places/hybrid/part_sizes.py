"""What the performance model knows of each part of a split graph; degrees are enough for all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dromos.dtypes import Array

__all__ = ["PartSize", "part_sizes"]


@dataclass(frozen=True)
class PartSize:
    """One part. ``across`` and ``within`` are expected numbers, as if the ends of arcs were drawn at random."""

    arcs: float
    vertices: float
    joined: float
    """Vertices that have arcs. On an R-MAT graph 4 of 10 have none, and are hardly looked at."""
    across: float
    """Vertices that have a neighbour in another part."""
    within: float
    """Vertices that have a neighbour in the same part."""
    hubs: bool
    """Whether each vertex has more arcs than those that have any have on average. A search reaches hubs soon."""


def part_sizes(degree: Array, bounds: Sequence[int]) -> list[PartSize]:
    """The sizes of parts: part ``i`` has the vertices ``bounds[i]..bounds[i + 1]``.

    ``degree``: that of each vertex, the first part's vertices first.

    >>> hub, others = part_sizes(np.array([4, 1, 1, 1, 1, 0]), (0, 1, 6))
    >>> hub
    PartSize(arcs=4.0, vertices=1.0, joined=1.0, across=0.9375, within=0.9375, hubs=True)
    >>> others.joined, others.across, others.hubs
    (4.0, 2.0, False)
    """
    total, mean = float(degree.sum()), float(degree.sum()) / max(int(np.count_nonzero(degree)), 1)
    return [_part_size(degree[first:last], total, mean) for first, last in pairwise(bounds)]


def _part_size(degree: Array, total: float, mean: float) -> PartSize:
    counts = np.bincount(degree)
    lengths = np.flatnonzero(counts)
    lengths = lengths[lengths > 0]
    rows, arcs = counts[lengths], float(degree.sum())
    share = arcs / max(total, 1.0)  # the chance that an arc ends in the part
    joined = float(rows.sum())
    return PartSize(
        arcs=arcs,
        vertices=float(len(degree)),
        joined=joined,
        across=joined - float((rows * share**lengths).sum()),
        within=joined - float((rows * (1 - share) ** lengths).sum()),
        hubs=bool(len(degree)) and float(degree.min()) > mean,
    )
