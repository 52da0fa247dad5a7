"""The edges of undirected graphs, once each, with the sum of the values of their two arcs."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array, order_of
from dromos.graph import Graph
from dromos.graph.build import expand_sources

__all__ = ["sums_by_edge"]


def sums_by_edge(graph: Graph, values: Array) -> dict[str, Array]:
    """``source``, ``target`` and ``through`` of each edge of a simple undirected graph, the lesser id first.

    ``values`` has one entry per arc; ``through`` is the sum of those of an edge's two arcs.

    >>> import dromos as dr
    >>> {name: part.tolist() for name, part in sums_by_edge(dr.generators.path(3), np.arange(4.0)).items()}
    {'source': [0, 1], 'target': [1, 2], 'through': [1.0, 5.0]}
    """
    src, dst = expand_sources(graph.offsets, graph.targets.dtype), graph.targets
    if not graph.sorted:
        order = np.lexsort((dst, src))
        src, dst, values = src[order], dst[order], values[order]
    forward = src < dst
    back = ~forward
    through = values[forward] + values[back][order_of(dst[back])]
    return {"source": src[forward], "target": dst[forward], "through": through}
