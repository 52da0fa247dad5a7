"""Running sums of weights, for drawing arcs in proportion to their weights."""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.dtypes import Array

__all__ = ["running_sums"]

_LONG: Final = 64  # rows with at least so many arcs are summed one by one


def running_sums(offsets: Array, weights: Array) -> Array:
    """For each arc the sum of the weights of its row up to and including it, relative to the row's heaviest arc.

    So no sum is infinite, and the sums of a row do not depend on other rows. Weights are added one after the other, as
    the kernels do (``sum_rows`` in :mod:`dromos.engines.native.walks_kernels`): all digits are the same.

    >>> running_sums(np.array([0, 1, 3]), np.array([5.0, 1.0, 2.0])).tolist()
    [1.0, 0.5, 1.5]
    """
    degrees = np.diff(offsets)
    rows = np.flatnonzero(degrees)
    if not len(rows):
        return np.empty(0)
    heaviest = np.maximum.reduceat(weights, offsets[rows]).astype(np.float64)
    heaviest[heaviest == 0] = 1.0  # all weights of the row are 0: it is never drawn from
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
