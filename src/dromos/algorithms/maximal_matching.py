"""Maximal matching.

Returns ``mate`` (the vertex that each is matched with; -1 without one) and the numbers ``count`` (of pairs) and
``total_weight``. No two pairs share a vertex, and no edge joins two vertices without a mate, so there are at least half
as many pairs as in a largest matching. Self-loops and edge directions are ignored.

With weights, edges are taken from the heaviest down; of equal edges the first by its ends is taken. This reaches at
least half of the greatest possible weight. Preis, "Linear time 1/2-approximation algorithm for maximum weighted
matching in general graphs", 1999. Without weights, vertices choose in turn, those with the fewest neighbors first,
because they are the most likely to be left without a mate. Each takes the first of its free neighbors that have about
the fewest neighbors themselves, to within a factor of two. A GPU works in rounds and takes at once all edges that come
before all others at both of their ends; the pairs are the same.

On an engine without a kernel for this, programs find the first edge of each vertex, and rounds are as on a GPU
(:mod:`dromos.algorithms.matching_rounds`). Preis's algorithm by rounds: Hoepman, "Simple distributed weighted
matchings", 2004.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import symmetric, total_of, weight_range, weighted
from dromos.algorithms.matching_rounds import by_turns, by_weights
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["MatchingResult", "maximal_matching", "verify"]

_BYTES_PER_VERTEX = 160  # what rounds of programs hold in between; half of it where choices make no long chains


class MatchingResult(Result):
    """What :func:`maximal_matching` returns."""

    mate: Array
    count: int
    total_weight: float


def maximal_matching(graph: Graph, weight: str | None = "weight", **how: Unpack[Options]) -> MatchingResult:
    """A maximal set of pairs of neighbors in which every vertex occurs at most once.

    Args:
        graph: any; weights must be 0 or more.
        weight: ``None`` ignores the graph's weights.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs programs instead of the kernel.
            In the CPU kernel one thread selects edges and all threads discard edges.

    >>> import dromos as dr
    >>> dr.maximal_matching(dr.generators.path(5)).mate.tolist()
    [1, 0, -1, 4, 3]
    >>> dr.maximal_matching(dr.Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 5, 1], directed=False)).mate.tolist()
    [-1, 2, 1, -1]
    """
    session = Session("maximal_matching", graph, **how)
    on = weighted(graph, weight)
    weight_range(on, negative=False)
    if on.weights is None:
        on = symmetric(on)
    fields = session.native_or_left("matching", on)
    if fields is None:
        session.hold_beside_programs(_BYTES_PER_VERTEX)
        fields = by_turns(session, on) if on.weights is None else by_weights(session, on)
    mate = fields["mate"]
    count = int(np.count_nonzero(mate >= 0)) // 2
    total = float(count) if on.weights is None else total_of(fields["weight"])
    return session.result(
        MatchingResult,
        {"mate": mate},
        values={"count": count, "total_weight": total},
        vertex_fields={"mate"},
        verifier=lambda result: verify(on, result["mate"], total),
    )


def verify(graph: Graph, mate: Array, total: float) -> None:
    """Mates are mutual neighbors, no edge is left over, and no edge outweighs both pairs at its ends.

    The last holds for a matching that was taken from the heaviest edge on, and makes it weigh at least half of any.
    """
    n, edges = graph.num_vertices, graph.edges()
    ids = np.arange(n)
    matched = mate >= 0
    nowhere(matched & (mate[np.where(matched, mate, 0)] != ids), "vertex {} is not the mate of its mate")
    nowhere(mate == ids, "vertex {} is matched with itself")
    real = edges.src != edges.dst
    src, dst = edges.src[real], edges.dst[real]
    weights = np.ones(len(src)) if edges.weight is None else edges.weight[real].astype(np.float64)
    of_pair = np.full(n, -1.0)
    for a, b in ((src, dst), (dst, src)):
        inner = mate[a] == b
        np.maximum.at(of_pair, a[inner], weights[inner])
    nowhere(matched & (of_pair < 0), "vertex {} is no neighbor of its mate")
    nowhere(~matched[src] & ~matched[dst], "edge {} is left over")
    nowhere(weights > np.maximum(of_pair[src], of_pair[dst]), "edge {} outweighs the pairs at both of its ends")
    weight = of_pair[matched].sum() / 2
    require(weight == total or abs(weight - total) <= 1e-6 * max(total, 1), f"the pairs do not weigh {total:g}")
