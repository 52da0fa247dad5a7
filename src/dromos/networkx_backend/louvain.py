"""Communities by modularity: ``networkx.algorithms.community.louvain`` and ``leiden``.

Louvain's result is NetworkX's own for the same seed: nodes move in the same order, and edges are listed as its
dictionaries would list them. Leiden, which NetworkX leaves to backends, is that of :func:`dromos.leiden`.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, implements

__all__ = ["sets_of_labels"]

Partition = list[set[Any]]


class _Level(NamedTuple):
    """A graph in the order of NetworkX's dictionaries: rows by when their edges were added."""

    offsets: Array
    targets: Array
    weights: Array
    sources: Array
    degree: Array

    @classmethod
    def of_edges(cls, n: int, a: Array, b: Array, weights: Array) -> _Level:
        """From edges in the order in which they are added, each pair of ends once."""
        loop = a == b
        src, dst = np.concatenate([a, b[~loop]]), np.concatenate([b, a[~loop]])
        added = np.concatenate([np.arange(len(a)), np.flatnonzero(~loop)])
        order = np.lexsort((added, src))
        sources, each = src[order], weights[added[order]]
        degree = np.bincount(sources, weights=each, minlength=n)
        np.add.at(degree, a[loop], weights[loop])  # the second end of a loop comes last
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=n))])
        return cls(offsets, dst[order], each, sources, degree)

    @property
    def once(self) -> Array:
        """The arcs that NetworkX lists as edges, in its order."""
        return np.flatnonzero(self.targets >= self.sources)

    def merged(self, community: Array, count: int) -> _Level:
        """The graph of the communities: an edge where there was one, with the sum of the weights."""
        once = self.once
        a, b = community[self.sources[once]], community[self.targets[once]]
        key = np.minimum(a, b) * count + np.maximum(a, b)
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        total = np.bincount(which, weights=self.weights[once])
        order = np.argsort(first)
        return _Level.of_edges(count, a[first[order]], b[first[order]], total[order])

    def modularity(self, community: Array, resolution: float, m: float) -> float:
        """As ``nx.community.modularity``."""
        once = self.once
        inside = community[self.sources[once]] == community[self.targets[once]]
        within = self.weights[once][inside].sum()
        total = np.bincount(community, weights=self.degree)
        return float(within / m - resolution * (total**2).sum() / (2 * m) ** 2)


def _directed(bound: Bound) -> str | None:
    return "directed edges" if bound["G"].is_directed() else None


def _first_level(graph: BackendGraph, weight: Any) -> _Level:
    once = np.flatnonzero(graph.sources <= graph.targets)
    if weight is not None:
        each = graph.values(weight).total
        if len(each) and each.min() < 0:
            raise NotImplementedError("some weights are negative")
    else:
        each = np.ones(len(graph.targets)) if graph.multiplicity is None else graph.multiplicity.astype(float)
    return _Level.of_edges(len(graph), graph.sources[once].astype(np.int64), graph.targets[once], each[once])


@implements(worth=Worth.ITERATIVE, refuse=_directed)
def louvain_partitions(
    G: BackendGraph, weight: Any = "weight", resolution: float = 1, threshold: float = 0.0000001, seed: Any = None
) -> Iterator[Partition]:
    level = _first_level(G, weight)
    m = float(level.degree.sum() / 2)
    if len(level.targets) and m == 0:
        raise NotImplementedError("the weights sum to zero")
    return _partitions(G, level, m, resolution, threshold, seed)


def _partitions(
    graph: BackendGraph, level: _Level, m: float, resolution: float, threshold: float, seed: Any
) -> Iterator[Partition]:
    label = np.arange(len(graph))
    if not len(level.targets):
        yield sets_of_labels(graph, label)
        return
    found = level.modularity(label, resolution, m)
    inner, _ = _one_level(level, m, resolution, seed)
    improved = True
    while improved:
        label = inner[label]
        yield sets_of_labels(graph, label)
        before, found = found, level.modularity(inner, resolution, m)
        if found - before <= threshold:
            return
        level = level.merged(inner, int(inner.max()) + 1)
        inner, improved = _one_level(level, m, resolution, seed)


def _one_level(level: _Level, m: float, resolution: float, seed: Any) -> tuple[Array, bool]:
    """The community of each node, renumbered without gaps, and whether any node moved."""
    from dromos.networkx_backend.kernels.louvain import move_all

    order = list(range(len(level.degree)))
    seed.shuffle(order)
    community = np.arange(len(order))
    improved = move_all(
        level.offsets, level.targets.astype(np.int64), level.weights, level.degree, np.array(order, np.int64),
        m, float(resolution), community,
    )  # fmt: skip
    return np.unique(community, return_inverse=True)[1], bool(improved)


def sets_of_labels(graph: BackendGraph, label: Array) -> Partition:
    """The nodes of each label, in the order of labels."""
    order = np.argsort(label, kind="stable")
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    return [set(graph.names(part)) for part in np.split(order, cuts)] if len(label) else []


def _last(partitions: Iterator[Partition], max_level: int | None) -> Partition:
    if max_level is not None:
        if max_level <= 0:
            raise ValueError("max_level argument must be a positive integer or None")
        partitions = islice(partitions, max_level)
    return deque(partitions, maxlen=1).pop()


@implements(worth=Worth.ITERATIVE, refuse=_directed)
def louvain_communities(
    G: BackendGraph,
    weight: Any = "weight",
    resolution: float = 1,
    threshold: float = 0.0000001,
    max_level: int | None = None,
    seed: Any = None,
) -> Partition:
    return _last(louvain_partitions(G, weight, resolution, threshold, seed), max_level)


@implements(worth=Worth.ITERATIVE, refuse=_directed)
def leiden_partitions(
    G: BackendGraph, weight: Any = "weight", resolution: float = 1, seed: Any = None
) -> Iterator[Partition]:
    from dromos.algorithms import leiden
    from dromos.graph import Graph

    level = _first_level(G, weight)
    once = level.once
    graph = Graph.from_edges(
        level.sources[once], level.targets[once], level.weights[once], num_vertices=len(G), directed=False
    )
    found = leiden(graph, resolution=resolution, seed=seed.randrange(2**31))
    return iter([sets_of_labels(G, column) for column in found.hierarchy.T])


@implements(worth=Worth.ITERATIVE, refuse=_directed)
def leiden_communities(
    G: BackendGraph, weight: Any = "weight", resolution: float = 1, max_level: int | None = None, seed: Any = None
) -> Partition:
    return _last(leiden_partitions(G, weight, resolution, seed), max_level)
