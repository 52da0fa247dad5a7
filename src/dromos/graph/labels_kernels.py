"""Compiled kernels that number integer labels: which occur, and the rank of each."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.jit import kernel

_ONE = np.uint64(1)


@kernel
def mark_present(thread, num_threads, values, low, present):
    """Set ``present[v - low] = 1`` for every value; threads may write the same value to the same byte."""
    for i in range(values.size * thread // num_threads, values.size * (thread + 1) // num_threads):
        present[values[i] - low] = 1


@kernel
def pack_words(thread, num_threads, present, words, counts):
    """Pack ``present`` to one bit per byte, 64 to a word, and count the bits set in each word."""
    for w in range(words.size * thread // num_threads, words.size * (thread + 1) // num_threads):
        first = w * 64
        word = np.uint64(0)
        count = 0
        for bit in range(min(64, present.size - first)):
            if present[first + bit]:
                word |= _ONE << np.uint64(bit)
                count += 1
        words[w] = word
        counts[w] = count


@kernel
def rank_values(thread, num_threads, values, low, words, before, ids):
    """``ids[i]``: the number of present values smaller than ``values[i]``."""
    for i in range(values.size * thread // num_threads, values.size * (thread + 1) // num_threads):
        at = np.uint64(values[i] - low)
        w = np.int64(at >> np.uint64(6))
        below = words[w] & ((_ONE << (at & np.uint64(63))) - _ONE)
        ids[i] = before[w] + _count_bits(below)


@kernel
def _count_bits(word):
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
