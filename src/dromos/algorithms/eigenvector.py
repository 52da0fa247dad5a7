"""Eigenvector centrality.

Returns ``centrality``: the entries of the eigenvector of the greatest eigenvalue, scaled to length 1 (the squares sum
to 1). A vertex's centrality is proportional to the sum over its in-edges of weight times the centrality of the source;
each parallel edge counts. As in NetworkX, each step of the power iteration adds the vector itself, so that bipartite
graphs converge too. The iteration stops when the entries change by less than ``tol`` in total. NetworkX's ``tol`` is
the mean change: ``tol=N * 1e-6`` is its default.

One program: each superstep sums, and the next one divides by the length. In a symmetric graph, on an engine with a
kernel for products, Lanczos' method finds the vector from which the power iteration takes its last step. Bonacich,
"Power and centrality: a family of measures", 1987.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import count_of, finite, sources_of_arcs, weight_range, weighted
from dromos.algorithms.lanczos import Products, kept_vectors
from dromos.algorithms.limits import check_on_limit, settled
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session
from dromos.vectors import length

__all__ = ["Eigenvector", "EigenvectorResult", "eigenvector", "verify"]


class Eigenvector(dr.Program):
    """``raw`` is what came in last; ``centrality`` is what came in before, at length 1."""

    tolerance = dr.param(float)
    raw = dr.field(np.float64)
    centrality = dr.field(np.float64)
    combine = dr.SUM

    @dr.reduction(dr.SUM)
    def square(self, v: Any) -> Any:
        return v.raw * v.raw

    @dr.reduction(dr.SUM)
    def change(self, old: Any, new: Any) -> Any:
        return abs(new.centrality - old.centrality)

    def init(self, v: Any) -> Any:
        return {"raw": 1.0 / self.num_vertices, "centrality": 0.0}

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.raw * edge.weight

    def update(self, v: Any, message: Any) -> Any:
        scale = 1.0 / dr.sqrt(self.square)
        return {"raw": (v.raw + message) * scale, "centrality": v.raw * scale}

    def active(self, old: Any, new: Any) -> Any:
        return True

    def converged(self) -> Any:
        return (self.change < self.tolerance) & (self.superstep > 0)


class EigenvectorResult(Result):
    """What :func:`eigenvector` returns."""

    centrality: Array


def eigenvector(
    graph: Graph,
    max_iter: int = 1000,
    tol: float = 1e-6,
    weight: str | None = "weight",
    on_limit: str = "raise",
    **how: Unpack[Options],
) -> EigenvectorResult:
    """How central each vertex is, by the centrality of the vertices with an edge to it.

    Args:
        graph: centrality flows from source to target; undirected edges carry it both ways. Weights must be 0 or more.
        max_iter: the maximum number of iterations; see ``on_limit``.
        tol: stop when the entries change by less than this in total.
        weight: ``None`` ignores the graph's weights.
        on_limit: after ``max_iter`` iterations, ``raise`` a ConvergenceError or ``return`` the entries so far.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> dr.eigenvector(dr.generators.path(3)).centrality.round(3).tolist()
    [0.5, 0.707, 0.5]
    """
    session = Session("eigenvector", graph, **how)
    on, limit = weighted(graph, weight), count_of(max_iter, "max_iter", 1)
    weight_range(on, negative=False, infinite=False)
    tolerance = finite(tol, "tol", 0, np.inf)
    check_on_limit(on_limit)
    if graph.num_vertices == 0:
        return session.result(EigenvectorResult, {"centrality": np.empty(0)}, verifier=lambda result: None)
    if on.symmetric and session.has_native("product"):
        found = _by_lanczos(session, on, tolerance, limit)
    else:
        program = Eigenvector(tolerance=tolerance)
        outcome = session.run(program, on, max_iter=limit + 1, keep_on_device=True, is_answer=True)
        found = outcome.fields["centrality"]
    promised = tolerance if session.finished == "converged" else np.inf
    result = session.result(
        EigenvectorResult,
        {"centrality": found},
        verifier=lambda result: verify(on, result["centrality"], tolerance=promised),
    )
    trouble = f"eigenvector: the entries still change by {tolerance:g} or more in total"
    return settled(result, on_limit, limit, trouble, "raise max_iter= or tol=")


def _by_lanczos(session: Session, on: Graph, tolerance: float, limit: int) -> Array:
    """In a symmetric graph: the same vector, by the same rule to stop, with far fewer products."""
    multiply, n = Products(session, limit), on.num_vertices
    found = np.full(n, n**-0.5)
    while multiply.used < limit:
        moved = found + multiply(on, found)
        moved /= length(moved)
        change, found = float(np.abs(moved - found).sum()), moved
        if change < tolerance:
            session.finished = "converged"
            break
        if (most := min(kept_vectors(on), limit - multiply.used - 1)) > 1:
            found = multiply.best_vector(on, found, most, tolerance / 2)
    return found


def verify(graph: Graph, centrality: Array, *, tolerance: float) -> None:
    """Of length 1, none below zero, and one more step changes them by no more than ``tolerance`` and rounding."""
    nowhere(centrality < 0, "the centrality of vertex {} is below zero")
    require(abs(np.linalg.norm(centrality) - 1) < 1e-9, f"the length is {np.linalg.norm(centrality)}, not 1")
    weights = np.ones(graph.num_arcs) if graph.weights is None else graph.weights.astype(np.float64)
    moved = centrality[sources_of_arcs(graph)] * weights
    again = centrality + np.bincount(graph.targets, weights=moved, minlength=len(centrality))
    change = np.abs(again / np.linalg.norm(again) - centrality).sum()
    # a step is no contraction where the matrix is not symmetric: it may undo some of what the last one gained
    require(change <= 4 * tolerance + 1e-9, f"one more step changes the entries by {change:g}, more than {tolerance:g}")
