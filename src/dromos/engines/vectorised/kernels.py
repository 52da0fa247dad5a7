"""The native kernels on whole arrays, by NumPy alone: what :mod:`dromos.engines.native.plain` says vertex by vertex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike, NativeKernel

__all__ = ["KERNELS", "cdlp", "triangles"]

_AT_ONCE: Final = 1 << 20  # paths of two edges that are looked at together


def _sources(graph: GraphLike) -> Array:
    return np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))


def _begins(values: Array) -> Array:
    """Where a new value begins in a sorted array."""
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]])) if len(values) else np.zeros(0, np.int64)


def triangles(graph: GraphLike) -> Mapping[str, Any]:
    """Triangles through each vertex of a simple undirected graph, and in all of it.

    Every edge leads to the end with the higher degree, so that no vertex has many out-edges; a triangle is then a path
    of two edges whose ends are joined by a third.

    >>> import dromos as dr
    >>> triangles(dr.generators.complete(4))["triangles"].tolist()
    [3, 3, 3, 3]
    """
    n = graph.num_vertices
    rank = np.empty(n, np.int64)
    rank[np.lexsort((np.arange(n), np.diff(graph.offsets)))] = np.arange(n)
    a, b = rank[_sources(graph)], rank[np.asarray(graph.targets)]
    keys = np.sort(a[a < b] * n + b[a < b])  # each edge once
    low, high = np.divmod(keys, max(n, 1))
    first = np.searchsorted(low, np.arange(n + 1))
    lengths = np.diff(first)[high]  # of the rows that paths go on with
    ends = np.concatenate([[0], np.cumsum(lengths)])
    count = np.zeros(n, np.int64)
    begin = 0
    while begin < len(keys):
        stop = max(begin + 1, int(np.searchsorted(ends, ends[begin] + _AT_ONCE, side="right")) - 1)
        edges = np.repeat(np.arange(begin, stop), lengths[begin:stop])
        third = high[first[high[edges]] + np.arange(ends[begin], ends[stop]) - ends[edges]]
        wanted = low[edges] * n + third
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        closed = keys[place] == wanted
        for corners in (low[edges], high[edges], third):
            count += np.bincount(corners[closed], minlength=n)
        begin = stop
    found = count[rank]
    return {"triangles": found, "total": int(found.sum()) // 3}


def cdlp(graph: GraphLike, *, max_iter: int, directed: bool) -> Mapping[str, Array]:
    """Labels after ``max_iter`` rounds, in each of which a vertex takes the most frequent label around it, of those as
    frequent the least.

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
    for _ in range(max_iter):
        previous = label
        pairs = np.sort(rows * n + previous[near])
        first = _begins(pairs)
        if not len(first):
            continue
        row, name = np.divmod(pairs[first], n)
        count = np.diff(np.append(first, len(pairs)))
        begin = _begins(row)
        most = np.repeat(np.maximum.reduceat(count, begin), np.diff(np.append(begin, len(row))))
        best = np.flatnonzero(count == most)  # names rise within a row
        best = best[_begins(row[best])]
        label = previous.copy()
        label[row[best]] = name[best]
    dtype = graph.targets.dtype
    return {"label": label.astype(dtype), "previous": previous.astype(dtype)}


KERNELS: Final[Mapping[str, NativeKernel]] = {"triangles": triangles, "cdlp": cdlp}
