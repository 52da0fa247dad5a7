"""Rows of distances out of a joint traversal: one row per source, one entry per vertex.

What a level finds is a row of bits at each vertex. To write the level for each set bit costs a step a bit, and each
goes to another row of the matrix. Instead a vertex keeps for each source the *binary digits* of its distance, as four
words more: a level sets some of them for all new bits at once. When the search is over, or gets deeper than four digits
can tell, the digits are turned into numbers, sixteen at a time, in blocks of vertices that stay in cache; every entry
of the matrix is written then, once, those without a path too. Deeper levels are written bit by bit.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dromos.intrinsics import atomic_add, load, store, trailing_zeros
from dromos.jit import inline, lean_kernel

DIGITS = 4  # words for the distances of 64 sources from a vertex
DEEPEST = (1 << DIGITS) - 1
_BLOCK = 512  # vertices
LANES = (DIGITS + 2) * _BLOCK  # scratch bytes of a thread, and words
_ONE = np.uint64(1)


@inline
def note_level(vertices, begin, end, rows, width, level, digits):
    """Set the digits of ``level`` for every bit in the rows of ``vertices[begin:end]``."""
    for at in range(begin, end):
        row = np.int64(load(vertices, at)) * width
        for word in range(row, row + width):
            bits = load(rows, word)
            for digit in range(DIGITS):
                if (level >> digit) & 1:
                    store(digits, DIGITS * word + digit, load(digits, DIGITS * word + digit) | bits)


@inline
def write_level(vertices, begin, end, rows, width, level, distance, n, old_ids):
    """``distance[s * n + v] = level`` for every bit ``s`` in the row of every ``v`` of ``vertices[begin:end]``."""
    for at in range(begin, end):
        v = np.int64(load(vertices, at))
        column = np.int64(load(old_ids, v)) if old_ids.size else v
        for word in range(width):
            bits = load(rows, v * width + word)
            while bits:
                source = 64 * word + np.int64(trailing_zeros(bits))
                store(distance, source * n + column, level)
                bits &= bits - _ONE


@inline
def _take(word, width, first, size, seen, digits, new_ids, words, base):
    """Copy this word of a block's digits, and of the bits that were seen, side by side."""
    for k in range(size):
        v = np.int64(load(new_ids, first + k)) if new_ids.size else first + k
        place = v * width + word
        for digit in range(DIGITS):
            store(words, base + digit * _BLOCK + k, load(digits, DIGITS * place + digit))
        store(words, base + DIGITS * _BLOCK + k, load(seen, place))


@intrinsic
def _number(typingctx, lane, seen, ones, twos, fours, eights):
    """One more than the number with these digits in ``lane``, a byte with one bit; 0 where ``seen`` has not that bit.

    All in bytes: Numba would compute in words of 64 bits, an eighth as many to a vector.
    """

    def generate(context, builder, sig, args):
        byte = ir.IntType(8)

        def value(bits, worth):
            there = builder.icmp_unsigned("!=", builder.and_(bits, args[0]), byte(0))
            return builder.select(there, byte(worth), byte(0))

        low = builder.or_(value(args[2], 1), value(args[3], 2))
        high = builder.or_(value(args[4], 4), value(args[5], 8))
        return builder.add(value(args[1], 1), builder.or_(low, high))

    return types.uint8(*[types.uint8] * 6), generate


@inline
def _spread(lane, size, lanes, base, distance, place):
    """Turn one bit of each of the block's bytes into the distances from one source."""
    bit = np.uint8(1 << lane)
    ones, twos, fours, eights = base, base + _BLOCK, base + 2 * _BLOCK, base + 3 * _BLOCK
    seen, result = base + 4 * _BLOCK, base + 5 * _BLOCK
    for k in range(_BLOCK):
        number = _number(
            bit, load(lanes, seen + k), load(lanes, ones + k), load(lanes, twos + k), load(lanes, fours + k),
            load(lanes, eights + k),
        )  # fmt: skip
        store(lanes, result + k, number)
    for k in range(size):
        store(distance, place + k, np.int32(load(lanes, result + k)) - np.int32(1))


@lean_kernel
def write_all(cursor, thread, count, like, seen, digits, new_ids, distance, n, words, lanes, cursors):
    """Write the distances from ``count`` sources to all vertices; -1 to those that were not seen."""
    width = len(like)
    base = thread * LANES
    while True:
        first = atomic_add(cursors, cursor, _BLOCK)
        if first >= n:
            break
        size = min(n - first, np.int64(_BLOCK))
        for word in range((count + 63) >> 6):
            _take(word, width, first, size, seen, digits, new_ids, words, base)
            for byte in range(min((count - 64 * word + 7) >> 3, 8)):
                for k in range((DIGITS + 1) * _BLOCK):
                    store(lanes, base + k, np.uint8(load(words, base + k) >> np.uint64(8 * byte)))
                source = 64 * word + 8 * byte
                for lane in range(min(count - source, 8)):
                    _spread(lane, size, lanes, base, distance, (source + lane) * n + first)
