"""Truss numbers of edges.

No program can say it: the triangles of an edge are an intersection of two neighbourhoods. Memory: some 40 bytes for
each arc. Triangles are counted by all threads, edges are peeled by one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["trusses"]

_SMALL = 1 << 15


def trusses(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """The truss number of each edge (of ``graph.edges()``) of a simple undirected graph: 2 where it has no triangle.

    >>> import dromos as dr
    >>> trusses(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))["truss"].tolist()
    [3, 3, 3, 2]
    """
    from dromos.engines.native import trusses_kernels as kernels

    edges = graph.edges()
    count = len(edges.src)
    rank = np.empty(graph.num_vertices, graph.targets.dtype)
    rank[np.argsort(graph.out_degree, kind="stable")] = np.arange(graph.num_vertices)
    a, b = rank[edges.src], rank[edges.dst]
    by_degree = Graph.from_edges(a, b, num_vertices=graph.num_vertices, directed=False)
    offsets, targets = by_degree.offsets, by_degree.targets
    sources = np.repeat(np.arange(graph.num_vertices, dtype=targets.dtype), by_degree.out_degree)
    upper = sources < targets
    higher = offsets[1:] - np.bincount(sources[upper], minlength=graph.num_vertices)
    edge_of = np.empty(len(targets), np.int64)
    edge_of[upper] = np.arange(count)
    lower = np.flatnonzero(~upper)
    edge_of[lower[np.argsort(targets[lower], kind="stable")]] = np.arange(count)  # by lesser end, then by greater
    src, dst = sources[upper], targets[upper]
    team = 1 if len(targets) < _SMALL else num_threads(threads)
    support, stop = np.zeros(count, np.int64), np.zeros(1, np.int64)
    run_team(
        kernels.count_support, offsets, targets, edge_of, higher, support,
        np.zeros(team * graph.num_vertices, np.int64), np.zeros(1, np.int64), stop, threads=team, stop=stop,
    )  # fmt: skip
    order = np.argsort(support, kind="stable")
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    begin = np.searchsorted(support[order], np.arange(int(support.max(initial=0)) + 2))
    run_team(
        kernels.peel, offsets, targets, edge_of, src, dst, support, order, place, begin, np.zeros(count, np.uint8),
        stop, threads=1, stop=stop,
    )  # fmt: skip
    # back to the order of the graph's own edges
    least, most = np.minimum(a, b), np.maximum(a, b)
    truss = np.empty(count, np.int64)
    truss[np.lexsort((most, least))] = support + 2
    return {"truss": truss}
