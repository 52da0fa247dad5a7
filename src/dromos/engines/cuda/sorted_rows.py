"""Rows under new vertex ids, each sorted by a warp or a block in its registers.

A general sort knows nothing of rows: it moves 64-bit keys of row and target through memory eight times. Here a row is
read once and written once. Only rows that are too long for a block are sorted in the general way, all at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.compiler import load

__all__ = ["SORTING", "RowSorter"]

SORTING: Final = '#include "sorting.cuh"'
_THREADS: Final = 256
_SHORT, _WARP_KEYS = 256, 1024  # targets that the first kernel sorts, and that a warp does; as in the kernels
_SMALL, _LARGE = 256, 1024  # threads of blocks for the rows that are too long for a warp
_LONGEST: Final = _LARGE // 32 * _WARP_KEYS
_MOST_LEFT: Final = 8  # of so many arcs, one may be in a row that is too long for a block
_BLOCKS_OF_A_PROCESSOR: Final = 8


class RowSorter:
    """Brings the rows of pieces to their new places, sorted."""

    def __init__(self, defines: tuple[str, ...], offsets: Any, new_offsets: Any, rank: Any) -> None:
        import cupy

        self._module = load(SORTING, "sorting", defines=defines)
        self._offsets, self._new_offsets, self._rank = offsets, new_offsets, rank
        lengths = cupy.diff(new_offsets)
        self._longest = cupy.flatnonzero(lengths > _LONGEST).astype(rank.dtype)
        self._begins = cupy.zeros(len(self._longest) + 1, offsets.dtype)
        if len(self._longest):
            cupy.cumsum(lengths.take(self._longest), out=self._begins[1:], dtype=offsets.dtype)
        self._left = int(self._begins[-1]) if len(self._longest) else 0

    def is_fit(self, arcs: int) -> bool:
        """Whether few of the arcs are in rows that are too long for a block: those take memory and time beside."""
        return _MOST_LEFT * self._left <= arcs

    def place(self, pieces: Iterable[tuple[tuple[int, int, int, int], Any]], most: int, placed: Any) -> None:
        """Sort all rows: pieces as :func:`pieces_of_rows` cuts them, with their targets, of ``most`` arcs at most."""
        import cupy

        runtime, vertex = cupy.cuda.runtime, self._rank.dtype.type
        processors = int(runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, cupy.cuda.Device().id))
        longer, count = cupy.empty(most // _SHORT + 1, self._rank.dtype), cupy.empty(1, cupy.uint32)
        for (first, last, base, _), targets in pieces:
            count.data.memset_async(0, count.nbytes)
            rows = (self._offsets, self._new_offsets, targets, self._rank, np.int64(base), placed, longer, count)
            blocks = _blocks(32 * (last - first))
            self._module.launch("sort_short_rows", blocks, _THREADS, *rows, vertex(first), vertex(last))
            self._module.launch("sort_middle_rows", processors * _BLOCKS_OF_A_PROCESSOR, _THREADS, *rows)
            for threads, least, rename in ((_SMALL, _WARP_KEYS, 0), (_LARGE, _SMALL // 32 * _WARP_KEYS, 1)):
                blocks = processors * _BLOCKS_OF_A_PROCESSOR * _THREADS // threads
                self._module.launch("sort_long_rows", blocks, threads, *rows, np.int64(least), np.int32(rename))
        if self._left:
            self._sort_longest(placed)

    def _sort_longest(self, placed: Any) -> None:
        import cupy

        keys, arcs, blocks = cupy.empty(self._left, cupy.uint64), np.int64(self._left), _blocks(self._left)
        count = self._rank.dtype.type(len(self._longest))
        rows = (self._longest, self._begins)
        self._module.launch("longest_keys", blocks, _THREADS, *rows, count, self._new_offsets, placed, arcs, keys)
        keys.sort()
        self._module.launch("place_longest", blocks, _THREADS, *rows, self._new_offsets, keys, arcs, placed)


def _blocks(items: int) -> int:
    return max(1, min(65535, -(-items // _THREADS)))
