"""The graph of communities of a graph on disk, from one pass over the arcs: a table of community pairs in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.native.community_levels import Level
from dromos.places.stream.row_blocks import RowBlock, RowBlocks

__all__ = ["Pairs", "estimated_pairs", "level_bytes"]

_FIRST_BITS: Final = 12
_FULL: Final = 7, 8
"""The maximum load factor of the table."""


def level_bytes(arcs: int, groups: int, arc_bytes: int) -> int:
    """The bytes of the rows of a graph with this many arcs, with offsets and strengths.

    >>> level_bytes(10, 2, 8)
    128
    """
    return arcs * arc_bytes + 24 * groups


class Pairs:
    """Sums arcs by pairs of groups; ``group`` maps vertices to ``0..groups - 1``.

    ``hold(size)`` is called for room before the table grows, and may refuse. No window of pages is in use at that time.
    """

    def __init__(self, group: Array, groups: int, dtype: np.dtype[Any], hold: Callable[[int], None]) -> None:
        self._group, self._groups, self._dtype, self._hold = read_only(group), groups, dtype, hold
        self.count, self._bits = 0, _FIRST_BITS
        self._keys, self._sums = self._table(_FIRST_BITS)

    @staticmethod
    def table_bytes(pairs: int, groups: int, arc_bytes: int, weight_bytes: int) -> int:
        """The most bytes held until there are rows of this many pairs."""
        slots, slot = 1 << _bits_for(pairs), 8 + weight_bytes
        return slots * slot + max(slots // 2 * slot, level_bytes(2 * pairs, groups, arc_bytes))

    def add_all(self, blocks: RowBlocks, check: Callable[[], None]) -> None:
        """Add all arcs; ``check`` is called for each block."""
        number = begin = 0
        while number < blocks.count:
            for block in blocks.read(number):
                check()
                number, begin = block.number, self._add(block, begin if block.number == number else 0)
                if begin < block.num_arcs:
                    break  # the table is full, and grows while no pages are in use
                begin = 0
            else:
                return
            self._grow()

    def _add(self, block: RowBlock, begin: int) -> int:
        """Add the arcs of a block from one on; return the first that is left."""
        kernels, told = _kernels(), np.zeros(2, np.int64)
        most = _FULL[0] * self._keys.size // _FULL[1] - self.count
        shift = np.int64(64 - self._bits)
        kernels.add_pairs(
            *block.rows, self._group, np.int64(self._groups), self._keys, self._sums, shift, np.int64(begin),
            np.int64(most), told,
        )  # fmt: skip
        self.count += int(told[kernels.NEW_PAIRS])
        return int(told[kernels.ADDED_TO])

    def level(self, strength: Array) -> Level:
        """The graph of groups, whose strengths are given; the table is freed."""
        kernels, ids = _kernels(), self._group.dtype
        size = level_bytes(2 * self.count, self._groups, ids.itemsize + self._dtype.itemsize)
        self._hold(self._keys.nbytes + self._sums.nbytes + size)
        offsets, groups = np.zeros(self._groups + 1, np.int64), np.int64(self._groups)
        kernels.count_arcs(self._keys, groups, offsets)
        np.cumsum(offsets, out=offsets)
        targets, weights = np.empty(2 * self.count, ids), np.empty(2 * self.count, self._dtype)
        kernels.write_rows(self._keys, self._sums, groups, offsets[:-1].copy(), targets, weights)
        self._keys, self._sums = np.empty(0, np.int64), np.empty(0, self._dtype)
        return Level.of(offsets, targets, weights, strength)

    def _grow(self) -> None:
        bits = self._bits + 1
        self._hold(self._keys.nbytes + self._sums.nbytes + (1 << bits) * (8 + self._dtype.itemsize))
        keys, sums = self._table(bits)
        _kernels().move_pairs(self._keys, self._sums, keys, sums, np.int64(64 - bits))
        self._keys, self._sums, self._bits = keys, sums, bits

    def _table(self, bits: int) -> tuple[Array, Array]:
        return np.full(1 << bits, -1, np.int64), np.zeros(1 << bits, self._dtype)


def estimated_pairs(group: Array, groups: int, blocks: Iterable[RowBlock], num_arcs: int) -> int:
    """The approximate number of pairs of groups that arcs join, by a bitmap with as many bits as there are edges.

    The estimate follows from the number of marked bits: Whang, Vander-Zanden and Taylor, "A linear-time probabilistic
    counting algorithm for database applications", 1990.
    """
    bits = max(_FIRST_BITS, (num_arcs // 2).bit_length())
    marks, marked, size = np.zeros(1 << (bits - 3), np.uint8), 0, 1 << bits
    group = read_only(group)
    for block in blocks:
        marked += int(_kernels().mark_pairs(*block.rows, group, np.int64(groups), marks, np.int64(64 - bits)))
    return round(-size * math.log1p(-min(marked, size - 1) / size))


def _bits_for(pairs: int) -> int:
    """The size of the table, as a power of two, whose maximum load holds this many pairs.

    >>> _bits_for(3584), _bits_for(3585)
    (12, 13)
    """
    bits = _FIRST_BITS
    while _FULL[0] << bits < _FULL[1] * pairs:
        bits += 1
    return bits


def _kernels() -> Any:
    from dromos.engines.native import communities_block_kernels

    return communities_block_kernels
