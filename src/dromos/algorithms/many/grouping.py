"""Which sources are searched from together.

Searches of a group share the visit to a vertex that they come to in the same level, so those belong together that soon
meet. The rules are those of iBFS's GroupBy (Liu, Huang and Hu, "iBFS: concurrent breadth-first search on GPUs", SIGMOD
2016): sources of fewer than ``p`` out-edges that lead to a common vertex of more than ``q``. From a source with few
other ways the search goes through the hub, and from there on the searches are one. The measure is the sharing degree,
in how many searches of a group a vertex of the joint frontier is at once; every trace has it for each group.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.algorithms.arguments import count_of
from dromos.algorithms.verifying import expand
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph

__all__ = ["GROUPINGS", "by_hubs", "grouped"]

GROUPINGS: Final = ("auto", "random", "by-hubs")
_STEPS: Final = (4, 16, 64, 128)  # p, one after the other
_ARCS: Final = 1 << 20  # looked at together


def grouped(
    graph: Graph, sources: Array, size: int, grouping: str = "auto", q: int = 128, seed: int | None = None
) -> list[Array]:
    """The positions of ``sources`` in groups of ``size``, the last one smaller.

    ``auto`` takes the rules where there is more than one group and a vertex of more than ``q`` out-edges, and the rows
    of the sources, which the rules look at, are in memory.

    >>> import dromos as dr
    >>> [group.tolist() for group in grouped(dr.generators.path(5), np.array([4, 0, 2]), 2)]
    [[0, 1], [2]]
    """
    if grouping not in GROUPINGS:
        raise InvalidArgumentError(f"grouping={grouping!r} is not one of {', '.join(map(repr, GROUPINGS))}")
    if grouping == "by-hubs" and graph.on_disk:
        raise InvalidArgumentError(
            "grouping='by-hubs' reads the rows of all sources, which stay on disk; leave it out, or use dr.read(path)"
        )
    least = count_of(q, "q", low=1)
    seed = None if seed is None else count_of(seed, "seed")
    order = np.arange(len(sources))
    if grouping == "random":
        order = np.random.default_rng(seed).permutation(order)
    elif grouping == "by-hubs" or (
        len(sources) > size and not graph.on_disk and int(graph.out_degree.max(initial=0)) > least
    ):
        order = by_hubs(graph, sources, least, seed)
    return [order[begin : begin + size] for begin in range(0, len(order), size)]


def by_hubs(graph: Graph, sources: Array, q: int = 128, seed: int | None = None) -> Array:
    """The positions of ``sources`` in an order in which neighbors obey the rules; those that none fits come last.

    Sources of one hub stand together, those with the fewest out-edges first; hubs follow each other by degree. What is
    left is shuffled.

    >>> import dromos as dr
    >>> star = dr.generators.star(200)
    >>> by_hubs(star, np.array([0, 5, 9])).tolist()
    [1, 2, 0]
    """
    degree = graph.out_degree
    hub = np.full(len(sources), -1, dtype=np.int64)
    few = np.flatnonzero((degree[sources] < _STEPS[-1]) & (degree[sources] > 0))
    ends = np.cumsum(degree[sources[few]])
    begin = 0
    while begin < len(few):
        done = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _ARCS, side="right")))
        some = few[begin:end]
        _, arcs = expand(graph, sources[some])
        heads = graph.targets[arcs].astype(np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), ends[begin : end - 1] - done])
        # the neighbor of the greatest degree, of equals the one with the least id
        best = np.maximum.reduceat(degree[heads] * graph.num_vertices + (graph.num_vertices - 1 - heads), starts)
        reaches = best // graph.num_vertices > q
        hub[some[reaches]] = (graph.num_vertices - 1 - best % graph.num_vertices)[reaches]
        begin = end
    fits = np.flatnonzero(hub >= 0)
    step = np.searchsorted(_STEPS, degree[sources[fits]], side="right")
    order = np.lexsort((step, hub[fits], -degree[hub[fits]]))
    rest = np.random.default_rng(seed).permutation(np.flatnonzero(hub < 0))
    return np.concatenate([fits[order], rest])
