"""Truss numbers on whole arrays: all triangles are listed, then edges with too few of them are peeled in rounds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.engines import Tell
from dromos.engines.vectorised.arcs import places_of
from dromos.engines.vectorised.kernels import triangles_by_edge
from dromos.graph import Graph
from dromos.graph.records import Edges

__all__ = ["trusses"]


def trusses(graph: Graph, *, edges: Edges, tell: Tell | None = None) -> Mapping[str, Array]:
    """The truss number of each of the ``edges`` of a simple undirected graph: 2 if it is in no triangle.

    Memory: 48 bytes per triangle.

    >>> import dromos as dr
    >>> graph = dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> trusses(graph, edges=graph.edges())["truss"].tolist()
    [3, 3, 3, 2]
    """
    count = len(edges.src)
    corners = [np.concatenate(parts) for parts in zip(*triangles_by_edge(graph, edges, tell), strict=True)]
    members = np.stack(corners, axis=1) if corners else np.zeros((0, 3), np.int64)
    support = np.bincount(members.ravel(), minlength=count)
    first = np.zeros(count + 1, np.int64)
    np.cumsum(support, out=first[1:])
    triangles = np.argsort(members.ravel(), kind="stable") // 3  # the triangles of edge e begin at first[e]
    truss, here, gone = np.full(count, 2, np.int64), np.ones(count, bool), np.zeros(len(members), bool)
    level, left = 0, count
    short = np.flatnonzero(support <= level)
    while left:
        while len(short):
            truss[short], here[short] = level + 2, False
            left -= len(short)
            lost = triangles[places_of(first, short)]
            lost = np.unique(lost[~gone[lost]])
            gone[lost] = True
            touched = members[lost].ravel()
            np.subtract.at(support, touched, 1)
            touched = touched[here[touched]]
            short = np.unique(touched[support[touched] <= level])
            if tell is not None:
                tell(0.0)
        if left:
            level = int(support[here].min())
            short = np.flatnonzero(here & (support <= level))
    return {"truss": truss}
