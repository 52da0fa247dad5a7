"""Katz centrality.

Returns ``centrality``: ``beta`` for each vertex plus, for every walk that leads to it, ``alpha`` to the power of the
walk's length. Weights multiply along a walk, and each parallel edge counts. With ``normalized`` the squares sum to 1,
as in NetworkX. An answer exists only if ``alpha`` is below the inverse of the greatest eigenvalue. The iteration stops
when the centralities change by less than ``tol`` in total; NetworkX's ``tol`` is the mean change.

It also stops when it is certain that the centralities never settle. A change that grows does not show this: along heavy
edges without a cycle it grows for a while, then becomes zero. Two things do:

- In a symmetric graph, the total change of step ``k`` is at most that of the first step times the ``k``-th power of
  ``alpha`` times the greatest eigenvalue. A greater one shows that this product is above 1. Then no step changes the
  centralities by less than ``beta``: of the eigenvector whose greatest entry is 1, which is nowhere negative, every
  vertex has at least ``beta`` times its share at the start.
- In any graph, a centrality beyond the greatest double: it stays there, and the change is not a number from then on.

One program. In a symmetric graph, on an engine with a kernel for it, conjugate gradients find the vector from which the
iteration takes its last step. Katz, "A new status index derived from sociometric analysis", 1953.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos import vectors
from dromos.algorithms.arguments import count_of, finite, sources_of_arcs, weight_range, weighted
from dromos.algorithms.limits import check_on_limit, settled
from dromos.algorithms.verifying import require
from dromos.dtypes import Array
from dromos.errors import ConvergenceError
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, array_module

__all__ = ["Katz", "KatzResult", "katz", "verify"]

_BEYOND_ROUNDING = 1.001
"""How many times its greatest possible value a change must be, so that rounding cannot be the reason."""


class Katz(dr.Program):
    """What comes in, weakened, and the same for all."""

    alpha = dr.param(float)
    beta = dr.param(float)
    tolerance = dr.param(float)
    greatest_change = dr.param(float)
    """The greatest change of a step, if there is an answer; infinity if it is unknown."""
    centrality = dr.field(np.float64, init=0.0)
    combine = dr.SUM

    @dr.reduction(dr.SUM)
    def change(self, old: Any, new: Any) -> Any:
        return abs(new.centrality - old.centrality)

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.centrality * edge.weight

    def update(self, v: Any, message: Any) -> Any:
        return self.alpha * message + self.beta

    def active(self, old: Any, new: Any) -> Any:
        return True

    def converged(self) -> Any:
        has_no_answer = ~(self.change <= self.greatest_change)  # so is a change that is not a number
        return (self.change < self.tolerance) | has_no_answer


class KatzResult(Result):
    """What :func:`katz` returns."""

    centrality: Array


def katz(
    graph: Graph,
    alpha: float = 0.1,
    beta: float = 1.0,
    max_iter: int = 1000,
    tol: float = 1e-6,
    normalized: bool = True,
    weight: str | None = "weight",
    on_limit: str = "raise",
    **how: Unpack[Options],
) -> KatzResult:
    """How many walks lead to each vertex; longer walks count less.

    Args:
        graph: walks follow directed edges from source to target, undirected edges both ways. Weights must be 0 or more.
        alpha: the factor for each edge of a walk; below the inverse of the greatest eigenvalue.
        beta: the centrality that each vertex has by itself.
        max_iter: the maximum number of iterations; see ``on_limit``. There are fewer if it is certain earlier that the
            centralities grow without end.
        tol: stop when the centralities change by less than this in total.
        normalized: scale so that the squares sum to 1.
        weight: ``None`` ignores the graph's weights.
        on_limit: without an answer, ``raise`` a ConvergenceError or ``return`` the result so far.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> dr.katz(dr.generators.path(3), normalized=False).centrality.round(3).tolist()
    [1.122, 1.224, 1.122]
    """
    session = Session("katz", graph, **how)
    on, limit = weighted(graph, weight), count_of(max_iter, "max_iter", 1)
    weight_range(on, negative=False, infinite=False)
    params = {
        "alpha": finite(alpha, "alpha", 0, np.finfo(np.float64).max),
        "beta": finite(beta, "beta", 0, np.finfo(np.float64).max),
        "tolerance": finite(tol, "tol", 0, np.inf),
    }
    check_on_limit(on_limit)
    if graph.num_vertices == 0:
        return session.result(KatzResult, {"centrality": np.empty(0)}, verifier=lambda result: None)
    found, diverges = _by_gradients(session, on, params, limit), False
    if found is None:
        session.keep_between_runs()
        program = Katz(**params, greatest_change=_greatest_change(on, params))
        outcome = session.run(program, on, max_iter=limit, keep_on_device=True)
        found = outcome.fields["centrality"]
        diverges = outcome.finished == "converged" and not outcome.reductions["change"] < tol
        session.finished = "" if diverges else session.finished
    with np.errstate(over="ignore", invalid="ignore"):  # values that grew without end; this is told below
        length = (_length(found) or 1.0) if normalized else 1.0
        scaled = found / length
    promised = tol if session.finished == "converged" else np.inf
    result = session.result(
        KatzResult,
        {"centrality": session.for_caller(scaled)},
        verifier=lambda result: verify(on, result["centrality"] * length, alpha, beta, tolerance=promised),
    )
    if diverges and on_limit == "raise":
        raise _no_answer(on, result, alpha)
    trouble = f"katz: the centralities still change by {tol:g} or more in total"
    return settled(result, on_limit, limit, trouble, "lower alpha=, or raise max_iter= or tol=")


def _greatest_change(on: Graph, params: Mapping[str, float]) -> float:
    """The greatest total change of a step if there is an answer: that of the first step, in a symmetric graph."""
    if not on.known_flags.symmetric or not params["tolerance"] <= params["beta"]:
        return np.inf
    return _BEYOND_ROUNDING * params["beta"] * on.num_vertices


def _no_answer(on: Graph, result: KatzResult, alpha: float) -> ConvergenceError:
    if on.weights is None:
        most = int(on.out_degree.max())
        safe = f"below {1 / most:.3g}, which is 1 / the greatest {'out-' if on.directed else ''}degree, there is one"
    else:
        edges = "out-edges" if on.directed else "edges"
        safe = f"below 1 / the greatest total weight of the {edges} of a vertex, there is one"
    return ConvergenceError(
        f"katz: the centralities grow without end (found after {result.iterations} iterations): with alpha={alpha:g} "
        f"there is no answer; lower alpha= ({safe}), or get the result so far with on_limit='return'",
        iterations=result.iterations,
        result=result,
    )


def _by_gradients(session: Session, on: Graph, params: Mapping[str, Any], limit: int) -> Array | None:
    """In a symmetric graph: the same centralities, by the same rule to stop, with fewer products; None otherwise."""
    fields = session.native("katz", on, limit=limit, **params) if on.known_flags.symmetric else None
    if fields is None or "centrality" not in fields:
        return None
    session.finished = fields["finished"]
    if session.progress is not None:
        session.progress(fields["steps"][0][0], limit)
    return np.asarray(fields["centrality"])


def _length(values: Any) -> float:
    module = array_module(values)
    return vectors.length(values) if module is np else float(module.linalg.norm(values))


def verify(graph: Graph, centrality: Array, alpha: float, beta: float, *, tolerance: float) -> None:
    """One more step changes the centralities by no more than the last one may have."""
    weights = np.ones(graph.num_arcs) if graph.weights is None else graph.weights.astype(np.float64)
    src = sources_of_arcs(graph)
    again = beta + alpha * np.bincount(graph.targets, weights=centrality[src] * weights, minlength=len(centrality))
    # what a vertex changed by goes out along its edges, and is weakened
    spread = alpha * np.bincount(src, weights=weights, minlength=len(centrality)).max(initial=0)
    change, rounding = np.abs(again - centrality).sum(), 1e-12 * np.abs(again).sum()
    require(
        not tolerance < np.inf or change <= max(spread, 1) * tolerance + rounding,
        f"one more step changes the centralities by {change:g}, more than {tolerance:g}",
    )
