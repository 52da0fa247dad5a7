"""Counts of the vertices that a level of a joint traversal found, source by source.

A level's rows have a bit for each source, and the wanted counts are the numbers of set bits in each *column*. Popping
bits costs an addition for each. For many rows, carry-save adders add eight of them at once instead, 64 columns at a
time: three words hold the columns' sums modulo 8, and the carries out of them are spread to bytes, which are added as
such. That is some eight operations for a word, whatever number of its bits is set.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.joint_distance_kernels import DEEPEST, note_level, write_level
from dromos.intrinsics import load, store, trailing_zeros
from dromos.jit import inline, kernel

_FEW = 48  # rows that are counted bit by bit
MOST = 1024  # rows at once: an eighth of them may carry, and a byte counts to 255
_ONE = np.uint64(1)
_BYTES = np.uint64(0x0101010101010101)
_LOW = np.uint64(0xFF)


@inline
def _add(table, index, amount):
    store(table, index, load(table, index) + amount)


@inline
def _carry(a, b, c):
    return (a & b) | ((a ^ b) & c)


@inline
def _word(rows, width, vertices, at, word):
    return load(rows, np.int64(load(vertices, at)) * width + word)


@inline
def _count_column(vertices, begin, end, rows, width, word, counts, base):
    """Add to ``counts[base + b]`` how often bit ``b`` of this word is set in the rows of ``vertices[begin:end]``."""
    zero = np.uint64(0)
    ones, twos, fours = zero, zero, zero
    s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
    at = begin
    while at + 8 <= end:
        a, b = _word(rows, width, vertices, at, word), _word(rows, width, vertices, at + 1, word)
        two_a = _carry(ones, a, b)
        ones ^= a ^ b
        a, b = _word(rows, width, vertices, at + 2, word), _word(rows, width, vertices, at + 3, word)
        two_b = _carry(ones, a, b)
        ones ^= a ^ b
        four_a = _carry(twos, two_a, two_b)
        twos ^= two_a ^ two_b
        a, b = _word(rows, width, vertices, at + 4, word), _word(rows, width, vertices, at + 5, word)
        two_a = _carry(ones, a, b)
        ones ^= a ^ b
        a, b = _word(rows, width, vertices, at + 6, word), _word(rows, width, vertices, at + 7, word)
        two_b = _carry(ones, a, b)
        ones ^= a ^ b
        four_b = _carry(twos, two_a, two_b)
        twos ^= two_a ^ two_b
        eights = _carry(fours, four_a, four_b)
        fours ^= four_a ^ four_b
        s0 += eights & _BYTES
        s1 += (eights >> np.uint64(1)) & _BYTES
        s2 += (eights >> np.uint64(2)) & _BYTES
        s3 += (eights >> np.uint64(3)) & _BYTES
        s4 += (eights >> np.uint64(4)) & _BYTES
        s5 += (eights >> np.uint64(5)) & _BYTES
        s6 += (eights >> np.uint64(6)) & _BYTES
        s7 += (eights >> np.uint64(7)) & _BYTES
        at += 8
    low = np.uint64(0)
    for lane in (s0, s1, s2, s3, s4, s5, s6, s7):
        for byte in range(8):
            shift = np.uint64(8 * byte)
            bit = shift + low
            count = ((lane >> shift) & _LOW) * np.uint64(8)
            count += ((ones >> bit) & _ONE) + ((twos >> bit) & _ONE) * np.uint64(2)
            count += ((fours >> bit) & _ONE) * np.uint64(4)
            _add(counts, base + np.int64(bit), np.int64(count))
        low += _ONE
    while at < end:
        bits = _word(rows, width, vertices, at, word)
        while bits:
            _add(counts, base + np.int64(trailing_zeros(bits)), 1)
            bits &= bits - _ONE
        at += 1


@inline
def count_rows(vertices, begin, end, rows, width, counts, base):
    """Add to ``counts[base + s]`` how many of ``vertices[begin:end]``, at most ``MOST``, have the bit of source ``s``.

    Returns nothing; ``rows`` is the table of the level's bits, ``width`` words per vertex.
    """
    if end - begin < _FEW:
        for at in range(begin, end):
            for word in range(width):
                bits = _word(rows, width, vertices, at, word)
                while bits:
                    _add(counts, base + 64 * word + np.int64(trailing_zeros(bits)), 1)
                    bits &= bits - _ONE
    else:
        for word in range(width):
            _count_column(vertices, begin, end, rows, width, word, counts, base + 64 * word)


@kernel
def consume(vertices, begin, end, rows, width, level, counts, base, into, n):
    """Use what a level found at some vertices: update the counts and, if wanted, the distances."""
    distance, digits, _, old_ids = into
    count_rows(vertices, begin, end, rows, width, counts, base)
    if distance.size:
        if level <= DEEPEST:
            note_level(vertices, begin, end, rows, width, level, digits)
        else:
            write_level(vertices, begin, end, rows, width, level, distance, n, old_ids)
