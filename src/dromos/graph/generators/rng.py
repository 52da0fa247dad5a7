"""Random numbers by counter: the number of an item and a key give its random word, whoever asks, in whatever order.

Word ``i`` of a key is SplitMix64 at position ``i`` (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014) with a second key word mixed in between its two multiplications, so that two keys give two
unrelated sequences and not two windows of the same one. SplitMix64 passes BigCrush, needs 64-bit integers alone (the
same words on every platform), and costs 2.5 ns a word; Philox4x32-10, the usual choice, was measured at four times
that. Every use has a :class:`Stream` of its own, so that no two uses of a seed share words.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.graph.generators.arguments import whole_number

__all__ = ["GAMMA", "Key", "Stream", "key_of", "permutation_constants"]

GAMMA = 0x9E3779B97F4A7C15
_MASK = 2**64 - 1
_ROUNDS = 4


class Stream(IntEnum):
    """What random words are drawn for; the numbers are part of what a seed means and never change."""

    RMAT_EDGES = 0
    VERTEX_PERMUTATION = 1
    UNIFORM_EDGES = 2
    GRID_DELETIONS = 3
    ATTACHMENT = 4
    REWIRING_CHOICE = 5
    REWIRING_TARGET = 6
    WEIGHTS = 7


class Key(NamedTuple):
    """The two words that a kernel needs to draw from a stream of a seed."""

    low: Any
    high: Any


def key_of(seed: int, stream: Stream) -> Key:
    """The key of ``stream`` under ``seed`` (a whole number below 2^64).

    >>> key_of(0, Stream.RMAT_EDGES) == key_of(0, Stream.WEIGHTS)
    False
    """
    start = whole_number("seed", seed, 0, _MASK)
    return Key(*(np.uint64(_splitmix64(start, 2 * stream + half)) for half in range(2)))


def permutation_constants(seed: int, dtype: np.dtype[Any]) -> Array:
    """What :func:`~dromos.graph.generators.rng_kernels.permute` is keyed with: an addend and an odd factor a round."""
    key = key_of(seed, Stream.VERTEX_PERMUTATION)
    words = [_splitmix64(int(key.low), i) ^ int(key.high) for i in range(2 * _ROUNDS)]
    return np.array([word | (i % 2) for i, word in enumerate(words)], dtype=np.uint64).astype(dtype)


def _splitmix64(seed: int, position: int) -> int:
    word = (seed + GAMMA * (position + 1)) & _MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)
