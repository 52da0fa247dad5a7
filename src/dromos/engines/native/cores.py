"""Core numbers by peeling.

A program can find one k-core, and core numbers one k after the other; it goes over all vertices for each k, and over
the neighbors of those that leave in lockstep. Here a vertex is peeled as soon as possible. Memory: 16 bytes per vertex.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import huge_zeros
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["cores"]

_SMALL = 1 << 15


def cores(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """The core number of each vertex of an undirected graph without self-loops; parallel edges count.

    >>> import dromos as dr
    >>> cores(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))["core"].tolist()
    [2, 2, 2, 1]
    """
    from dromos.engines.native import cores_kernels as kernels
    from dromos.jit import team_memory

    n, ids = graph.num_vertices, graph.targets.dtype
    team = 1 if graph.num_arcs < _SMALL else num_threads(threads)
    core, stop = huge_zeros(n, np.int64), np.zeros(1, np.int64)
    degrees = np.int32 if graph.num_arcs < 1 << 31 else np.int64
    left, below = huge_zeros(n, degrees), huge_zeros(n, ids)
    rest, ready = (huge_zeros(team * kernels.share(n, team), ids) for _ in range(2))
    queue = np.empty(team * kernels.QUEUE, ids)
    run_team(
        kernels.peel, graph.offsets, graph.targets, left, rest, ready, queue, below, core, team_memory(team), stop,
        threads=team, stop=stop,
    )  # fmt: skip
    return {"core": core}
