"""PageRank, and random walks with restart.

Returns ``rank``: the probability of finding a random walker at each vertex. The walker follows a random out-edge with
probability ``alpha`` and jumps otherwise. Edges are chosen in proportion to their weights, each parallel edge
separately; from a vertex without out-edges the walker jumps. The power iteration stops when the ranks change by less
than ``tol`` in total; one more iteration would then change them by less than ``alpha * tol``. With ``alpha=0.85`` and
the default ``tol`` that takes at most 90 iterations on any graph. Arguments are those of NetworkX, whose ``tol`` is the
mean change of a vertex: ``tol=N * 1e-6`` here is its default. ``method="delta"`` is the residual form, see
:mod:`dromos.algorithms.residual_pagerank`.

Page, Brin, Motwani and Winograd, "The PageRank citation ranking", 1999.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Unpack

import numpy as np
from numpy.typing import DTypeLike

import dromos.program as dr
from dromos.algorithms import residual_pagerank
from dromos.algorithms.arguments import (
    count_of,
    finite,
    row_sums,
    sources_of_arcs,
    vertex_values,
    weight_range,
    weighted,
)
from dromos.algorithms.limits import check_on_limit, settled
from dromos.algorithms.pagerank_programs import pagerank_program, restart_program
from dromos.algorithms.verifying import require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.identity_cache import IdentityCache
from dromos.plan.cost import Cost, SplitCost
from dromos.runner import Options, Result, Session, on_host

__all__ = ["METHODS", "PageRankResult", "pagerank", "pagerank_program", "random_walk_with_restart", "verify"]

ITERATION: Final = SplitCost(arcs=1.0, vertices=1.8, steps=3.6, crossing=16, whole_rows=True)
"""Of one iteration on a split graph."""
COST: Final = Cost(passes=20, gathers=True, split=ITERATION.times(20), weighted=True, over_pages=31)

METHODS = ("power", "delta")
_ITERATIONS = 100
_kept: Final = IdentityCache()  # sums of weights cost a pass over all of them


class PageRankResult(Result):
    """What :func:`pagerank` returns."""

    rank: Array


def pagerank(
    graph: Graph,
    alpha: float = 0.85,
    personalization: Mapping[Any, float] | Array | None = None,
    max_iter: int | None = None,
    tol: float = 1e-6,
    nstart: Mapping[Any, float] | Array | None = None,
    weight: str | None = "weight",
    dangling: Mapping[Any, float] | Array | None = None,
    *,
    method: str = "power",
    dtype: DTypeLike = np.float64,
    on_limit: str = "raise",
    **how: Unpack[Options],
) -> PageRankResult:
    """The PageRank of every vertex; the sum is 1.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways.
        alpha: the probability of following an edge.
        personalization: where jumps lead, in proportion; by default to all vertices alike.
        max_iter: the maximum number of iterations, 100 by default; see ``on_limit``. The residual form needs no limit;
            with one it runs in synchronous supersteps.
        tol: stop when the ranks change by less than this in total; 0 runs all ``max_iter`` iterations.
        nstart: the ranks to start from, in proportion.
        weight: ``None`` ignores the graph's weights.
        dangling: where vertices without out-edges jump to; by default as ``personalization``.
        method: ``power`` repeats the step for all vertices; ``delta``, the residual form, sends only what has changed,
            in any order. ``delta`` supports neither ``nstart``, ``dangling``, ``float32`` nor a ``tol`` below 1e-12.
        dtype: ``float32`` halves the memory traffic and keeps six digits.
        on_limit: after ``max_iter`` iterations, ``raise`` a ConvergenceError or ``return`` the ranks so far.
        how: ``device``, ``path``, ``threads``, ``progress``.

    ``personalization``, ``nstart`` and ``dangling`` are mappings from vertices to numbers, or arrays.

    >>> import dromos as dr
    >>> dr.pagerank(dr.Graph.from_edges([0, 1, 2], [2, 2, 0])).rank.round(3).tolist()
    [0.464, 0.05, 0.486]
    >>> ten_iterations = dr.pagerank(dr.generators.path(9), tol=0, max_iter=10, on_limit="return")
    >>> ten_iterations.iterations, ten_iterations.finished
    (10, '')
    >>> dr.pagerank(dr.Graph.from_edges([0, 1, 2], [2, 2, 0]), method="delta").rank.round(3).tolist()
    [0.464, 0.05, 0.486]
    """
    if method not in METHODS:
        raise InvalidArgumentError(f"method={method!r} is neither 'power' nor 'delta'")
    number = _float_type(dtype)
    if method == "delta":
        residual_pagerank.check_arguments(
            finite(alpha, "alpha", 0, 1), finite(tol, "tol", 0, np.inf), nstart, dangling, number
        )
    return _run(
        graph, alpha, personalization, max_iter, tol, nstart, weight, dangling, number, on_limit, how,
        method=method,
    )  # fmt: skip


def random_walk_with_restart(
    graph: Graph,
    source: Any,
    restart: float = 0.15,
    max_iter: int = 100,
    tol: float = 1e-6,
    weight: str | None = "weight",
    on_limit: str = "raise",
    **how: Unpack[Options],
) -> PageRankResult:
    """Random walk with restart scores: ``rank``, how near every vertex is to ``source``.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways.
        source: a vertex, by label (by id if the graph has no labels).
        restart: the probability of going back to the source at every step.
        max_iter, tol, weight, on_limit: as in :func:`pagerank`.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> dr.random_walk_with_restart(dr.generators.path(3), 0, tol=1e-7).rank.round(3).tolist()
    [0.345, 0.459, 0.195]
    """
    alpha = 1 - finite(restart, "restart", 0, 1)
    session = Session("random_walk_with_restart", graph, **how)
    on, limit = weighted(graph, weight), count_of(max_iter, "max_iter")
    weight_range(on, negative=False, infinite=False)
    check_on_limit(on_limit)
    root = graph.vertex_id(source)
    params = {"alpha": alpha, "tolerance": finite(tol, "tol", 0, np.inf), "source": root}

    def jumps() -> tuple[Array, Array]:
        there = np.zeros(graph.num_vertices)
        there[root] = 1
        return there, there

    return _power(session, on, restart_program(on.weights is not None), params, jumps, on_limit, limit)


def _float_type(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found is None or found not in (np.float64, np.float32):
        raise InvalidArgumentError(f"dtype={dtype if found is None else found} is neither float64 nor float32")
    return found


def _run(
    graph: Graph,
    alpha: float,
    personalization: Any,
    max_iter: int | None,
    tol: float,
    nstart: Any,
    weight: str | None,
    dangling: Any,
    dtype: np.dtype[Any],
    on_limit: str,
    how: Options,
    *,
    method: str = "power",
) -> PageRankResult:
    session = Session("pagerank", graph, **how)
    n, on = graph.num_vertices, weighted(graph, weight)
    weight_range(on, negative=False, infinite=False)
    limit = _ITERATIONS if max_iter is None else count_of(max_iter, "max_iter")
    check_on_limit(on_limit)
    params: dict[str, Any] = {
        "alpha": finite(alpha, "alpha", 0, 1),
        "tolerance": finite(tol, "tol", 0, np.inf),
    }
    if n == 0:
        return session.result(PageRankResult, {"rank": np.empty(0, dtype)}, verifier=lambda result: None)
    jumped = _shares(graph, personalization, "personalization")
    sunk = jumped if dangling is None else _shares(graph, dangling, "dangling")
    started = _shares(graph, nstart, "nstart")
    personal = any(given is not None for given in (personalization, nstart, dangling))

    def jumps() -> tuple[Array, Array]:
        return on_host(jumped), on_host(sunk)

    if method == "delta":
        most, strength = None if max_iter is None else limit, None if on.weights is None else out_strength(on)
        found = residual_pagerank.residual_ranks(
            session, on, alpha, tol, jumped, strength, personal=personal, max_iter=most
        )
        session.finished = "converged" if found.change <= tol else ""
        promised = min(tol, found.change) if session.finished else found.change
        rank = session.for_caller(found.rank)
        return _settled(session, {"rank": rank}, on, alpha, jumps, promised, on_limit, limit, tol)
    if personal:
        params |= {"started": started, "jumped": jumped, "sunk": sunk}
    program = pagerank_program(personal, on.weights is not None, dtype)
    return _power(session, on, program, params, jumps, on_limit, limit)


def _power(
    session: Session,
    on: Graph,
    program: type[dr.Program],
    params: dict[str, Any],
    jumps: Callable[[], tuple[Array, Array]],
    on_limit: str,
    limit: int,
) -> PageRankResult:
    """By the power iteration; ``jumps`` tells where all vertices jump to, and where those without out-edges do."""
    alpha, tol = params["alpha"], params["tolerance"]
    if on.weights is not None:
        params["strength"] = session.shared(out_strength(on))
    outcome = session.run(session.program(program, **params), on, max_iter=limit, keep_on_device=True, is_answer=True)
    promised = tol if outcome.finished == "converged" else 2 * alpha**outcome.supersteps
    return _settled(session, outcome.fields, on, alpha, jumps, promised, on_limit, limit, tol)


def _settled(
    session: Session,
    fields: Mapping[str, Array],
    on: Graph,
    alpha: float,
    jumps: Callable[[], tuple[Array, Array]],
    promised: float,
    on_limit: str,
    limit: int,
    tol: float,
) -> PageRankResult:
    """The result, or an error that has it; one more step changes the ranks by no more than ``promised``."""
    result = session.result(
        PageRankResult,
        fields,
        verifier=lambda result: verify(on, result["rank"], alpha, *jumps(), tolerance=promised),
    )
    trouble = f"{session.name}: the ranks still change by {tol:g} or more in total"
    return settled(result, on_limit, limit, trouble, "raise max_iter= or tol=, or lower alpha=")


def _shares(graph: Graph, given: Any, name: str) -> Array:
    """Values by vertex that sum to 1; all alike where none are given."""
    if given is None:
        share = np.float64(1 / max(graph.num_vertices, 1))
        return np.broadcast_to(share, graph.num_vertices)  # of no size, until somebody writes it out
    values = vertex_values(graph, given, name)
    total = values.sum()
    if not total > 0 or values.min() < 0:
        raise InvalidArgumentError(f"{name} must hold numbers of 0 or more with a sum above 0; their sum is {total:g}")
    shares: Array = values / total
    return shares


def out_strength(graph: Graph) -> Array:
    """The sum of the weights of each vertex's out-edges; found once for a graph, and not to be written to."""
    return _kept.once(graph, "out strength", lambda: _summed(graph))


def _summed(graph: Graph) -> Array:
    sums = row_sums(graph, lambda piece: np.asarray(piece.weights))
    if not np.isfinite(sums).all():
        raise InvalidArgumentError("the weights at a vertex sum to more than a float can hold; scale all weights down")
    return sums


def verify(graph: Graph, rank: Array, alpha: float, jump: Array, sink: Array, *, tolerance: float) -> None:
    """The ranks are a distribution, and one more step changes them by no more than ``tolerance`` and rounding.

    They were pulled or pushed along a program's edges; here they are pushed once, with NumPy. A step shrinks changes
    by ``alpha`` at least, so that k steps from any start leave no more than ``2 * alpha**k``.
    """
    ranks = rank.astype(np.float64)
    digits = 1e-4 if rank.dtype == np.float32 else 1e-9
    require(bool(np.all(ranks >= 0)), "a rank is below zero")
    require(abs(ranks.sum() - 1) < digits * 10, f"the ranks sum to {ranks.sum()}, not 1")
    weights = np.ones(graph.num_arcs) if graph.weights is None else graph.weights.astype(np.float64)
    src = sources_of_arcs(graph)
    strength = np.bincount(src, weights=weights, minlength=len(ranks))
    pushed = ranks[src] * weights / np.where(strength[src] == 0, 1, strength[src])
    walked = np.bincount(graph.targets, weights=pushed, minlength=len(ranks))
    again = alpha * (walked + ranks[strength == 0].sum() * sink) + (1 - alpha) * jump
    change = np.abs(again - ranks).sum()
    terms = np.bincount(graph.targets, minlength=len(ranks)) + 8  # each is rounded, and so is each sum of them
    rounding = min(digits, float(np.finfo(rank.dtype).eps * (terms * ranks).sum()))
    require(change <= tolerance + rounding, f"one more step changes the ranks by {change:g}, more than {tolerance:g}")
