"""Strongly connected components by one depth-first search (Tarjan, 1972).

No program can express it: the order of the search is the method. It runs on one thread, and visits each edge once,
whatever the diameter. Programs need a superstep for each edge of the longest path, repeated for many colors if there
are many components. Memory: 28 bytes per vertex.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array, id_dtype
from dromos.engines.cpu.memory import huge_zeros
from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["strong"]


def strong(graph: Graph, *, among: Array | None = None, threads: int | None = None) -> Mapping[str, Array]:
    """The least id of each vertex's component in the graph of the vertices ``among`` (all unless given).

    A vertex outside has its own id. ``threads`` is ignored.

    >>> import dromos as dr
    >>> strong(dr.Graph.from_edges([0, 1, 2, 2], [1, 0, 1, 3]))["label"].tolist()
    [0, 0, 2, 3]
    """
    from dromos.engines.native import strong_kernels as kernels

    n, ids = graph.num_vertices, graph.targets.dtype
    label = np.arange(n, dtype=ids)
    numbers = id_dtype(n + 2)
    order, low = huge_zeros(n, numbers), huge_zeros(n, numbers)
    if among is not None:
        order[~among] = n + 1
    path, calls, arcs = huge_zeros(n, ids), huge_zeros(n, ids), huge_zeros(n, np.int64)
    stop = np.zeros(1, np.int64)
    run_team(
        kernels.tarjan, graph.offsets, graph.targets, order, low, path, calls, arcs, label, stop, threads=1, stop=stop
    )
    return {"label": label}
