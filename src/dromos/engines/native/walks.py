"""Random walks.

No program can express it: each walk is at one vertex at a time, and a vertex would have to distinguish its walkers.
Memory: the walks, and if edges have weights 8 bytes for each arc.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.graph.build import team_size
from dromos.parallel import num_threads, run_team

__all__ = ["walks"]

_SMALL = 1 << 12


def walks(
    graph: Graph, *, starts: Array, length: int, p: float, q: float, seed: int, threads: int | None = None
) -> Mapping[str, Array]:
    """One row per start: the vertices of a walk of ``length`` steps from it, -1 after its end.

    Unless ``p`` and ``q`` are 1, the rows of the graph are sorted.

    >>> import dromos as dr
    >>> walks(dr.Graph.from_edges([0, 1], [1, 2]), starts=np.arange(2), length=2, p=1, q=1, seed=0)["walk"].tolist()
    [[0, 1, 2], [1, 2, -1]]
    """
    from dromos.engines.native import walks_kernels as kernels

    sums, stop = np.empty(0 if graph.weights is None else graph.num_arcs), np.zeros(1, np.int64)
    if graph.weights is not None:
        run_team(
            kernels.sum_rows, graph.offsets, graph.weights, sums, np.zeros(1, np.int64), stop,
            threads=team_size(graph.num_arcs, threads), stop=stop,
        )  # fmt: skip
    found = np.full(len(starts) * (length + 1), -1, graph.targets.dtype)
    team = 1 if len(starts) * length < _SMALL else num_threads(threads)
    run_team(
        kernels.walk, graph.offsets, graph.targets, sums, starts.astype(np.int64), np.uint64(seed), float(p), float(q),
        length, found, np.zeros(1, np.int64), stop, threads=team, stop=stop,
    )  # fmt: skip
    return {"walk": found.reshape(len(starts), length + 1)}
