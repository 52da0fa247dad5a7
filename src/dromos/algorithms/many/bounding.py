"""Eccentricities between bounds that every search narrows.

From a source ``s`` with eccentricity ``e``: a vertex ``v`` is no farther from anything than ``d(v, s) + e``, and no
less far than ``d(v, s)``, nor than ``e - d(s, v)``. Where the bounds meet, the eccentricity is known without a search
from ``v``. Sources are those with the greatest upper and the least lower bounds in turn. Takes and Kosters,
"Determining the diameter of small world networks", CIKM 2011; here 64 sources at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.algorithms.many.searching import search
from dromos.dtypes import Array
from dromos.engines.joint_groups import Found
from dromos.errors import AlgorithmError, ResourceError
from dromos.graph import Graph
from dromos.runner import Session

__all__ = ["Bounds", "narrow"]

_FIRST, _BATCH = 8, 64
_BYTES_PER_VERTEX = 64  # of bounds, and of choosing sources by them
_MOST_BYTES = 1 << 31  # rows of distances of a batch, both ways


class Bounds:
    """What is known of every vertex's eccentricity."""

    def __init__(self, graph: Graph) -> None:
        n = graph.num_vertices
        self.lower, self.upper = np.zeros(n, np.int64), np.full(n, max(n - 1, 0), np.int64)
        self.searched = np.zeros(n, dtype=bool)

    def take(self, source: int, eccentricity: int, forth: Array, back: Array) -> None:
        """Narrow all bounds by the distances from and to ``source``."""
        np.maximum(self.lower, np.maximum(back, eccentricity - forth), out=self.lower)
        np.minimum(self.upper, back.astype(np.int64) + eccentricity, out=self.upper)
        self.lower[source] = self.upper[source] = eccentricity
        self.searched[source] = True

    def open(self, want: str) -> Array:
        """The vertices that the answer still depends on: all, or those that may be the farthest or the nearest."""
        unknown = self.lower < self.upper
        if want == "diameter":
            unknown &= self.upper > self.lower.max()
        elif want == "radius":
            unknown &= self.lower < self.upper.min()
        return np.flatnonzero(unknown)


def narrow(session: Session, graph: Graph, want: str) -> Bounds:
    """Search until all eccentricities are known, or the greatest or least one; refuses a graph that has none."""
    n, bounds = graph.num_vertices, Bounds(graph)
    if n == 0:
        raise AlgorithmError("the graph has no vertex, so there is no eccentricity")
    both_ways = graph.symmetric
    batch = max(1, min(_BATCH, _MOST_BYTES // (4 * n * (1 if both_ways else 2))))
    size = _FIRST
    while len(left := bounds.open(want)):
        sources = _chosen(graph, bounds, left, min(size, batch), want)
        try:
            forth = _rows(session, graph, sources, both_ways)
            back = forth if both_ways else _rows(session, graph.transpose, sources, both_ways)
        except ResourceError:
            if not graph.on_disk or len(sources) == 1:
                raise
            batch = len(sources) // 2  # whose rows of distances are to fit the budget
            continue
        for rows, way in ((forth, "from"), (back, "to")):
            lost = (rows < 0).any(axis=1)
            if lost.any():
                row = int(np.flatnonzero(lost)[0])
                ends = np.array([sources[row], np.flatnonzero(rows[row] < 0)[0]])
                source, missing = (ends if graph.labels is None else graph.labels.values_of(ends)).tolist()
                kind = "strongly connected" if graph.directed else "connected"
                raise AlgorithmError(
                    f"the graph is not {kind}: there is no path {way} vertex {source!r} "
                    f"{'to' if way == 'from' else 'from'} vertex {missing!r}, so eccentricities are infinite; "
                    f"give the largest component: dromos.largest_component(graph{', strong=True' * graph.directed})"
                )
        for source, row, into in zip(sources.tolist(), forth, back, strict=True):
            bounds.take(source, int(row.max()), row, into)
        size = batch
    return bounds


def _rows(session: Session, graph: Graph, sources: Array, both_ways: bool) -> Array:
    rows: list[Any] = []
    held = (len(sources) * 4 * (1 if both_ways else 2) + _BYTES_PER_VERTEX) * graph.num_vertices
    search(session, graph, sources, lambda found: rows.append(_copy(found)), distance=np.int32, answer=held)
    return np.asarray(rows[0])


def _copy(found: Found) -> Array:
    assert found.distance is not None
    return found.distance.copy()


def _chosen(graph: Graph, bounds: Bounds, left: Array, count: int, want: str) -> Array:
    """The open vertices with the greatest upper bounds and with the least lower ones, by turns; hubs among equals."""
    degree = graph.out_degree[left]
    far = left[np.lexsort((-degree, -bounds.upper[left]))]
    near = left[np.lexsort((-degree, bounds.lower[left]))]
    order = {"diameter": (far, near), "radius": (near, far)}.get(want, (far, near))
    turns = np.stack(order, axis=1).ravel()
    _, first = np.unique(turns, return_index=True)
    return np.asarray(turns[np.sort(first)][:count])
