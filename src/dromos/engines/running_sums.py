"""Running sums of weights, by which arcs are drawn in proportion to them."""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.dtypes import Array

__all__ = ["running_sums"]

_LONG: Final = 64  # arcs of a row that is added up by itself


def running_sums(offsets: Array, weights: Array) -> Array:
    """For each arc the sum of the weights of its row up to it, in shares of the row's heaviest arc.

    So no sum is infinite, and a row's are the same whatever the others are. They are added one after the other, as
    kernels do it (``sum_rows`` in :mod:`dromos.engines.native.walks_kernels`): all digits are the same.

    >>> running_sums(np.array([0, 1, 3]), np.array([5.0, 1.0, 2.0])).tolist()
    [1.0, 0.5, 1.5]
    """
    degrees = np.diff(offsets)
    rows = np.flatnonzero(degrees)
    if not len(rows):
        return np.empty(0)
    heaviest = np.maximum.reduceat(weights, offsets[rows]).astype(np.float64)
    heaviest[heaviest == 0] = 1.0  # all weights of the row are 0, and it is drawn from never
    sums: Array = weights / np.repeat(heaviest, degrees[rows])
    short = rows[degrees[rows] < _LONG]
    for place in range(1, _LONG):
        short = short[degrees[short] > place]
        at = offsets[short] + place
        sums[at] += sums[at - 1]
    for row in rows[degrees[rows] >= _LONG].tolist():
        own = sums[offsets[row] : offsets[row + 1]]
        np.cumsum(own, out=own)
    return sums
