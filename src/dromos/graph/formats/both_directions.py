"""Undirected graphs in files that list every edge in both directions.

Nothing in such a file says so (most of SNAP's undirected graphs are of this kind), and an edge for each line would be
two for each pair. So where edges are to go both ways, and the file does not say how it lists them, it is found out
while reading: sums over all arcs and over their reverses are equal if, and but for a chance of 2^-64 only if, every arc
has its reverse, as often and with the same weight. One direction of each pair is then enough.
"""

from __future__ import annotations

import logging
import os
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.parallel import in_blocks

__all__ = ["Reverses", "one_direction", "tell_merged"]

_log = logging.getLogger("dromos.read")
_K1, _K2, _K3 = (np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD))
_HALF = np.uint64(32)
_ALL_BITS = (1 << 64) - 1


class Reverses:
    """Edges as they come: does every one of them have its reverse?

    >>> seen = Reverses()
    >>> seen.take(np.array([0, 1]), np.array([1, 2]), None)
    >>> seen.all_there
    False
    >>> seen.take(np.array([2, 1]), np.array([1, 0]), None)
    >>> seen.all_there
    True
    """

    def __init__(self) -> None:
        self._forward = self._backward = 0
        self._pairs = False

    def take(self, src: Array, dst: Array, weight: Array | None) -> None:
        """Add edges to the sums."""
        sums: list[tuple[int, int, bool]] = []

        def part(begin: int, end: int) -> None:
            u, v = (ids[begin:end].astype(np.uint64) for ids in (src, dst))
            w: Any = np.uint64(0)
            if weight is not None:  # as floats, so that blocks of different types agree; 0.0 makes -0.0 zero
                w = (weight[begin:end].astype(np.float64) + 0.0).view(np.uint64)
            forward, backward = (int(_mixed(a, b, w).sum(dtype=np.uint64)) for a, b in ((u, v), (v, u)))
            sums.append((forward, backward, bool((u != v).any())))

        in_blocks(part, len(src))
        for forward, backward, pairs in sums:
            self._forward = (self._forward + forward) & _ALL_BITS
            self._backward = (self._backward + backward) & _ALL_BITS
            self._pairs |= pairs

    @property
    def all_there(self) -> bool:
        """Whether there are edges between two vertices, and each has its reverse."""
        return self._pairs and self._forward == self._backward


def _mixed(u: Array, v: Array, w: Array | np.uint64) -> Array:
    """A 64-bit value of each arc that spreads every bit of its ends and its weight over all bits."""
    z = u * _K1 + _K2
    z ^= z >> _HALF
    z += v
    z *= _K3
    z ^= z >> _HALF
    z ^= w
    z *= _K2
    z ^= z >> _HALF
    z *= _K3
    z ^= z >> _HALF
    return np.asarray(z)


def one_direction(src: Array, dst: Array, weight: Array | None) -> tuple[Array, Array, Array | None]:
    """The arcs that lead to no smaller id, in their order.

    >>> [column.tolist() for column in one_direction(np.array([0, 1]), np.array([1, 0]), None)[:2]]
    [[0], [1]]
    """
    kept = src <= dst
    return src[kept], dst[kept], None if weight is None else weight[kept]


def tell_merged(path: str | os.PathLike[str]) -> None:
    """Log that both directions of each edge were listed, and what was made of it."""
    _log.info(
        "%s lists every edge in both directions: each pair is read as one undirected edge "
        "(keep_parallel=True keeps an edge for each line)",
        os.fspath(path),
    )
