"""Betweenness of edges.

As programs, which run if the graph is not completely in memory, it takes two for each source and a pass over the arcs
for some of them; here each thread has its own source. Memory: for each thread 8 bytes per arc and 28 per vertex.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.engines.edge_sums import sums_by_edge
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["edge_betweenness"]


def edge_betweenness(
    graph: Graph, *, sources: Array, directed: bool, threads: int | None = None
) -> Mapping[str, Array]:
    """The share of shortest paths from ``sources`` that use each edge of a simple graph, summed over targets.

    ``through`` has one entry per arc; unless ``directed``, one per edge, beside ``source`` and ``target``.

    >>> import dromos as dr
    >>> edge_betweenness(dr.generators.path(3), sources=np.arange(1), directed=False)["through"].tolist()
    [2.0, 1.0]
    """
    from dromos.engines.native import edge_betweenness_kernels as kernels

    n, ids = graph.num_vertices, graph.targets.dtype
    team = max(1, min(num_threads(threads), len(sources)))
    through, stop = np.zeros(team * graph.num_arcs), np.zeros(1, np.int64)
    run_team(
        kernels.accumulate, graph.offsets, graph.targets, sources.astype(np.int64), np.full(team * n, -1, np.int32),
        np.empty(team * n), np.zeros(team * n, np.int32), np.empty(team * n), np.empty(team * n, ids), through,
        np.zeros(1, np.int64), stop,
        threads=team, stop=stop,
    )  # fmt: skip
    by_arc = through.reshape(team, graph.num_arcs).sum(axis=0)
    return {"through": by_arc} if directed else sums_by_edge(graph, by_arc)
