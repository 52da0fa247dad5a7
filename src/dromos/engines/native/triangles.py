"""Triangles by intersecting neighborhoods.

No program can express it: a message would have to carry a whole neighborhood, and a vertex would have to intersect it
with its own.

If degrees are even, the rows are processed in the order of ids as they are (``triangles_kernels``), which takes only a
bit and some bytes per vertex and thread. If they are skewed, the graph is first oriented by degree
(``triangles_oriented_kernels``), which costs half a copy of its arcs, 8 MiB for the hubs, and 32 bytes per vertex. A
sample of edges decides which; either is correct for any graph.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import huge_zeros
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["triangles"]

_SMALL = 1 << 15
_SAMPLES = 2048
_DENSE = 32
_SKEW = 2


def triangles(graph: Graph, *, threads: int | None = None) -> Mapping[str, Any]:
    """Triangles through each vertex of an undirected graph without self-loops and parallel edges, and in all of it.

    >>> import dromos as dr
    >>> found = triangles(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> found["triangles"].tolist(), found["total"]
    ([1, 1, 1, 0], 1)
    """
    team = 1 if graph.num_arcs < _SMALL else num_threads(threads)
    counts = huge_zeros(graph.num_vertices, np.int64)
    if graph.num_arcs == 0:
        return {"triangles": counts, "total": 0}
    count = _oriented if _worth_orienting(graph) else _in_order
    return {"triangles": counts, "total": count(graph, counts, team)}


def _worth_orienting(graph: Graph) -> bool:
    """Whether the ends of edges have many neighbors, and far more than vertices have; unsorted rows need it too.

    Ends of edges are sampled at even spacing, which finds a hub in proportion to its cost.
    """
    drawn = graph.targets[:: max(1, graph.num_arcs // _SAMPLES)]
    at_ends = float((graph.offsets[drawn + 1] - graph.offsets[drawn]).mean())
    average = graph.num_arcs / graph.num_vertices
    return (at_ends > _DENSE and at_ends > _SKEW * average) or not graph.sorted


def _in_order(graph: Graph, counts: Array, team: int) -> int:
    from dromos.engines.native import triangles_kernels as kernels
    from dromos.jit import LINE

    stop, totals = np.zeros(1, np.int64), np.zeros(team * LINE, np.int64)
    near = np.zeros(team * kernels.FILTER, np.uint8)
    bits = huge_zeros(team * ((graph.num_vertices + 63) >> 6), np.uint64)
    run_team(
        kernels.count_in_order, graph.offsets, graph.targets, counts, near, bits, np.zeros(1, np.int64), stop, totals,
        threads=team, stop=stop,
    )  # fmt: skip
    return int(totals.sum())


def _oriented(graph: Graph, counts: Array, team: int) -> int:
    from dromos.engines.native import triangles_oriented_kernels as kernels
    from dromos.jit import LINE, team_memory

    n, ids = graph.num_vertices, graph.targets.dtype
    stop, cursors = np.zeros(1, np.int64), np.zeros(kernels.PHASES * LINE, np.int64)
    rank, member = huge_zeros(n, ids), huge_zeros(n, ids)
    begins = np.zeros(int(graph.out_degree.max()) + 2, np.int64)
    kernels.rank_by_degree(graph.offsets, begins, rank, member)
    low_offsets, low_targets = huge_zeros(n + 1, np.int64), huge_zeros(graph.num_arcs // 2 + 1, ids)
    hubs = min(kernels.HUBS, (n + 63) & ~63)
    hub_rows = huge_zeros(hubs * (hubs >> 6), np.uint64)
    run_team(
        kernels.orient, graph.offsets, graph.targets, rank, member, low_offsets, low_targets, hub_rows, hubs, cursors,
        stop, team_memory(team), threads=team, stop=stop,
    )  # fmt: skip
    del rank
    totals = np.zeros(team * LINE, np.int64)
    bits = huge_zeros(team * ((n + 63) >> 6), np.uint64)
    credit, by_rank = huge_zeros(team * hubs, np.int64), huge_zeros(n, np.int64)
    run_team(
        kernels.count_oriented, low_offsets, low_targets, hub_rows, hubs, bits, credit, by_rank, member, counts,
        cursors, stop, totals, team_memory(team), threads=team, stop=stop,
    )  # fmt: skip
    return int(totals.sum())
