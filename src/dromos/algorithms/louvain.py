"""Communities by the Louvain method.

Returns ``community`` (the number of each vertex's community; communities are numbered from 0 in the order of their
smallest vertices), ``hierarchy`` (one column per level, the finest first; the last is ``community``), and the numbers
``count`` and ``modularity``. Edges count by their weights, each parallel edge counts, and a self-loop belongs to its
vertex. A directed graph is refused.

Vertices move to the neighboring community that gains the most modularity. Vertices whose surroundings changed are
tried again, until no move gains. Then communities become the vertices of a smaller graph, and the procedure repeats. A
second round goes down again: on every level, from the top to the bottom, vertices move between the communities found,
and then communities merge as before (Rotta and Noack, "Multilevel local search algorithms for modularity clustering",
2011). The result depends on the order of the moves, so two orders are tried in parallel, and the better result is the
answer. The orders are drawn from ``seed``: the same seed gives the same communities on every CPU, on any number of
threads. On small graphs in which no degree stands out, such as meshes, one of the orders is that of the ids, which
often follow the shape. Blondel, Guillaume, Lambiotte and Lefebvre, "Fast unfolding of communities in large networks",
2008; the queue is that of Leiden. On levels of half a million arcs and more, vertices move in batches, for which
several threads look for the best communities.

Graphs on disk: vertices move by blocks of rows, until a pass gains less than 0.0001. Only pages with rows of vertices
that may still move are read. A seed gives other communities than in memory, but the same ones within any budget and on
any number of threads. Tries run one after the other, and each runs all rounds.

Slices, parts and ranks: vertices move in batches too. A seed gives the same communities however the graph is cut.

GPU: vertices of graphs with 131,072 arcs or more move in other batches, and in the second round only on the bottom
level. A seed gives other communities than on a CPU, but the same ones on every GPU.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import count_of, finite, sources_of_arcs, weight_range, weighted
from dromos.algorithms.modularity import modularity_by_sums, modularity_of
from dromos.algorithms.triangles import require_undirected
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["CommunitiesResult", "find_communities", "louvain", "verify"]


class CommunitiesResult(Result):
    """What :func:`louvain` and :func:`dromos.leiden` return."""

    group_field = "community"
    community: Array
    hierarchy: Array
    count: int
    modularity: float


def louvain(
    graph: Graph,
    resolution: float = 1.0,
    seed: int = 0,
    rounds: int = 2,
    tries: int = 2,
    weight: str | None = "weight",
    **how: Unpack[Options],
) -> CommunitiesResult:
    """Communities of high modularity, with their hierarchy.

    Args:
        graph: undirected; weights must be 0 or more.
        resolution: values above 1 give smaller communities, values below 1 larger ones.
        seed: the random seed for the order in which vertices move.
        rounds: the maximum number of rounds of moving vertices from the bottom up, each from the communities found
            before. The run stops early when a round gains less than 0.00001.
        tries: how often the first round runs, each time in another order. The best two continue in parallel, on a
            GPU only the best.
        weight: ``None`` ignores the graph's weights.
        how: ``device``, ``threads``, and ``memory`` for a graph on disk; ``path`` is not supported.

    >>> import dromos as dr
    >>> two = dr.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], directed=False)
    >>> result = dr.louvain(two)
    >>> result.community.tolist(), round(result.modularity, 4)
    ([0, 0, 0, 1, 1, 1], 0.3571)
    """
    session = Session("louvain", graph, **how)
    return find_communities(session, graph, resolution, seed, rounds, tries, weight, refined=False)


def find_communities(
    session: Session,
    graph: Graph,
    resolution: float,
    seed: int,
    rounds: int,
    tries: int,
    weight: str | None,
    *,
    refined: bool,
) -> CommunitiesResult:
    """What :func:`louvain` and :func:`dromos.leiden` share."""
    require_undirected(graph, session.name)
    on = weighted(graph, weight)
    weight_range(on, negative=False, infinite=False)
    gamma = finite(resolution, "resolution", 0, np.finfo(np.float64).max)
    options = {
        "resolution": gamma, "seed": count_of(seed, "seed"), "rounds": count_of(rounds, "rounds", 1),
        "tries": count_of(tries, "tries", 1), "refined": refined,
    }  # fmt: skip
    if session.in_slices("communities"):
        fields = session.require_native("communities", on, weighted=on.weights is not None, **options)
    else:
        fields = session.host_native("communities", on, **options)
    levels = fields["levels"]
    community = levels[-1]
    if "sums" in fields:  # a kernel that knows them
        inside, degree = fields["sums"]
        found = modularity_by_sums(inside, degree, gamma)
    else:
        found = modularity_of(on, community, gamma, session.threads)
    return session.result(
        CommunitiesResult,
        {"community": community, "hierarchy": lambda: np.stack(levels, axis=1)},
        values={"count": int(community.max(initial=-1)) + 1, "modularity": found},
        verifier=lambda result: verify(
            on, result["community"], result["hierarchy"], result.modularity, gamma, connected=refined
        ),
    )


def verify(
    graph: Graph, community: Array, hierarchy: Array, value: float, resolution: float, *, connected: bool = False
) -> None:
    """No two communities gain by merging, each level lies within the next, and the modularity is as said.

    ``connected``: each community is one piece, which Leiden promises and Louvain does not.
    """
    n = graph.num_vertices
    require(len(community) == n and len(hierarchy) == n, "there is not one community for each vertex")
    if n == 0:
        return
    count = int(community.max()) + 1
    require(len(np.unique(community)) == count and community.min() >= 0, "the communities are not numbered from 0 on")
    nowhere(hierarchy[:, -1] != community, "vertex {} has another community on the last level")
    for finer, coarser in zip(hierarchy.T[:-1], hierarchy.T[1:], strict=True):
        holder = np.zeros(finer.max() + 1, dtype=coarser.dtype)
        holder[finer] = coarser
        nowhere(holder[finer] != coarser, "vertex {} is in one community with another, but not on the level above")
    import scipy.sparse as sp

    src, dst = sources_of_arcs(graph), graph.targets
    weights = np.ones(len(dst)) if graph.weights is None else graph.weights.astype(np.float64)
    between = sp.coo_array((weights, (community[src], community[dst])), shape=(count, count)).tocsr()
    loops = np.bincount(community[src[src == dst]], weights=weights[src == dst], minlength=count)
    degree = np.asarray(between.sum(axis=1)).ravel() + loops
    total = degree.sum()
    if total == 0:
        require(count == n, "vertices without edges are in one community")
        return
    inside = (between.diagonal() + loops).sum() / total
    expected = inside - resolution * ((degree / total) ** 2).sum()
    require(abs(value - expected) <= 1e-9 * max(1.0, resolution), f"the modularity is {expected:g}, not {value:g}")
    pairs = between.tocoo()
    a, b = pairs.coords
    gain = pairs.data - resolution * degree[a] * degree[b] / total
    merging = (a != b) & (gain > 1e-9 * (1 + np.minimum(degree[a], degree[b])))
    require(not merging.any(), "two communities would gain by merging")
    if connected:
        from scipy.sparse.csgraph import connected_components as count_parts

        inner = (community[src] == community[dst]) & (weights > 0)
        pieces, _ = count_parts(sp.coo_array((weights[inner], (src[inner], dst[inner])), shape=(n, n)), directed=False)
        require(pieces == count, f"the {count} communities fall into {pieces} pieces")
