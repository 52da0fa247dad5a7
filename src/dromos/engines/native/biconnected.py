"""Biconnected components, bridges and articulation points.

Programs compute it from another forest, in several passes over the arcs; this depth-first search takes one. Memory:
some 34 bytes for each vertex; one thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["biconnected"]


def biconnected(graph: Graph, *, by_edge: bool = False, threads: int | None = None) -> Mapping[str, Any]:
    """The results of a search of an undirected graph: the ``number`` of each vertex in the order of visits, its
    ``parent``, the ``component`` of the tree edge between them (both -1 at the root of a tree), whether that edge is a
    ``bridge``, and whether the vertex is a ``cut``.

    An edge is in the component of its end that was visited later: it is the tree edge to that one, or closes a cycle
    with it. ``by_edge``: ``edges`` has the lesser and the greater end of each edge that is not a loop, in the order of
    rows, and its component, numbered by first edges; and ``count`` is the number of components.

    >>> import dromos as dr
    >>> found = biconnected(dr.generators.path(3))
    >>> found["component"].tolist(), found["cut"].tolist()
    ([-1, 1, 0], [False, True, False])
    """
    from dromos.engines.native import biconnected_kernels as kernels

    n, ids = graph.num_vertices, graph.targets.dtype
    number, component = np.zeros(n, ids), np.full(n, -1, ids)
    low, parent, path, waiting = (np.empty(n, ids) for _ in range(4))
    cut, skipped = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    stop = np.zeros(1, np.int64)
    run_team(
        kernels.search, graph.offsets, graph.targets, number, component, low, parent, skipped, np.empty(n, np.int64),
        path, waiting, cut, stop, threads=1, stop=stop,
    )  # fmt: skip
    found = {
        "number": number,
        "parent": parent,
        "component": component,
        "bridge": (low == number) & (parent >= 0),  # no other edge leads from the subtree to before it
        "cut": cut.view(bool),
    }
    if by_edge:
        edges, count = graph.num_edges - graph.num_self_loops, np.zeros(1, np.int64)
        listed = np.empty(edges, ids), np.empty(edges, ids), np.empty(edges, np.int64)
        run_team(
            kernels.list_edges, graph.offsets, graph.targets, number, component, np.full(n, -1, ids), *listed, count,
            stop, threads=1, stop=stop,
        )  # fmt: skip
        return {**found, "edges": listed, "count": int(count[0])}
    return found
