"""Plain Python definitions of the native kernels, for the reference engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike, NativeKernel
from dromos.engines.native.plain_biconnected import biconnected
from dromos.engines.native.plain_communities import communities
from dromos.engines.native.plain_greedy import coloring, forest, matching

__all__ = ["KERNELS", "cdlp", "triangles"]


def _neighbors(graph: GraphLike, v: int) -> list[int]:
    found: list[int] = graph.targets[graph.offsets[v] : graph.offsets[v + 1]].tolist()
    return found


def triangles(graph: GraphLike) -> Mapping[str, Any]:
    """Triangles through each vertex of a simple undirected graph, and in all of it.

    >>> import dromos as dr
    >>> triangles(dr.generators.complete(4))["triangles"].tolist()
    [3, 3, 3, 3]
    """
    near = [set(_neighbors(graph, v)) for v in range(graph.num_vertices)]
    twice = [sum(len(near[v] & near[u]) for u in near[v]) for v in range(graph.num_vertices)]
    return {"triangles": np.array(twice, dtype=np.int64) // 2, "total": sum(twice) // 6}


def cdlp(graph: GraphLike, *, max_iter: int, directed: bool) -> Mapping[str, Array]:
    """Labels after ``max_iter`` rounds, in each of which a vertex takes the most frequent label around it.

    >>> import dromos as dr
    >>> cdlp(dr.generators.path(3), max_iter=1, directed=False)["label"].tolist()
    [1, 0, 1]
    """
    n = graph.num_vertices
    around = [_neighbors(graph, v) + (_neighbors(graph.transpose, v) if directed else []) for v in range(n)]
    label, previous = list(range(n)), list(range(n))
    for _ in range(max_iter):
        previous = label
        label = []
        for v in range(n):
            counts = Counter(previous[u] for u in around[v])
            label.append(min(counts, key=lambda name: (-counts[name], name)) if counts else previous[v])
    dtype = graph.targets.dtype
    return {"label": np.array(label, dtype), "previous": np.array(previous, dtype)}


KERNELS: Final[Mapping[str, NativeKernel]] = {
    "biconnected": biconnected,
    "cdlp": cdlp,
    "coloring": coloring,
    "communities": communities,
    "forest": forest,
    "matching": matching,
    "triangles": triangles,
}
