"""CRC-32 of many pieces in one call, eight bytes at a time: one instruction on ARM, else Kounavis and Berry's
slicing by 8."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.intrinsics import load, load_unaligned, store
from dromos.io_intrinsics import crc_step, has_crc
from dromos.jit import inline, kernel

_POLYNOMIAL = 0xEDB88320
_ONES = np.uint32(0xFFFFFFFF)
_BYTE = np.uint64(0xFF)


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
    by_processor = has_crc()
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
def three_checksums(data, tables, a, b, c, end):
    """The CRC-32 of ``data[a:b]``, ``data[b:c]`` and ``data[c:end]``, interleaved to hide the latency of each."""
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
    return _rest(data, tables, _ONES, begin, end)


@kernel
def checksums(thread, threads, data, bounds, tables, sums):
    """The CRC-32 of each ``data[bounds[i]:bounds[i + 1]]``."""
    piece = np.int64(0)
    while piece + 3 <= sums.size:
        a, b, c = load(bounds, piece), load(bounds, piece + 1), load(bounds, piece + 2)
        x, y, z = three_checksums(data, tables, a, b, c, load(bounds, piece + 3))
        store(sums, piece, x)
        store(sums, piece + 1, y)
        store(sums, piece + 2, z)
        piece += 3
    while piece < sums.size:
        store(sums, piece, checksum(data, tables, load(bounds, piece), load(bounds, piece + 1)))
        piece += 1
