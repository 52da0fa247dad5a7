"""CRC-32 of many pieces in one call.

On ARM, one instruction takes eight bytes. On x86, products without carry fold 64 bytes at a time into the same number
of bytes with the same remainder (Gopal et al., 2009), until few are left. These, and all bytes on other processors, go
through tables (Kounavis and Berry's slicing by 8).
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.intrinsics import load, load_unaligned, store
from dromos.io_intrinsics import crc_step, fold, has_crc_step, has_fold, high_word, load_two_words, low_word, two_words
from dromos.jit import atomic_add, inline, kernel

_POLYNOMIAL = 0xEDB88320
TURN = 48  # pieces that a thread takes at once
_ONES = np.uint32(0xFFFFFFFF)
_BYTE = np.uint64(0xFF)


def _factors(distance: int) -> tuple[np.uint64, np.uint64]:
    """What to multiply the two words of 16 bytes with to move them on by ``distance`` bits, modulo the polynomial.

    In the order of bits of this checksum, the bit of the highest power is the lowest one of a word. So a product of two
    words comes out one bit too low, which is made up for here.
    """
    powers = []
    for exponent in (distance + 32, distance - 32):
        rest = 1 << 31  # x^0
        for _ in range(exponent):
            rest = rest >> 1 ^ (_POLYNOMIAL if rest & 1 else 0)
        powers.append(np.uint64(rest << 1))
    return powers[0], powers[1]


_BY_64, _BY_16 = _factors(512), _factors(128)


def make_tables() -> Array:
    """Tables of what a byte adds to the checksum, by how many bytes follow it in its word."""
    tables: Array = np.zeros((8, 256), dtype=np.uint32)
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        tables[0, byte] = value
    for behind in range(1, 8):
        before = tables[behind - 1]
        tables[behind] = before >> 8 ^ tables[0][before & 0xFF]
    tables = tables.reshape(-1)
    tables.flags.writeable = False
    return tables


@inline
def _word(tables, crc, word):
    by_processor = has_crc_step()
    if by_processor:
        return crc_step(crc, word)
    word ^= np.uint64(crc)
    return (
        load(tables, np.int64(1792 + (word & _BYTE)))
        ^ load(tables, np.int64(1536 + (word >> np.uint64(8) & _BYTE)))
        ^ load(tables, np.int64(1280 + (word >> np.uint64(16) & _BYTE)))
        ^ load(tables, np.int64(1024 + (word >> np.uint64(24) & _BYTE)))
        ^ load(tables, np.int64(768 + (word >> np.uint64(32) & _BYTE)))
        ^ load(tables, np.int64(512 + (word >> np.uint64(40) & _BYTE)))
        ^ load(tables, np.int64(256 + (word >> np.uint64(48) & _BYTE)))
        ^ load(tables, np.int64(word >> np.uint64(56)))
    )


@inline
def _rest(data, tables, crc, at, end):
    while at + 8 <= end:
        crc = _word(tables, crc, load_unaligned(data, at))
        at += 8
    while at < end:
        crc = crc >> np.uint32(8) ^ load(tables, np.int64((crc ^ np.uint32(load(data, at))) & np.uint32(0xFF)))
        at += 1
    return crc ^ _ONES


@inline
def _by_folding(data, tables, begin, end):
    """The CRC-32 of ``data[begin:end]``; of few bytes, by tables."""
    if end - begin < 64:
        return _rest(data, tables, _ONES, begin, end)
    by_64, by_16 = two_words(_BY_64[0], _BY_64[1]), two_words(_BY_16[0], _BY_16[1])
    a = two_words(load_unaligned(data, begin) ^ np.uint64(_ONES), load_unaligned(data, begin + 8))
    b, c, d = load_two_words(data, begin + 16), load_two_words(data, begin + 32), load_two_words(data, begin + 48)
    at = begin + 64
    while at + 64 <= end:
        a = fold(a, by_64, load_two_words(data, at))
        b = fold(b, by_64, load_two_words(data, at + 16))
        c = fold(c, by_64, load_two_words(data, at + 32))
        d = fold(d, by_64, load_two_words(data, at + 48))
        at += 64
    d = fold(fold(fold(a, by_16, b), by_16, c), by_16, d)
    while at + 16 <= end:
        d = fold(d, by_16, load_two_words(data, at))
        at += 16
    crc = _word(tables, _word(tables, np.uint32(0), low_word(d)), high_word(d))
    return _rest(data, tables, crc, at, end)


@inline
def three_checksums(data, tables, a, b, c, end):
    """The CRC-32 of ``data[a:b]``, ``data[b:c]`` and ``data[c:end]``, interleaved to hide the latency of each."""
    can_fold = has_fold()
    if can_fold:
        return checksum(data, tables, a, b), checksum(data, tables, b, c), checksum(data, tables, c, end)
    common = min(b - a, c - b, end - c) // 8
    x = y = z = _ONES
    for i in range(common):
        x = _word(tables, x, load_unaligned(data, a + 8 * i))
        y = _word(tables, y, load_unaligned(data, b + 8 * i))
        z = _word(tables, z, load_unaligned(data, c + 8 * i))
    first = _rest(data, tables, x, a + 8 * common, b)
    second = _rest(data, tables, y, b + 8 * common, c)
    return first, second, _rest(data, tables, z, c + 8 * common, end)


@inline
def checksum(data, tables, begin, end):
    """The CRC-32 of ``data[begin:end]``."""
    can_fold = has_fold()
    if can_fold:
        return _by_folding(data, tables, begin, end)
    return _rest(data, tables, _ONES, begin, end)


@kernel
def checksums(thread, threads, data, bounds, tables, sums, cursor):
    """The CRC-32 of each ``data[bounds[i]:bounds[i + 1]]``."""
    while True:
        piece = atomic_add(cursor, 0, TURN)
        if piece >= sums.size:
            break
        last = min(piece + TURN, sums.size)
        while piece + 3 <= last:
            a, b, c = load(bounds, piece), load(bounds, piece + 1), load(bounds, piece + 2)
            x, y, z = three_checksums(data, tables, a, b, c, load(bounds, piece + 3))
            store(sums, piece, x)
            store(sums, piece + 1, y)
            store(sums, piece + 2, z)
            piece += 3
        while piece < last:
            store(sums, piece, checksum(data, tables, load(bounds, piece), load(bounds, piece + 1)))
            piece += 1
