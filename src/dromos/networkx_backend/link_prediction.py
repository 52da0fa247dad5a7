"""Scores of pairs of nodes: ``networkx.algorithms.link_prediction``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, implements

__all__: list[str] = []

Pairs = Iterable[tuple[Any, Any]]
Scores = Iterator[tuple[Any, Any, Any]]
_AT_ONCE = 1 << 16  # pairs


class _Common(NamedTuple):
    """For each pair: its nodes, common neighbors without the pair itself, with it, and the sum of their values."""

    left: Array
    right: Array
    common: Array
    with_pair: Array
    total: Array


def _once_only(bound: Bound) -> str | None:
    return "pairs can be read only once" if isinstance(bound["ebunch"], Iterator) else None


def _non_edges(graph: BackendGraph) -> Iterator[tuple[Any, Any]]:
    """The pairs that are not edges, in the order of the sets that NetworkX iterates over."""
    nodes = set(graph.nodes)
    while nodes:
        node = nodes.pop()
        number = graph.index[node]
        row = graph.targets[graph.offsets[number] : graph.offsets[number + 1]]
        for other in nodes - set(graph.names(row)):
            yield node, other


def _scored(graph: BackendGraph, ebunch: Any, value: Array | None, score: Callable[[_Common], Iterable[Any]]) -> Scores:
    """Score all pairs of ``ebunch``, some at a time; nodes are looked up at once, as in NetworkX."""
    if ebunch is not None:
        for pair in ebunch:
            left, right = pair
            for node in (left, right):
                if node not in graph:
                    raise nx.NodeNotFound(f"Node {node} not in G.")
    return _in_parts(graph, iter(_non_edges(graph) if ebunch is None else ebunch), value, score)


def _in_parts(
    graph: BackendGraph,
    pairs: Iterator[tuple[Any, Any]],
    value: Array | None,
    score: Callable[[_Common], Iterable[Any]],
) -> Scores:
    from dromos.networkx_backend.kernels.triangles import common_neighbours

    rows = graph.sorted_rows
    values = np.zeros(len(graph)) if value is None else value
    while part := list(islice(pairs, _AT_ONCE)):
        left, right = (graph.numbers(column) for column in zip(*part, strict=True))
        count, both, total = np.empty(len(part), np.int64), np.empty(len(part), np.int64), np.empty(len(part))
        common_neighbours(rows.offsets, rows.targets, left, right, values, count, both, total)
        for (u, v), one in zip(part, score(_Common(left, right, count, both, total)), strict=True):
            yield u, v, one


@implements(refuse=_once_only)
def resource_allocation_index(G: BackendGraph, ebunch: Any = None) -> Scores:
    value = np.divide(1.0, G.degree, out=np.zeros(len(G)), where=G.degree > 0)
    return _scored(G, ebunch, value, _totals)


def _totals(common: _Common) -> Iterable[Any]:
    """The sums, or the integer 0 if there is nothing to add up."""
    return (total if count else 0 for total, count in zip(common.total.tolist(), common.common.tolist(), strict=True))


@implements(refuse=_once_only)
def adamic_adar_index(G: BackendGraph, ebunch: Any = None) -> Scores:
    logarithm = np.log(np.maximum(G.degree, 1))
    value = np.divide(1.0, logarithm, out=np.full(len(G), np.inf), where=logarithm > 0)

    def score(common: _Common) -> Iterable[Any]:
        if np.isinf(common.total).any():  # a neighbor of one node only, which the pair names twice
            raise ZeroDivisionError("float division by zero")
        return _totals(common)

    return _scored(G, ebunch, value, score)


@implements(refuse=_once_only)
def jaccard_coefficient(G: BackendGraph, ebunch: Any = None) -> Scores:
    neighbours = np.diff(G.offsets)

    def score(common: _Common) -> Iterable[Any]:
        union = neighbours[common.left] + neighbours[common.right] - common.with_pair
        return (
            part / whole if whole else 0 for part, whole in zip(common.common.tolist(), union.tolist(), strict=True)
        )

    return _scored(G, ebunch, None, score)


@implements(refuse=_once_only)
def preferential_attachment(G: BackendGraph, ebunch: Any = None) -> Scores:
    return _scored(G, ebunch, None, lambda common: (G.degree[common.left] * G.degree[common.right]).tolist())


def _by_distance(bound: Bound) -> str | None:
    return _once_only(bound) or (None if bound["alpha"] == 1 else "distances between all pairs count")


@implements(refuse=_by_distance)
def common_neighbor_centrality(G: BackendGraph, ebunch: Any = None, alpha: float = 0.8) -> Scores:
    def score(common: _Common) -> Iterable[Any]:
        for left, right, count in zip(common.left, common.right, common.common.tolist(), strict=True):
            if left == right:
                raise nx.NetworkXAlgorithmError("Self loops are not supported")
            yield count

    return _scored(G, ebunch, None, score)
