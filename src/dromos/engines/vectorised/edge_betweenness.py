"""Betweenness of edges on whole arrays: for each source, one search level by level, and one backward pass."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.engines import Tell
from dromos.engines.edge_sums import sums_by_edge
from dromos.engines.vectorised.arcs import places_of
from dromos.graph import Graph

__all__ = ["edge_betweenness"]


def edge_betweenness(graph: Graph, *, sources: Array, directed: bool, tell: Tell | None = None) -> Mapping[str, Array]:
    """The share of shortest paths from ``sources`` that use each edge of a simple graph, summed over targets.

    ``through`` has one entry per arc; unless ``directed``, one per edge, beside ``source`` and ``target``.

    >>> import dromos as dr
    >>> edge_betweenness(dr.generators.path(3), sources=np.arange(1), directed=False)["through"].tolist()
    [2.0, 1.0]
    """
    through = np.zeros(graph.num_arcs)
    owner = np.repeat(np.arange(graph.num_vertices), np.diff(graph.offsets))
    for number, source in enumerate(sources.tolist()):
        _add_from(graph, owner, source, through, tell)
        if tell is not None:
            tell((number + 1) / len(sources))
    return {"through": through} if directed else sums_by_edge(graph, through)


def _add_from(graph: Graph, owner: Array, source: int, through: Array, tell: Tell | None) -> None:
    """Add the contribution of the shortest paths from one source; path counts have separate exponents."""
    n = graph.num_vertices
    level, paths, depends = np.full(n, -1, np.int32), np.zeros(n), np.zeros(n)
    exponent = np.zeros(n, np.int64)
    level[source], paths[source] = 0, 1.0
    frontier, depth = np.array([source]), 0
    used: list[Array] = []  # the arcs of shortest paths, level by level
    while len(frontier):
        depth += 1
        arcs = places_of(graph.offsets, frontier)
        ends = graph.targets[arcs]
        arcs = arcs[level[ends] < 0]
        ends = graph.targets[arcs]
        frontier = np.unique(ends)
        level[frontier] = depth
        tails = owner[arcs]
        np.maximum.at(exponent, ends, exponent[tails])
        np.add.at(paths, ends, np.ldexp(paths[tails], exponent[tails] - exponent[ends]))
        paths[frontier], more = np.frexp(paths[frontier])
        exponent[frontier] += more
        used.append(arcs)
        if tell is not None:
            tell(0.0)
    for arcs in reversed(used):
        tails, heads = owner[arcs], graph.targets[arcs]
        share = np.ldexp(paths[tails] / paths[heads], exponent[tails] - exponent[heads])
        part = share * (1.0 + depends[heads])
        through[arcs] += part
        np.add.at(depends, tails, part)
