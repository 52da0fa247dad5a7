"""Triangles and clustering: ``networkx.algorithms.cluster``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, implements

__all__: list[str] = []


def _multigraph(bound: Bound) -> str | None:
    return "parallel edges" if bound["G"].is_multigraph() else None


def _multigraph_nodes(bound: Bound) -> str | None:
    return None if bound["nodes"] is None else _multigraph(bound)


def _triangles(graph: BackendGraph) -> Array:
    """The number of triangles of each node of an undirected graph."""
    from dromos.networkx_backend.kernels.triangles import count_triangles

    rows, n = graph.symmetric_rows, len(graph)
    degree = np.diff(rows.offsets)
    rank = np.empty(n, np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(n)
    sources = np.repeat(np.arange(n), degree)
    upward = rank[sources] < rank[rows.targets]  # each edge at its end of lower degree, so that no list is long
    offsets = np.concatenate([[0], np.cumsum(np.bincount(sources[upward], minlength=n))])
    count = np.zeros(n, np.int64)
    count_triangles(offsets, rows.targets[upward], count)
    return count


@implements(worth=Worth.ITERATIVE, refuse=_multigraph_nodes)
def triangles(G: BackendGraph, nodes: Any = None) -> Any:
    return _for_nodes(G, nodes, _triangles(G).tolist())


def _for_nodes(graph: BackendGraph, nodes: Any, values: list[Any]) -> Any:
    """The value of one node, or those of several by node."""
    if nodes is not None and nodes in graph:
        return values[graph.index[nodes]]
    return {graph.nodes[number]: values[number] for number in graph.nbunch(nodes)}


def _coefficients(graph: BackendGraph, weight: Any) -> list[Any]:
    """The clustering coefficient of every node; the integer 0 if it has no triangle."""
    from scipy.sparse import csr_array

    from dromos.engines.native.closed_walks import closed_walks

    if not graph.directed and weight is None:
        rows = graph.symmetric_rows
        closed, degree = 2 * _triangles(graph), np.diff(rows.offsets)
        return _ratios(closed, degree * (degree - 1))
    keep = ~graph.is_loop
    values = np.ones(len(graph.targets))
    if weight is not None and len(graph.targets):
        each = graph.values(weight).each
        if each.max() == 0:
            raise NotImplementedError("the greatest weight is 0")
        values = np.cbrt(each / each.max())
    shape = (len(graph), len(graph))
    out = csr_array((values[keep], (graph.sources[keep], graph.targets[keep])), shape=shape)
    ones = csr_array((np.ones(keep.sum()), (graph.sources[keep], graph.targets[keep])), shape=shape)
    both = (out + out.T).tocsr() if graph.directed else out
    walked = Graph.from_csr(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data)
    closed = closed_walks(walked)["walks"]
    degree = np.asarray(ones.sum(axis=1)).ravel()
    if not graph.directed:
        return _ratios(closed, degree * (degree - 1))
    degree = degree + np.asarray(ones.sum(axis=0)).ravel()
    mutual = np.asarray(ones.multiply(ones.T).sum(axis=1)).ravel()
    return _ratios(closed, (degree * (degree - 1) - 2 * mutual) * 2)


def _ratios(part: Array, whole: Array) -> list[Any]:
    share = np.divide(part, whole, out=np.zeros(len(part)), where=part != 0)
    return [value or 0 for value in share.tolist()]


@implements(worth=Worth.ITERATIVE, refuse=_multigraph)
def clustering(G: BackendGraph, nodes: Any = None, weight: Any = None) -> Any:
    return _for_nodes(G, nodes, _coefficients(G, weight))


@implements(worth=Worth.ITERATIVE, refuse=_multigraph)
def average_clustering(G: BackendGraph, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> float:
    found = list(clustering(G, nodes, weight=weight).values())
    if not count_zeros:
        found = [value for value in found if abs(value) > 0]
    return float(sum(found) / len(found))


def _directed(bound: Bound) -> str | None:
    return "directed edges" if bound["G"].is_directed() else _multigraph(bound)


@implements(worth=Worth.ITERATIVE, refuse=_directed)
def transitivity(G: BackendGraph) -> float:
    degree = np.diff(G.symmetric_rows.offsets)
    closed = 2 * int(_triangles(G).sum())
    return closed / int((degree * (degree - 1)).sum()) if closed else 0


@implements(worth=Worth.ITERATIVE, refuse=_directed)
def square_clustering(G: BackendGraph, nodes: Any = None) -> Any:
    from dromos.networkx_backend.kernels.triangles import squares

    rows, numbers = G.symmetric_rows, np.array(G.nbunch(nodes), np.int64)
    part, whole = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.int64)
    squares(rows.offsets, rows.targets, numbers, part, whole)
    found = [a / b if b > 0 else 0 for a, b in zip(part.tolist(), whole.tolist(), strict=True)]
    return found[0] if nodes is not None and nodes in G else dict(zip(G.names(numbers), found, strict=True))


@implements(worth=Worth.ITERATIVE, refuse=_directed)
def generalized_degree(G: BackendGraph, nodes: Any = None) -> Any:
    from dromos.networkx_backend.kernels.triangles import support

    rows = G.symmetric_rows
    count = np.zeros(len(rows.targets), np.int64)
    support(rows.offsets, rows.targets, np.ones(len(rows.targets), bool), count)
    found = {G.nodes[number]: _counted(G, number, count) for number in G.nbunch(nodes)}
    return found[nodes] if nodes is not None and nodes in G else found


def _counted(graph: BackendGraph, number: int, count: Array) -> Counter[int]:
    """How many edges of a node have each ``count``, in NetworkX's order: that of a set of the neighbors."""
    rows = graph.symmetric_rows
    row = slice(rows.offsets[number], rows.offsets[number + 1])
    counts = count[row].tolist()
    if len(set(counts)) < 2:  # the order does not matter
        return Counter(counts)
    count_of = dict(zip(graph.names(rows.targets[row]), counts, strict=True))
    listed = graph.names(graph.targets[graph.offsets[number] : graph.offsets[number + 1]])
    return Counter(map(count_of.__getitem__, set(listed) - {graph.nodes[number]}))  # built as NetworkX builds it
