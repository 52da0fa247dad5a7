"""Communities by the Leiden method.

Returns what :func:`dromos.louvain` returns, for the same graphs. Between moving vertices and aggregating communities,
each community is refined: its vertices merge again, from single ones on, into well-connected parts, and the
parts become the vertices of the smaller graph. So no community falls into pieces, and parts may move on by themselves;
the columns of ``hierarchy`` are the parts, and last the communities.

Vertices move in an order drawn from ``seed``; the tries run side by side, and large levels on several threads, with the
same communities on any number of them, and others on a GPU and from disk, as with :func:`dromos.louvain`. From disk,
where the graph of parts does not fit the budget, the connected pieces of communities are aggregated instead. Parts are
chosen by the greatest gain, not at random in proportion to it. Traag, Waltman and van Eck, "From Louvain to Leiden:
guaranteeing well-connected communities", 2019.
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
        graph: undirected; weights from zero on.
        resolution: above 1 communities become smaller, below 1 larger.
        seed: of the order in which vertices move.
        rounds: how often vertices move from the bottom up, each time from the communities found before;
            fewer where one gains less than 0.00001, on a GPU where one changes nothing.
        tries: how often the first round is made, each time in another order; the best two go on side by side for two
            rounds, and then the better one.
        weight: ``None`` leaves the graph's weights out.
        how: ``device``, ``threads``, and ``memory`` for a graph on disk; there are no paths to choose from.

    >>> import dromos as dr
    >>> two = dr.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], directed=False)
    >>> result = dr.leiden(two)
    >>> result.community.tolist(), result.count
    ([0, 0, 0, 1, 1, 1], 2)
    """
    session = Session("leiden", graph, **how)
    return find_communities(session, graph, resolution, seed, rounds, tries, weight, refined=True)
