"""Rows of distances out of a joint traversal: a row a source, an entry a vertex.

What a level finds is a row of bits at each vertex. To write the level for each set bit costs a step a bit, and each
goes to another row of the matrix. Instead a vertex keeps for each source the *binary digits* of its distance, as four
words more: a level sets some of them for all new bits at once. When the search is over, or gets deeper than four digits
can tell, the digits are turned into numbers, sixteen at a time, in blocks of vertices that stay in cache; every entry
of the matrix is written then, once, those without a path too. Deeper levels are written bit by bit.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, store, trailing_zeros
from dromos.jit import inline

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


@inline
def _spread(lane, size, lanes, base, distance, place):
    """Turn bit ``lane`` of the block's bytes of digits into the numbers of one source."""
    shift = np.uint8(lane)
    one = np.uint8(1)
    result = base + (DIGITS + 1) * _BLOCK
    for k in range(size):
        number = (load(lanes, base + DIGITS * _BLOCK + k) >> shift) & one
        for digit in range(DIGITS):
            number += ((load(lanes, base + digit * _BLOCK + k) >> shift) & one) << np.uint8(digit)
        store(lanes, result + k, np.uint8(number))
    for k in range(size):
        store(distance, place + k, np.int64(load(lanes, result + k)) - 1)


@inline
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
