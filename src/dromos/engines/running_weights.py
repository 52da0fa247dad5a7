"""Running sums of weights, by which arcs are drawn in proportion to them."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph

__all__ = ["running_weights"]


def running_weights(graph: Graph) -> Array | None:
    """For each arc the sum of the weights up to it, over all rows, each row in shares of its heaviest arc; or None.

    So a row of small weights is not lost in the sum of large ones before it, and no sum is infinite.

    >>> running_weights(Graph.from_edges([0, 1, 1], [1, 2, 3], [1e20, 1.0, 2.0])).tolist()
    [1.0, 1.5, 2.5]
    """
    if graph.weights is None:
        return None
    degrees = graph.out_degree
    rows = np.flatnonzero(degrees)
    if not len(rows):
        return np.empty(0)
    heaviest = np.maximum.reduceat(graph.weights, graph.offsets[rows]).astype(np.float64)
    heaviest[heaviest == 0] = 1.0  # all weights of the row are 0, and it is drawn from never
    shares = graph.weights / np.repeat(heaviest, degrees[rows])
    return np.cumsum(shares, out=shares)
