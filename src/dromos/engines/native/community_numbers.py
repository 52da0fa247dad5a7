"""Orders of vertices, and numbers of communities, in NumPy; the compiled steps have kernels for them."""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.dtypes import Array

__all__ = ["SPREAD", "cut", "numbered", "shuffled"]

SPREAD: Final = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio: the step of the numbers that become random ones (Steele, Lea and Flood, 2014)."""


def numbered(group: Array) -> tuple[Array, int]:
    """Groups numbered by their first vertex, and the number of groups.

    >>> numbered(np.array([7, 3, 7, 5]))
    (array([0, 1, 0, 2]), 3)
    """
    n = len(group)
    first = np.empty(int(group.max(initial=-1)) + 1, np.int64)
    first[group[::-1]] = np.arange(n - 1, -1, -1)  # of several assignments the last one stays
    begins = first[group] == np.arange(n)
    number = np.cumsum(begins, dtype=np.int64) - 1
    return number[first[group]].astype(group.dtype), int(np.count_nonzero(begins))


def cut(fine: Array, coarse: Array) -> Array:
    """The groups of ``fine`` cut by those of ``coarse``, numbered by their first vertex.

    >>> cut(np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])).tolist()
    [0, 1, 2, 0]
    """
    pairs = fine.astype(np.int64) * (int(coarse.max()) + 1) + coarse
    return numbered(np.unique(pairs, return_inverse=True)[1])[0].astype(coarse.dtype)


def shuffled(n: int, seed: int, dtype: np.dtype[np.generic]) -> Array:
    """The numbers below ``n`` in an order drawn from a seed, as the kernel draws it; ascending if it is 0.

    >>> sorted(shuffled(5, 1, np.dtype(np.int32)).tolist())
    [0, 1, 2, 3, 4]
    """
    if seed == 0:
        return np.arange(n, dtype=dtype)
    last = np.arange(n, dtype=np.uint64)
    random = np.uint64(seed) + (last + np.uint64(1)) * np.uint64(SPREAD)
    random = (random ^ (random >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    random = (random ^ (random >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    random ^= random >> np.uint64(31)
    chosen = (((random >> np.uint64(32)) * (last + np.uint64(1))) >> np.uint64(32)).tolist()
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        order[i], order[chosen[i]] = order[chosen[i]], order[i]
    return np.array(order, dtype)
