"""Native kernels on whole arrays, in NumPy alone; :mod:`dromos.engines.native.plain` defines them vertex by vertex."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike, Tell
from dromos.graph.records import Edges

__all__ = ["cdlp", "triangles", "triangles_by_edge"]

_AT_ONCE: Final = 1 << 20  # paths of two edges that are examined together


def _sources(graph: GraphLike) -> Array:
    return np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))


def _begins(values: Array) -> Array:
    """The indices at which a new value begins in a sorted array."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])) if len(values) else np.zeros(0, np.int64)


def triangles(graph: GraphLike, *, tell: Tell | None = None) -> Mapping[str, Any]:
    """The number of triangles through each vertex of a simple undirected graph, and in all of it.

    >>> import dromos as dr
    >>> triangles(dr.generators.complete(4))["triangles"].tolist()
    [3, 3, 3, 3]
    """
    n = graph.num_vertices
    src, dst = _sources(graph), np.asarray(graph.targets)
    once = src < dst
    oriented = _Oriented(n, src[once], dst[once], np.diff(graph.offsets))
    count = np.zeros(n, np.int64)
    for ab, bc, _ in oriented.pieces(tell):
        for corners in (oriented.low[ab], oriented.high[ab], oriented.high[bc]):
            count += np.bincount(corners, minlength=n)
    found = count[oriented.rank]
    return {"triangles": found, "total": int(found.sum()) // 3}


def triangles_by_edge(graph: GraphLike, edges: Edges, tell: Tell | None = None) -> Iterator[tuple[Array, Array, Array]]:
    """The three edges of every triangle of a simple undirected graph, as numbers of ``edges``, in pieces.

    >>> import dromos as dr
    >>> one = dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> [sorted(map(int, np.concatenate(piece))) for piece in triangles_by_edge(one, one.edges())]
    [[0, 1, 2]]
    """
    oriented = _Oriented(graph.num_vertices, edges.src, edges.dst, np.diff(graph.offsets))
    for piece in oriented.pieces(tell):
        ab, bc, ac = (oriented.edge[places] for places in piece)
        yield ab, bc, ac


class _Oriented:
    """Each edge once, from its end of lower degree to the other, so that no vertex has many out-edges.

    Vertices are renamed by ``rank``. A triangle is then a path of two edges whose ends are joined by a third edge.
    """

    def __init__(self, n: int, src: Array, dst: Array, degree: Array) -> None:
        self.rank, self._n = np.empty(n, np.int64), n
        self.rank[np.lexsort((np.arange(n), degree))] = np.arange(n)
        a, b = self.rank[src], self.rank[dst]
        keys = np.minimum(a, b) * n + np.maximum(a, b)
        self.edge = np.argsort(keys, kind="stable")
        self._keys = keys[self.edge]
        self.low, self.high = np.divmod(self._keys, max(n, 1))

    def pieces(self, tell: Tell | None) -> Iterator[tuple[Array, Array, Array]]:
        """The indices of the three edges of every triangle: low to middle, middle to high, low to high."""
        keys, low, high, n = self._keys, self.low, self.high, self._n
        first = np.searchsorted(low, np.arange(n + 1))
        lengths = np.diff(first)[high]  # of the rows that continue the paths
        ends = np.concatenate([[0], np.cumsum(lengths)])
        begin = 0
        while begin < len(keys):
            stop = max(begin + 1, int(np.searchsorted(ends, ends[begin] + _AT_ONCE, side="right")) - 1)
            edges = np.repeat(np.arange(begin, stop), lengths[begin:stop])
            onward = first[high[edges]] + np.arange(ends[begin], ends[stop]) - ends[edges]
            wanted = low[edges] * n + high[onward]
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            closed = keys[place] == wanted
            yield edges[closed], onward[closed], place[closed]
            if tell is not None:
                tell(float(ends[stop] / max(ends[-1], 1)))
            begin = stop


def cdlp(graph: GraphLike, *, max_iter: int, directed: bool, tell: Tell | None = None) -> Mapping[str, Array]:
    """Labels after ``max_iter`` rounds; in each, a vertex takes the most frequent label around it, the least one of
    those that tie.

    >>> import dromos as dr
    >>> cdlp(dr.generators.path(3), max_iter=1, directed=False)["label"].tolist()
    [1, 0, 1]
    """
    n = graph.num_vertices
    rows, near = _sources(graph), np.asarray(graph.targets, np.int64)
    if directed:
        back = graph.transpose
        rows, near = np.concatenate([rows, _sources(back)]), np.concatenate([near, np.asarray(back.targets)])
    label = previous = np.arange(n)
    for done in range(max_iter):
        if tell is not None and done:
            tell(done / max_iter)
        previous = label
        pairs = np.sort(rows * n + previous[near])
        first = _begins(pairs)
        if not len(first):
            continue
        row, name = np.divmod(pairs[first], n)
        count = np.diff(np.append(first, len(pairs)))
        begin = _begins(row)
        most = np.repeat(np.maximum.reduceat(count, begin), np.diff(np.append(begin, len(row))))
        best = np.flatnonzero(count == most)  # labels ascend within a row
        best = best[_begins(row[best])]
        label = previous.copy()
        label[row[best]] = name[best]
    dtype = graph.targets.dtype
    return {"label": label.astype(dtype), "previous": previous.astype(dtype)}
