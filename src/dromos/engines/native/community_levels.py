"""What the compiled and the plain steps of Louvain and Leiden have in common."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph
from dromos.parallel import in_blocks

__all__ = ["HUB", "LEAST_GAIN", "Level", "Steps", "strength_of", "weight_within"]

_BLOCK: Final = 1 << 16  # arcs that are compared at a time: what is made of them fits a core's own cache

LEAST_GAIN: Final = 1e-10
"""A gain that counts, relative to the strength of the vertex; rounding must not move it for ever."""

HUB: Final = 256
"""Arcs of a vertex from which on it is not looked at again for every neighbour that moves. For lesser ones it would
save little, and from 64 on communities of preferential attachment come out a little worse."""


class Level(NamedTuple):
    """A graph of communities; ``weights`` of size 0 stand for ones."""

    offsets: Array
    targets: Array
    weights: Array
    strength: Array

    @classmethod
    def of(cls, *arrays: Array) -> Level:
        """Of arrays that kernels only read, whoever made them: so they are compiled once for all levels."""
        return cls(*map(read_only, arrays))

    @property
    def size(self) -> int:
        return len(self.strength)


def weight_within(sources: Array, targets: Array, weights: Array | None, community: Array) -> float:
    """The weight of the arcs within communities; ``weights``: None for ones.

    >>> ends = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    >>> weight_within(*ends, None, np.array([5, 5, 6]))
    2.0
    """
    found = np.zeros(-(-len(targets) // _BLOCK))

    def add(begin: int, end: int) -> None:
        inner = community[sources[begin:end]] == community[targets[begin:end]]
        if weights is None:
            found[begin // _BLOCK] = np.count_nonzero(inner)
        else:
            found[begin // _BLOCK] = weights[begin:end][inner].sum(dtype=np.float64)

    in_blocks(add, len(targets), _BLOCK)
    return float(found.sum())


def strength_of(graph: Graph, sources: Array) -> Array:
    """The sum of the weights at each vertex; a self-loop counts twice. ``sources``: of all arcs.

    >>> import dromos as dr
    >>> strength_of(dr.Graph.from_edges([0, 1], [1, 1], directed=False), np.array([0, 1, 1])).tolist()
    [1.0, 3.0]
    """
    n, weights = graph.num_vertices, graph.weights
    loops = sources == graph.targets
    if weights is None:
        once: Array = graph.out_degree.astype(np.float64)
    else:
        once = np.bincount(sources, weights=weights, minlength=n).astype(np.float64)
    if not loops.any():
        return once
    again: Array = np.bincount(sources[loops], weights=None if weights is None else weights[loops], minlength=n)
    return once + again


class Steps(Protocol):
    """Moving, refinement and aggregation on one level; arrays that are given may be overwritten."""

    def move(self, level: Level, scale: float, community: Array, total: Array, size: Array, order: Array) -> Array:
        """The communities after moves from ``community``, first visits in ``order``; ``total`` and ``size`` are the
        sums of strengths and the members of each."""

    def refine(self, level: Level, scale: float, community: Array, total: Array, order: Array) -> Array:
        """The well-connected part of its community that each vertex is in."""

    def aggregate(self, level: Level, group: Array, starts: Array, order: Array) -> tuple[Array, Array, Array]:
        """Offsets, targets and weights of the graph of groups; ``order`` has the vertices by group."""

    def within(self, level: Level, group: Array) -> float:
        """The weight of the arcs within groups, self-loops among them."""
