"""Running sums of weights, by which arcs are drawn in proportion to them."""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph

__all__ = ["running_weights"]

_LONG: Final = 64  # arcs of a row that is added up by itself


def running_weights(graph: Graph) -> Array | None:
    """For each arc the sum of the weights of its row up to it, in shares of the row's heaviest arc; or None.

    So no sum is infinite, and a row's are the same whatever the others are. They are added one after the other, as
    kernels do it (``sum_rows`` in :mod:`dromos.engines.native.walks_kernels`): all digits are the same.

    >>> running_weights(Graph.from_edges([0, 1, 1], [1, 2, 3], [1e20, 1.0, 2.0])).tolist()
    [1.0, 0.5, 1.5]
    """
    if graph.weights is None:
        return None
    degrees = graph.out_degree
    rows = np.flatnonzero(degrees)
    if not len(rows):
        return np.empty(0)
    heaviest = np.maximum.reduceat(graph.weights, graph.offsets[rows]).astype(np.float64)
    heaviest[heaviest == 0] = 1.0  # all weights of the row are 0, and it is drawn from never
    sums: Array = graph.weights / np.repeat(heaviest, degrees[rows])
    short = rows[degrees[rows] < _LONG]
    for place in range(1, _LONG):
        short = short[degrees[short] > place]
        at = graph.offsets[short] + place
        sums[at] += sums[at - 1]
    for row in rows[degrees[rows] >= _LONG].tolist():
        own = sums[graph.offsets[row] : graph.offsets[row + 1]]
        np.cumsum(own, out=own)
    return sums
