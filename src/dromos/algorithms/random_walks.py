"""Random walks, also biased as in node2vec.

Returns one row per walk: ``source`` and ``walk``, its ``length + 1`` vertices from the source on, filled up with -1
after a vertex without out-edges. A step chooses an edge in proportion to its weight, each parallel edge separately.
With ``p`` and ``q`` other than 1 it also depends on the previous step: going back counts ``1/p``, a neighbor of the
previous vertex counts 1, and any other vertex ``1/q``. The rows are a corpus for word2vec: vertices are words.

The same seed gives the same walks on any device and any number of threads. Perozzi, Al-Rfou and Skiena, "DeepWalk",
2014; Grover and Leskovec, "node2vec: scalable feature learning for networks", 2016.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import count_of, finite, sources_of_arcs, weight_range, weighted
from dromos.algorithms.many.sources import listed_ids
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.derived import derived
from dromos.runner import Options, Result, Session

__all__ = ["RandomWalksResult", "random_walks", "verify"]

_MOST_SEEDS = 2**63
_FEW_STEPS = 1 << 20  # which a CPU takes in milliseconds
_ARCS_A_STEP = 16  # a GPU has to have the graph first


class RandomWalksResult(Result):
    """What :func:`random_walks` returns."""

    source: Array
    walk: Array


def random_walks(
    graph: Graph,
    length: int = 80,
    walks: int = 10,
    sources: Iterable[Any] | None = None,
    p: float = 1.0,
    q: float = 1.0,
    seed: int = 0,
    weight: str | None = "weight",
    **how: Unpack[Options],
) -> RandomWalksResult:
    """Random walks: each step follows a random edge.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways. Weights must be 0 or more.
        length: the number of steps of a walk.
        walks: the number of walks from each source.
        sources: where walks begin (labels, or ids if the graph has no labels); all vertices by default.
        p: the return parameter; greater values make going back less likely.
        q: the in-out parameter; greater values make going further away less likely.
        seed: the random seed for all draws.
        weight: ``None`` ignores the graph's weights.
        how: ``device``, ``threads``; ``path`` is not supported. A GPU takes the same walks; without an explicit
            ``device``, a few walks run on the CPU. On a graph on disk (:func:`dromos.open`) all walks advance step by
            step, and the pages that a step needs are read within ``memory``. The walks themselves need memory beyond
            that.

    >>> import dromos as dr
    >>> result = dr.random_walks(dr.Graph.from_edges([0, 1], [1, 2]), length=3, walks=1)
    >>> result.walk.tolist()
    [[0, 1, 2, -1], [1, 2, -1, -1], [2, -1, -1, -1]]
    """
    session = Session("random_walks", graph, **how)
    on = weighted(graph, weight)
    weight_range(on, negative=False, infinite=False)
    steps, each = count_of(length, "length"), count_of(walks, "walks", 1)
    back, away = finite(p, "p", 1e-9, 1e9), finite(q, "q", 1e-9, 1e9)
    if count_of(seed, "seed") >= _MOST_SEEDS:
        raise InvalidArgumentError(f"seed={seed} is too large; give a number below 2^63")
    ids = np.arange(graph.num_vertices) if sources is None else listed_ids(graph, sources)
    if not on.sorted and (back, away) != (1.0, 1.0):
        if graph.on_disk:
            raise InvalidArgumentError(
                "p and q need rows sorted by id, and the rows of this store are not; use dr.read(path), which sorts "
                "them, or write the store from dr.Graph.from_edges(...), which sorts them too"
            )
        on = derived(on, "sorted", _sorted)
    if len(ids) * each * steps < max(_FEW_STEPS, on.num_arcs // _ARCS_A_STEP):
        session.little_to_do()
    starts = np.repeat(ids, each)
    found = session.host_native("walks", on, starts=starts, length=steps, p=back, q=away, seed=seed)["walk"]
    return session.result(
        RandomWalksResult,
        {"source": starts, "walk": found},
        vertex_fields={"source", "walk"},
        index="source",
        verifier=lambda result: verify(on, starts, steps, result["walk"]),
    )


def _sorted(graph: Graph) -> Graph:
    edges = graph.edges()
    return Graph.from_edges(
        edges.src, edges.dst, edges.weight, num_vertices=graph.num_vertices, directed=graph.directed
    )  # fmt: skip


def verify(graph: Graph, starts: Array, length: int, walk: Array) -> None:
    """Walks begin at their source, every step is an edge of weight above zero, and they end only where none leaves."""
    n = graph.num_vertices
    require(walk.shape == (len(starts), length + 1), "there is not one walk for each start")
    nowhere(walk[:, 0] != starts, "walk {} begins elsewhere")
    a, b = walk[:, :-1].ravel().astype(np.int64), walk[:, 1:].ravel().astype(np.int64)
    src, dst = sources_of_arcs(graph), graph.targets
    usable = np.ones(len(dst), dtype=bool) if graph.weights is None else graph.weights > 0
    keys = np.unique(src[usable].astype(np.int64) * n + dst[usable])
    steps = b >= 0
    nowhere(steps & (a < 0), "step {} goes on after the end of a walk")
    known = np.isin(np.where(steps, a * n + b, -1), keys)
    nowhere(steps & ~known, "step {} is no edge")
    leaves = np.bincount(src[usable], minlength=n) > 0
    nowhere((a >= 0) & ~steps & leaves[np.where(a < 0, 0, a)], "a walk ends before step {} where an edge leaves")
