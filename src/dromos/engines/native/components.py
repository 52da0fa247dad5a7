"""Weakly connected components by Afforest (Sutton, Ben-Nun, Barak: IPDPS 2018).

No program can express it: union-find follows chains of pointers through vertices that are not neighbors, and hooks a
root that no edge of the current vertex touches. A program does the same by propagating labels, with a superstep for
each edge of the longest path.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import reused_empty
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["components"]

_SMALL = 1 << 15


def components(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """The least id of each vertex's component; arcs count in both directions.

    >>> import dromos as dr
    >>> components(dr.Graph.from_edges([3, 1], [1, 2]))["label"].tolist()
    [0, 1, 1, 1]
    """
    from dromos.engines.native import components_kernels as kernels
    from dromos.jit import LINE, team_memory

    label = reused_empty(graph.num_vertices, graph.targets.dtype)
    if graph.num_vertices:
        team = 1 if graph.num_arcs < _SMALL else num_threads(threads)
        cursors, stop = np.zeros(kernels.PHASES * LINE, dtype=np.int64), np.zeros(1, dtype=np.int64)
        run_team(
            kernels.afforest, graph.offsets, graph.targets, graph.symmetric, label, cursors, team_memory(team),
            stop, threads=team, stop=None if graph.num_arcs < _SMALL else stop,
        )  # fmt: skip
    return {"label": label}
