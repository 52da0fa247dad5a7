"""SplitMix64 on arrays: random numbers that depend only on what is hashed, not on the number of threads.

:mod:`dromos.engines.native.walks_kernels` has the same function for kernels.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.dtypes import Array

__all__ = ["STEP", "mixed"]

STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FACTORS: Final = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


def mixed(x: Array) -> Array:
    """The hash of each number, of type uint64.

    >>> hex(int(mixed(np.zeros(1, np.uint64) + STEP)[0]))
    '0xe220a8397b1dcdaf'
    """
    for shift, factor in _FACTORS:
        x = (x ^ (x >> shift)) * factor
    found: Array = x ^ (x >> np.uint64(31))
    return found
