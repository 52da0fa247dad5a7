"""Sets of vertices as 64-bit words, and rows by id."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.parts import Copies
from dromos.parallel import in_blocks

__all__ = ["is_clear", "rows_of", "words_of"]


def is_clear(words: Array, first: int, last: int) -> bool:
    """Whether no bit of ``first..last`` is set.

    >>> words = np.array([1 << 63, 1], np.uint64)
    >>> is_clear(words, 0, 63), is_clear(words, 60, 64), is_clear(words, 64, 66), is_clear(words, 65, 128)
    (True, False, False, True)
    """
    begin, end = first // 64, (last + 63) // 64
    if first == last:
        return True
    if end - begin == 1:
        return not (int(words[begin]) >> first % 64) & ((1 << (last - first)) - 1)
    low, high = int(words[begin]) >> first % 64, int(words[end - 1]) << (-last) % 64 & (2**64 - 1)
    return not (low or high or words[begin + 1 : end - 1].any())


def rows_of(values: Array, ids: Array) -> Array:
    """``values[ids]``, by all threads if there are many.

    >>> rows_of(np.array([5, 6, 7]), np.array([2, 0])).tolist()
    [7, 5]
    """
    found = np.empty((len(ids), *values.shape[1:]), values.dtype)
    in_blocks(lambda begin, end: np.take(values, ids[begin:end], axis=0, out=found[begin:end], mode="clip"), len(ids))
    return found


def words_of(copies: Copies) -> Array:
    """The marks of copies, made from their ids.

    >>> words_of(Copies(66, 130, np.array([66, 128]), {})).tolist()
    [4, 1]
    """
    begin, end = copies.first // 64 * 64, (copies.last + 63) // 64 * 64
    marked = np.zeros(end - begin, dtype=bool)
    at: Any = slice(copies.first - begin, copies.last - begin) if copies.ids is None else copies.ids - begin
    marked[at] = True
    return np.packbits(marked, bitorder="little").view(np.uint64)
