"""Similar vertices by common neighbours.

No program can say it: a vertex hears of others two edges away, each of which it counts apart. Memory: for each thread
12 bytes per vertex.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["similarity"]


def similarity(graph: Graph, *, sources: Array, metric: str, k: int, threads: int | None = None) -> Mapping[str, Array]:
    """Up to ``k`` vertices most similar to each source, ``count`` of them: ``best``, source by source, and ``score``.

    The graph has no parallel edges.

    >>> import dromos as dr
    >>> similarity(dr.generators.path(4), sources=np.arange(2), metric="jaccard", k=1)["best"].tolist()
    [2, 3]
    """
    from dromos.engines.native import similarity_kernels as kernels

    n, back = graph.num_vertices, graph if graph.symmetric else graph.transpose
    number = {"jaccard": kernels.JACCARD, "overlap": kernels.OVERLAP, "cosine": kernels.COSINE}[metric]
    team = max(1, min(num_threads(threads), len(sources)))
    best, score = np.full(len(sources) * k, -1, graph.targets.dtype), np.zeros(len(sources) * k)
    stop = np.zeros(1, np.int64)
    run_team(
        kernels.most_similar, graph.offsets, graph.targets, back.offsets, back.targets, sources.astype(np.int64),
        number, k, np.zeros(team * n, np.int32), np.empty(team * n, graph.targets.dtype), best, score,
        np.zeros(1, np.int64), stop, threads=team, stop=stop,
    )  # fmt: skip
    there = best >= 0
    return {"count": there.reshape(-1, k).sum(axis=1), "best": best[there], "score": score[there]}
