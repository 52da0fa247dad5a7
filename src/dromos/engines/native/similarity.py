"""Similar vertices by common neighbors.

No program can express it: a vertex counts each vertex two edges away separately. Memory: for each thread 12 bytes per
vertex.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["Counters", "similarity"]


def similarity(graph: Graph, *, sources: Array, metric: str, k: int, threads: int | None = None) -> Mapping[str, Array]:
    """Up to ``k`` vertices most similar to each source, ``count`` of them: ``best``, source by source, and ``score``.

    The graph has no parallel edges.

    >>> import dromos as dr
    >>> similarity(dr.generators.path(4), sources=np.arange(2), metric="jaccard", k=1)["best"].tolist()
    [2, 3]
    """
    back = graph if graph.symmetric else graph.transpose
    counters = Counters(graph.num_vertices, graph.targets.dtype, len(sources), threads)
    ids = sources.astype(np.int64)
    return counters.most_similar(
        graph.offsets, (graph.offsets, graph.targets), (back.offsets, back.targets), ids, ids, metric, k
    )


class Counters:
    """Each thread's counts of common neighbors; all zeros between two calls."""

    def __init__(self, num_vertices: int, dtype: np.dtype[Any], sources: int, threads: int | None) -> None:
        self._team = max(1, min(num_threads(threads), sources))
        self._common = np.zeros(self._team * num_vertices, np.int32)
        self._seen = np.empty(self._team * num_vertices, dtype)

    def most_similar(
        self,
        degrees: Array,
        rows: tuple[Array, Array],
        back: tuple[Array, Array],
        sources: Array,
        numbers: Array,
        metric: str,
        k: int,
    ) -> Mapping[str, Array]:
        """As :func:`similarity`, from some rows: offsets and targets.

        ``degrees``: the offsets of all vertices. ``numbers``: those of the sources' rows. The targets in ``rows`` are
        the numbers of rows in ``back``.
        """
        from dromos.engines.native import similarity_kernels as kernels

        code = {"jaccard": kernels.JACCARD, "overlap": kernels.OVERLAP, "cosine": kernels.COSINE}[metric]
        best, score = np.full(len(sources) * k, -1, self._seen.dtype), np.zeros(len(sources) * k)
        stop = np.zeros(1, np.int64)
        run_team(
            kernels.most_similar, read_only(degrees), *map(read_only, (*rows, *back)), sources, numbers, code, k,
            self._common, self._seen, best, score, np.zeros(1, np.int64), stop, threads=self._team, stop=stop,
        )  # fmt: skip
        there = best >= 0
        return {"count": there.reshape(-1, k).sum(axis=1), "best": best[there], "score": score[there]}
