"""Similar vertices by common neighbors, one source after the other on whole arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.engines import Tell
from dromos.engines.vectorised.arcs import places_of
from dromos.graph import Graph

__all__ = ["similarity"]


def similarity(graph: Graph, *, sources: Array, metric: str, k: int, tell: Tell | None = None) -> Mapping[str, Array]:
    """Up to ``k`` vertices most similar to each source, ``count`` of them: ``best``, source by source, and ``score``.

    The graph has no parallel edges.

    >>> import dromos as dr
    >>> similarity(dr.generators.path(4), sources=np.arange(2), metric="jaccard", k=1)["best"].tolist()
    [2, 3]
    """
    back = graph if graph.symmetric else graph.transpose
    degree = np.diff(graph.offsets).astype(np.float64)
    count = np.zeros(len(sources), np.int64)
    best, score = [np.empty(0, graph.targets.dtype)], [np.empty(0)]
    for row, u in enumerate(sources.tolist()):
        near = graph.targets[graph.offsets[u] : graph.offsets[u + 1]]
        common = np.bincount(back.targets[places_of(back.offsets, near)], minlength=graph.num_vertices)
        common[u] = 0
        others = np.flatnonzero(common)
        shared, a, b = common[others].astype(np.float64), degree[u], degree[others]
        if metric == "jaccard":
            value = shared / (a + b - shared)
        else:
            value = shared / (np.minimum(a, b) if metric == "overlap" else np.sqrt(a * b))
        first = np.lexsort((others, -value))[:k]
        count[row] = len(first)
        best.append(others[first].astype(graph.targets.dtype))
        score.append(value[first])
        if tell is not None:
            tell((row + 1) / len(sources))
    return {"count": count, "best": np.concatenate(best), "score": np.concatenate(score)}
