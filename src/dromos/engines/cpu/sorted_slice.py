"""In-rows of a slice that stay in memory, sorted into blocks and tiles (:mod:`dromos.engines.cpu.arc_blocks`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.cpu.arc_blocks import LEAST_ARCS, MOST_ROWS, ArcBlocks, sort_arcs, tiles_of_sources
from dromos.engines.cpu.topology import Hubs
from dromos.graph.slices import GraphSlice

__all__ = ["SortedSlice", "sort_rows"]

_ARC_BYTES = 4  # at most, in words
_PER_THREAD = 4  # blocks, at least


@dataclass(frozen=True, eq=False)
class SortedSlice(GraphSlice):
    """Whole rows; their arcs are in ``blocks`` alone, and ``targets`` is empty."""

    blocks: ArcBlocks | None = None

    @property
    def num_arcs(self) -> int:
        """How many arcs the rows have."""
        return int(self.offsets[-1]) - int(self.offsets[0])


def sort_rows(
    offsets: Array, sources: Array, num_sources: int, threads: int, *, spare: int, after: Callable[[int], None]
) -> SortedSlice | None:
    """The rows from vertex 0 on that ``offsets`` tells, sorted; None where tiles would have too few arcs.

    ``after(row)`` is called when the arcs of all rows before it can be given back. Until then they are there twice,
    which takes ``spare`` bytes at most, or as much as one block.

    >>> offsets, sources = np.array([0, 2, 3], np.uint32), np.array([0, 1, 1], np.uint32)
    >>> sort_rows(offsets, sources, 2, 1, spare=1 << 20, after=print) is None
    True
    """
    arcs, tiles = int(offsets[-1]), tiles_of_sources(num_sources)
    size = min(arcs // (threads * _PER_THREAD), max(spare // (_ARC_BYTES * threads), LEAST_ARCS * tiles)) + 1
    firsts = _bounds(offsets, size)
    if arcs < LEAST_ARCS * tiles * (len(firsts) - 1):
        return None
    together = min(max(spare // (_ARC_BYTES * size), 1), threads)
    ids = sources.view(np.dtype(f"u{sources.itemsize}"))
    no_hubs = Hubs(offsets[:1])
    blocks = sort_arcs(
        offsets, ids, num_sources, firsts, no_hubs, threads, longest=arcs, together=together, after=after
    )
    return SortedSlice(0, len(offsets) - 1, offsets, sources[:0], None, blocks=blocks)


def _bounds(offsets: Array, most: int) -> Array:
    """The first row of each block of at most so many arcs, or of one row; and the end of the last."""
    n, kind, found = len(offsets) - 1, offsets.dtype.type, [0]
    while found[-1] < n:
        first = found[-1]
        limit = min(int(offsets[first]) + most, int(offsets[-1]))
        end = int(np.searchsorted(offsets, kind(limit), side="right")) - 1
        found.append(min(max(end, first + 1), first + MOST_ROWS, n))
    return read_only(np.array(found, np.int64))
