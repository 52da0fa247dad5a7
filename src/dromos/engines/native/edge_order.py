"""The order in which greedy choices process edges: by weight, ties by their ends."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.graph.records import Edges

__all__ = ["edges_by_ends", "falling"]


def edges_by_ends(graph: Graph) -> Edges:
    """The edges by source and target: those of ``graph.edges()``, which are in this order if rows are sorted.

    >>> backwards = Graph.from_csr([0, 2, 3, 4], [2, 1, 0, 0], directed=False)
    >>> backwards.edges().dst.tolist(), edges_by_ends(backwards).dst.tolist()
    ([2, 1], [1, 2])
    """
    edges = graph.edges()
    if graph.sorted:
        return edges
    order = np.lexsort((edges.dst, edges.src))
    return Edges(edges.src[order], edges.dst[order], None if edges.weight is None else edges.weight[order])


def falling(weights: Array) -> Array:
    """Numbers of the same type that rise where the weights fall; every type has as many on both sides of this.

    >>> falling(np.array([-(2**31), 0, 7], np.int32)).tolist(), falling(np.array([0.5, -np.inf])).tolist()
    ([2147483647, -1, -8], [-0.5, inf])
    """
    return ~weights if weights.dtype.kind == "i" else -weights
