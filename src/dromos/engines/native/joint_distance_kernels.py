"""Rows of distances out of a joint traversal: one row per source, one entry per vertex.

A level finds a row of bits at each vertex. Writing the level for each set bit would cost a step per bit, each to
another row of the matrix. Instead a vertex keeps the *binary digits* of its distance from each source, in four more
words: a level sets some of them for all new bits at once. When the search is over, or deeper than four digits can
express, the digits are converted to numbers, eight in a word, in blocks of vertices that stay in cache. This writes
every entry of the matrix once, including those without a path. Deeper levels are written bit by bit.

The digits are those of the distance plus one: 0 stands for no path, and the sources themselves have 1.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.compiler.arguments import column, element_address
from dromos.compiler.intrinsic import intrinsic
from dromos.compiler.values import Value
from dromos.compiler.writer import Writer
from dromos.intrinsics import atomic_add, load, prefetch, store, trailing_zeros
from dromos.jit import inline, kernel

DIGITS = 4  # words for the distances of 64 sources from a vertex
DEEPEST = (1 << DIGITS) - 2
_BLOCK = 512  # vertices
_BYTES = _BLOCK // 8  # words that hold a byte of each of them
_PARTED = 16  # words whose bytes are separated at once
_AHEAD = 64  # vertices whose digits are prefetched: in the order of the given ids they are at random places
WORDS = DIGITS * _BLOCK  # scratch words of a thread
LANES = 8 * (DIGITS + 1) * _BLOCK  # scratch bytes of a thread: those of each digit, and of the distances
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_FOUR = np.uint64(4)
# the same in each byte of a word
_ONES = np.uint64(0x0101010101010101)
_SIGNS = np.uint64(0x8080808080808080)
_EVEN_BITS, _ODD_BITS = np.uint64(0x5555555555555555), np.uint64(0xAAAAAAAAAAAAAAAA)
_EVEN_PAIRS, _ODD_PAIRS = np.uint64(0x3333333333333333), np.uint64(0xCCCCCCCCCCCCCCCC)
_LOW_HALVES = np.uint64(0x0F0F0F0F0F0F0F0F)


@inline
def note_level(vertices, begin, end, rows, width, level, digits):
    """Set the digits of ``level + 1`` for every bit in the rows of ``vertices[begin:end]``."""
    number = level + 1
    ones, twos = np.uint64(-(number & 1)), np.uint64(-((number >> 1) & 1))
    fours, eights = np.uint64(-((number >> 2) & 1)), np.uint64(-((number >> 3) & 1))
    for at in range(begin, end):
        row = np.int64(load(vertices, at)) * width
        for word in range(row, row + width):  # all four at once, whether set or not: they are adjacent
            bits, place = load(rows, word), DIGITS * word
            store(digits, place, load(digits, place) | (bits & ones))
            store(digits, place + 1, load(digits, place + 1) | (bits & twos))
            store(digits, place + 2, load(digits, place + 2) | (bits & fours))
            store(digits, place + 3, load(digits, place + 3) | (bits & eights))


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
def _take(word, width, first, size, digits, new_ids, words, base):
    """Copy this word of a block's digits to contiguous memory."""
    last = new_ids.size - 1
    for k in range(size):
        if last >= 0:
            prefetch(digits, DIGITS * (np.int64(load(new_ids, min(first + k + _AHEAD, last))) * width + word))
        v = np.int64(load(new_ids, first + k)) if new_ids.size else first + k
        place = DIGITS * (v * width + word)
        for digit in range(DIGITS):
            store(words, base + digit * _BLOCK + k, load(digits, place + digit))


@intrinsic
def _part_bytes(writer: Writer, words: Value, at: Value, lanes: Value, place: Value) -> None:
    """Store the first bytes of ``words[at:at + 16]`` contiguously in ``lanes[place:]``, the second ones ``_BLOCK``
    further on, and so on, by taking every other byte of two vectors three times.
    """
    writer.writes_to(lanes)
    vector = f"<{_PARTED} x i8>"
    masks = [
        f"<{_PARTED} x i32> <{', '.join(f'i32 {byte}' for byte in range(first, 2 * _PARTED, 2))}>" for first in (0, 1)
    ]

    def every_other(rows: list[str], mask: str) -> list[str]:
        pairs = zip(rows[::2], rows[1::2], strict=True)
        return [writer.register(f"shufflevector {vector} {a}, {vector} {b}, {mask}") for a, b in pairs]

    begin = element_address(writer, column(words, "u64"), at)
    end = element_address(writer, column(lanes, "i8"), place)
    places = [writer.register(f"getelementptr {vector}, ptr {begin}, i64 {i}") for i in range(8)]
    # grouped by the low bits of their place in a word, in the order of these bits reversed
    parts = [[writer.register(f"load {vector}, ptr {address}, align 8") for address in places]]
    while len(parts) < 8:
        parts = [every_other(part, mask) for part in parts for mask in masks]
    for number, (row,) in enumerate(parts):
        byte = int(f"{number:03b}"[::-1], 2)
        address = writer.register(f"getelementptr i8, ptr {end}, i64 {byte * _BLOCK}")
        writer.lines.append(f"store {vector} {row}, ptr {address}, align 8")


@inline
def _less_one(numbers):
    """Subtract one in each byte of a word, all of which are below 128; 0 becomes -1."""
    return ((numbers | _SIGNS) - _ONES) ^ _SIGNS


@inline
def _spread(packed, base, into):
    """Convert the bits of eight sources, a byte for each vertex and digit, to distances, a byte for each vertex.

    First the bits of two digits are combined, then pairs of them, then the two halves of a byte are separated.
    """
    for k in range(_BYTES):
        ones, twos = load(packed, base + k), load(packed, base + 8 * _BYTES + k)
        fours, eights = load(packed, base + 16 * _BYTES + k), load(packed, base + 24 * _BYTES + k)
        low_even = (ones & _EVEN_BITS) | ((twos & _EVEN_BITS) << _ONE)
        low_odd = ((ones >> _ONE) & _EVEN_BITS) | (twos & _ODD_BITS)
        high_even = (fours & _EVEN_BITS) | ((eights & _EVEN_BITS) << _ONE)
        high_odd = ((fours >> _ONE) & _EVEN_BITS) | (eights & _ODD_BITS)
        of_0_4 = (low_even & _EVEN_PAIRS) | ((high_even & _EVEN_PAIRS) << _TWO)
        of_2_6 = ((low_even >> _TWO) & _EVEN_PAIRS) | (high_even & _ODD_PAIRS)
        of_1_5 = (low_odd & _EVEN_PAIRS) | ((high_odd & _EVEN_PAIRS) << _TWO)
        of_3_7 = ((low_odd >> _TWO) & _EVEN_PAIRS) | (high_odd & _ODD_PAIRS)
        store(packed, into + k, _less_one(of_0_4 & _LOW_HALVES))
        store(packed, into + _BYTES + k, _less_one(of_1_5 & _LOW_HALVES))
        store(packed, into + 2 * _BYTES + k, _less_one(of_2_6 & _LOW_HALVES))
        store(packed, into + 3 * _BYTES + k, _less_one(of_3_7 & _LOW_HALVES))
        store(packed, into + 4 * _BYTES + k, _less_one((of_0_4 >> _FOUR) & _LOW_HALVES))
        store(packed, into + 5 * _BYTES + k, _less_one((of_1_5 >> _FOUR) & _LOW_HALVES))
        store(packed, into + 6 * _BYTES + k, _less_one((of_2_6 >> _FOUR) & _LOW_HALVES))
        store(packed, into + 7 * _BYTES + k, _less_one((of_3_7 >> _FOUR) & _LOW_HALVES))


@kernel
def write_all(cursor, thread, count, like, digits, new_ids, distance, n, words, lanes, packed, cursors):
    """Write the distances from ``count`` sources to all vertices; -1 if a vertex was not reached.

    ``lanes`` and ``packed`` are the same memory, as signed bytes and as words.
    """
    width = len(like)
    base, bytes_base, packed_base = thread * WORDS, thread * LANES, thread * (LANES >> 3)
    while True:
        first = atomic_add(cursors, cursor, _BLOCK)
        if first >= n:
            break
        size = min(n - first, np.int64(_BLOCK))
        for word in range((count + 63) >> 6):
            _take(word, width, first, size, digits, new_ids, words, base)
            for digit in range(DIGITS):
                for k in range(0, _BLOCK, _PARTED):
                    _part_bytes(words, base + digit * _BLOCK + k, lanes, bytes_base + 8 * digit * _BLOCK + k)
            for byte in range(min((count - 64 * word + 7) >> 3, 8)):
                _spread(packed, packed_base + byte * _BYTES, packed_base + 8 * DIGITS * _BYTES)
                source = 64 * word + 8 * byte
                for lane in range(min(count - source, 8)):
                    place, row = (source + lane) * n + first, bytes_base + (8 * DIGITS + lane) * _BLOCK
                    for k in range(size):
                        store(distance, place + k, load(lanes, row + k))
