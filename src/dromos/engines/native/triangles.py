"""Triangles by intersecting neighbourhoods.

No program can say it: a message would have to carry a whole neighbourhood, and a vertex would have to intersect it with
its own. Here each pair of neighbours merges its two sorted rows, and ids are given by falling degree, so that a hub's
row is read up to its few neighbours of still higher degree only.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["triangles"]

_SMALL = 1 << 15


def triangles(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """Triangles through each vertex of an undirected graph without self-loops and parallel edges.

    >>> import dromos as dr
    >>> triangles(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))["triangles"].tolist()
    [1, 1, 1, 0]
    """
    from dromos.engines.native import triangles_kernels as kernels

    ordered = graph.relabel_by_degree()
    counts = np.zeros(graph.num_vertices, dtype=np.int64)
    run_team(
        kernels.count_triangles,
        ordered.graph.offsets,
        ordered.graph.targets,
        counts,
        np.zeros(1, dtype=np.int64),
        threads=1 if graph.num_arcs < _SMALL else num_threads(threads),
    )
    return {"triangles": ordered.restore(counts)}
