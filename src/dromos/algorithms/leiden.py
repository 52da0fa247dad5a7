"""Communities by the Leiden method.

Returns what :func:`dromos.louvain` returns, for the same graphs. Between moving vertices and aggregating communities,
each community is refined: starting from single vertices, its vertices merge again into well-connected parts, and the
parts become the vertices of the smaller graph. So no community falls into pieces, and parts can move on their own. The
columns of ``hierarchy`` are the parts; the last column is the communities.

Vertices move in an order drawn from ``seed``. Tries run in parallel, and large levels use several threads. The
communities do not depend on the number of threads; they differ on a GPU and from disk, as with :func:`dromos.louvain`.
From disk, if the graph of parts does not fit the budget, the connected pieces of communities are aggregated instead.
Parts are chosen by the greatest gain, not at random in proportion to it. Traag, Waltman and van Eck, "From Louvain to
Leiden: guaranteeing well-connected communities", 2019.
"""

from __future__ import annotations

from typing import Unpack

from dromos.algorithms.louvain import CommunitiesResult, find_communities, verify
from dromos.graph import Graph
from dromos.runner import Options, Session

__all__ = ["leiden", "verify"]


def leiden(
    graph: Graph,
    resolution: float = 1.0,
    seed: int = 0,
    rounds: int = 6,
    tries: int = 4,
    weight: str | None = "weight",
    **how: Unpack[Options],
) -> CommunitiesResult:
    """Connected communities of high modularity, with their hierarchy.

    Args:
        graph: undirected; weights must be 0 or more.
        resolution: values above 1 give smaller communities, values below 1 larger ones.
        seed: the random seed for the order in which vertices move.
        rounds: the maximum number of rounds of moving vertices from the bottom up, each from the communities found
            before. The run stops early when a round gains less than 0.00001, on a GPU when a round changes nothing.
        tries: how often the first round runs, each time in another order. The best two continue in parallel for two
            rounds, then the better one alone.
        weight: ``None`` ignores the graph's weights.
        how: ``device``, ``threads``, and ``memory`` for a graph on disk; ``path`` is not supported.

    >>> import dromos as dr
    >>> two = dr.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], directed=False)
    >>> result = dr.leiden(two)
    >>> result.community.tolist(), result.count
    ([0, 0, 0, 1, 1, 1], 2)
    """
    session = Session("leiden", graph, **how)
    return find_communities(session, graph, resolution, seed, rounds, tries, weight, refined=True)
