"""The compiled kernel of the R-MAT generator; see :mod:`.rmat`."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from dromos.graph.generators.rng_kernels import permute, random_word
from dromos.jit import kernel

_EDGES_A_BLOCK = 1024  # whose ids stay in the first cache between drawing and permuting
_HALF_WORD = np.uint64(0xFFFFFFFF)


@kernel
def _block(draw, table, cell_shift):
    """The quadrants of several levels for a 32-bit draw: the bits of the row, above as many of the column."""
    cell = draw >> cell_shift
    entry = table[cell]
    within = draw & ((np.uint64(1) << cell_shift) - np.uint64(1))
    return cell if within < (entry & _HALF_WORD) else entry >> np.uint64(32)


@kernel
def _draw_edges(low, high, table, depth, words, scale, first, src, dst):
    levels = np.uint64(depth)
    cell_shift = np.uint64(32 - 2 * depth)
    column_mask = (np.uint64(1) << levels) - np.uint64(1)
    surplus = np.uint64(2 * words * depth - scale)
    for i in range(src.size):
        row = np.uint64(0)
        column = np.uint64(0)
        for w in range(words):
            word = random_word((first + i) * words + w, low, high)
            block = _block(word >> np.uint64(32), table, cell_shift)
            row = (row << levels) | (block >> levels)
            column = (column << levels) | (block & column_mask)
            block = _block(word & _HALF_WORD, table, cell_shift)
            row = (row << levels) | (block >> levels)
            column = (column << levels) | (block & column_mask)
        src[i] = row >> surplus
        dst[i] = column >> surplus


@kernel
def rmat_edges(thread, num_threads, low, high, table, depth, words, scale, first, constants, src, dst):
    """Fill ``src`` and ``dst`` (unsigned) with the edges from number ``first`` on; permuted, if there are constants."""
    mask = (np.uint64(1) << np.uint64(scale)) - np.uint64(1)
    half = np.uint64((scale + 1) // 2)
    last = src.size * (thread + 1) // num_threads
    for begin in range(src.size * thread // num_threads, last, _EDGES_A_BLOCK):
        end = min(begin + _EDGES_A_BLOCK, last)
        _draw_edges(low, high, table, depth, words, scale, first + begin, src[begin:end], dst[begin:end])
        permute(src[begin:end], constants, constants.dtype.type(half), constants.dtype.type(mask))
        permute(dst[begin:end], constants, constants.dtype.type(half), constants.dtype.type(mask))
