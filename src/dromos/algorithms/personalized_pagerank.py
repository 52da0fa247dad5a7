"""Personalized PageRank from many seeds at once.

Returns one row per seed: ``source`` and ``rank``, the probability of finding a random walker at each vertex who goes
back to the seed with probability ``1 - alpha`` at every step. A row equals ``pagerank`` with all jumps to the seed, for
the same ``tol``: a row is final when it changes by less than ``tol`` in total, and its group when all of its rows are.

One program serves a group of seeds: a vertex has a vector with an entry for each seed, so that an edge is visited once
for all of them. Edges are chosen in proportion to their weights, each parallel edge separately; from a vertex without
out-edges the walker goes back to the seed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import count_of, finite, weight_range, weighted
from dromos.algorithms.limits import check_on_limit, settled
from dromos.algorithms.many.sources import vertex_ids
from dromos.algorithms.pagerank import out_strength
from dromos.algorithms.pagerank import verify as verify_row
from dromos.algorithms.verifying import require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, array_module

__all__ = ["PersonalizedPageRankResult", "personalized_pagerank", "seeds_program", "verify"]

_LANES = (2, 8)  # seeds that run together: few, or many
_CHECKED = 16


@cache
def seeds_program(lanes: int, weights: bool = False) -> type[dr.Program]:
    """The program for ``lanes`` seeds at once, with or without weights.

    The whole walker starts at the seed: changes then sum to zero, and die out as fast as the graph mixes, not only by
    ``alpha`` in each step. What is lost at vertices without out-edges is not sent back while it runs: that would only
    scale a row, and a row is scaled to a sum of 1 in the end.
    """

    class Seeds(dr.Program):
        alpha = dr.param(float)
        tolerance = dr.param(float)
        seeds = dr.param(int, size=lanes)
        rank = dr.field(np.float64, size=lanes)
        combine = dr.SUM

        @dr.reduction(dr.SUM)
        def change(self, old: Any, new: Any) -> Any:
            total = abs(new.rank[0] - old.rank[0])
            for lane in range(1, lanes):
                total = total + abs(new.rank[lane] - old.rank[lane])
            return total

        def init(self, v: Any) -> Any:
            return {"rank": dr.where(self.seeds == v.id, 1.0, 0.0)}

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            return u.rank * self.share(u, edge)

        def share(self, u: Any, edge: Any) -> Any:
            return 1.0 / u.out_degree

        def update(self, v: Any, message: Any) -> Any:
            return {"rank": self.alpha * message + dr.where(self.seeds == v.id, 1 - self.alpha, 0.0)}

        def active(self, old: Any, new: Any) -> Any:
            return True

        def converged(self) -> Any:
            return self.change < self.tolerance

    class WeightedSeeds(Seeds):
        strength = dr.vertex_param(np.float64)

        def share(self, u: Any, edge: Any) -> Any:
            return dr.where(u.strength == 0, 0.0, edge.weight / u.strength)

    return WeightedSeeds if weights else Seeds


class PersonalizedPageRankResult(Result):
    """What :func:`personalized_pagerank` returns."""

    source: Array
    rank: Array


def personalized_pagerank(
    graph: Graph,
    sources: Iterable[Any],
    alpha: float = 0.85,
    max_iter: int = 1000,
    tol: float = 1e-6,
    weight: str | None = "weight",
    on_limit: str = "raise",
    **how: Unpack[Options],
) -> PersonalizedPageRankResult:
    """PageRank around each of many vertices.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways. Weights must be 0 or more.
        sources: the seeds without repeats, by label (by id if the graph has no labels).
        alpha: the probability of following an edge; below 1.
        max_iter: the maximum number of iterations; see ``on_limit``.
        tol: a row is final when it changes by less than this in total.
        weight: ``None`` ignores the graph's weights.
        on_limit: after ``max_iter`` iterations, ``raise`` a ConvergenceError or ``return`` the ranks so far.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> dr.personalized_pagerank(dr.generators.path(3), [0, 2]).rank.round(3).tolist()
    [[0.345, 0.459, 0.195], [0.195, 0.459, 0.345]]
    """
    session = Session("personalized_pagerank", graph, **how)
    on, limit = weighted(graph, weight), count_of(max_iter, "max_iter", 1)
    weight_range(on, negative=False, infinite=False)
    share = finite(alpha, "alpha", 0, 1 - 1e-9)
    tolerance = finite(tol, "tol", 0, np.inf)
    check_on_limit(on_limit)
    ids = vertex_ids(graph, sources, "sources")
    session.keep_between_runs()
    # scaling to a sum of 1 may enlarge a change by as much as what was lost
    params: dict[str, Any] = {"alpha": share, "tolerance": tolerance * (1 - share) / 2}
    if on.weights is not None:
        params["strength"] = session.shared(out_strength(on))
    width = _LANES[0] if len(ids) <= _LANES[0] else _LANES[1]
    program = seeds_program(width, on.weights is not None)
    rows: list[Array] = []
    settled_all = True
    for begin in range(0, len(ids), width):
        group = ids[begin : begin + width]
        lanes = np.concatenate([group, np.repeat(group[-1:], width - len(group))])
        outcome = session.run(session.program(program, seeds=lanes, **params), on, max_iter=limit, keep_on_device=True)
        rows.append(session.for_caller(_scaled(outcome.fields["rank"], len(group))))
        settled_all &= outcome.finished == "converged"
    rank = _joined(rows, graph.num_vertices)
    session.finished = "converged" if settled_all else ""
    promised = tolerance if settled_all else np.inf
    result = session.result(
        PersonalizedPageRankResult,
        {"source": ids, "rank": rank},
        vertex_fields={"source"},
        index="source",
        verifier=lambda result: verify(on, ids, result["rank"], share, tolerance=promised),
    )
    trouble = f"personalized_pagerank: the ranks still change by {tolerance:g} or more in total"
    return settled(result, on_limit, limit, trouble, "raise max_iter= or tol=, or lower alpha=")


def _scaled(rank: Array, seeds: int) -> Array:
    """A row for each of the first ``seeds`` lanes, with a sum of 1."""
    rows: Array = array_module(rank).ascontiguousarray(rank[:, :seeds].T)
    rows /= rows.sum(axis=1, keepdims=True)
    return rows


def _joined(groups: list[Array], vertices: int) -> Array:
    """The rows of all groups; each group is let go when its rows are copied."""
    if len(groups) < 2:
        return groups[0] if groups else np.empty((0, vertices))
    rank: Array = array_module(groups[0]).empty((sum(map(len, groups)), vertices))
    begin = 0
    while groups:
        group = groups.pop(0)
        rank[begin : begin + len(group)] = group
        begin += len(group)
    return rank


def verify(graph: Graph, sources: Array, rank: Array, alpha: float, *, tolerance: float) -> None:
    """Each row (of the first ones) is PageRank with all jumps to its seed."""
    require(rank.shape == (len(sources), graph.num_vertices), "there is not one row for each seed")
    for seed, row in zip(sources[:_CHECKED].tolist(), rank, strict=False):
        jump = np.zeros(graph.num_vertices)
        jump[seed] = 1.0
        verify_row(graph, row, alpha, jump, jump, tolerance=tolerance)
