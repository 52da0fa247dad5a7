"""Rows under new vertex ids, each sorted by a warp or a block in its registers.

A general sort knows nothing of rows: it moves 64-bit keys of row and target through memory eight times, and with
weights also the position of each arc. Here a row is read once and written once. Only rows that are too long for a block
are sorted in the general way, all those of a piece at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.compiler import load

__all__ = ["SORTING", "WEIGHTED", "RowSorter"]

SORTING: Final = '#include "sorting.cuh"'
WEIGHTED: Final = "WEIGHTED=1"
_THREADS: Final = 256
_WARP_KEYS: Final = 1024  # keys that a warp sorts, as in the kernels; half as many with weights
_SMALL, _LARGE = 256, 1024  # threads of blocks for the rows that are too long for a warp
_BLOCKS_OF_A_PROCESSOR: Final = 8
_TARGET_BITS: Final = 32  # in the keys of the longest rows, which need no positions in rows


class RowSorter:
    """Copies the rows of pieces to their new places, sorted; ``weighted``: with their weights."""

    def __init__(self, defines: tuple[str, ...], offsets: Any, new_offsets: Any, rank: Any, *, weighted: bool) -> None:
        import cupy

        self._module = load(SORTING, "sorting", defines=(*defines, WEIGHTED) if weighted else defines)
        self._offsets, self._new_offsets, self._rank = offsets, new_offsets, rank
        self._warp_keys = _WARP_KEYS // 2 if weighted else _WARP_KEYS
        lengths = cupy.diff(offsets)
        given = cupy.flatnonzero(lengths > _LARGE // 32 * self._warp_keys)
        self._longest = rank.take(given)  # in the order in which they arrive
        self._begins = cupy.zeros(len(given) + 1, offsets.dtype)
        self._target_bit, self._row_bit = 0, _TARGET_BITS
        if len(given):
            longest = lengths.take(given)
            cupy.cumsum(longest, out=self._begins[1:], dtype=offsets.dtype)
            if weighted:
                self._target_bit = int(longest.max()).bit_length()
                self._row_bit = self._target_bit + len(rank).bit_length()
        self._given, self._begins_there = given.get(), self._begins.get()

    @property
    def is_fit(self) -> bool:
        """Whether the number of a row that is too long for a block, a target and a position in the row fit a key."""
        return self._row_bit + len(self._longest).bit_length() <= 64

    def place(
        self,
        pieces: Iterable[tuple[tuple[int, int, int, int], Any, Any]],
        most: int,
        placed: Any,
        placed_weights: Any = None,
    ) -> None:
        """Sort all rows: pieces as cut by :func:`pieces_of_rows`, of at most ``most`` arcs.

        Each comes with its targets and weights, or None.
        """
        import cupy

        runtime, vertex = cupy.cuda.runtime, self._rank.dtype.type
        processors = int(runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, cupy.cuda.Device().id))
        short = self._warp_keys // 4
        longer, count = cupy.empty(most // short + 1, self._rank.dtype), cupy.empty(1, cupy.uint32)
        for (first, last, base, _), targets, given in pieces:
            count.data.memset_async(0, count.nbytes)
            weights = None if given is None else given.astype(placed_weights.dtype, copy=False)
            piece = (
                self._offsets, self._new_offsets, targets, self._rank, np.int64(base), placed,
                *_weights(weights, placed_weights), longer, count,
            )  # fmt: skip
            blocks = _blocks(32 * (last - first))
            self._module.launch("sort_short_rows", blocks, _THREADS, *piece, vertex(first), vertex(last))
            self._module.launch("sort_middle_rows", processors * _BLOCKS_OF_A_PROCESSOR, _THREADS, *piece)
            for threads, least, rename in ((_SMALL, self._warp_keys, 0), (_LARGE, _SMALL // 32 * self._warp_keys, 1)):
                blocks = processors * _BLOCKS_OF_A_PROCESSOR * _THREADS // threads
                self._module.launch("sort_long_rows", blocks, threads, *piece, np.int64(least), np.int32(rename))
            begin, end = self._begins_there[np.searchsorted(self._given, (first, last))]
            if begin < end:
                self._sort_longest(int(begin), int(end), placed, placed_weights)

    def _sort_longest(self, begin: int, end: int, placed: Any, placed_weights: Any) -> None:
        """Sort those of the rows with these arcs that are too long for a block; they are at their places already."""
        import cupy

        arcs = end - begin
        keys, blocks = cupy.empty(arcs, cupy.uint64), _blocks(arcs)
        count, rows = self._rank.dtype.type(len(self._longest)), (self._longest, self._begins)
        which = np.int64(begin), np.int64(arcs), np.int32(self._row_bit), np.int32(self._target_bit)
        unsorted = None if placed_weights is None else cupy.empty(arcs, placed_weights.dtype)
        self._module.launch(
            "longest_keys", blocks, _THREADS, *rows, count, self._new_offsets, placed, *which, keys,
            *_weights(placed_weights, unsorted),
        )  # fmt: skip
        keys.sort()
        self._module.launch(
            "place_longest", blocks, _THREADS, *rows, self._new_offsets, keys, *which, placed,
            *_weights(unsorted, placed_weights),
        )  # fmt: skip


def _weights(given: Any, placed: Any) -> tuple[Any, Any, np.int32]:
    """Source and destination of weights, and the bytes of each, as kernel arguments."""
    if placed is None:
        return np.uint64(0), np.uint64(0), np.int32(0)
    return given, placed, np.int32(placed.dtype.itemsize)


def _blocks(items: int) -> int:
    return max(1, min(65535, -(-items // _THREADS)))
