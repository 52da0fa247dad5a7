"""Belief propagation, linearised.

Returns ``belief``: how much more (or less) likely each class is at each vertex than on average, given ``prior`` beliefs
about some vertices and how classes attract each other along edges. A vertex's beliefs come in the order of the columns
of ``prior``; the greatest marks the best guess. Each parallel edge counts, a self-loop counts once.

LinBP: the fixed point of ``B = P + A B H - D B H²``, which multiplies beliefs where belief propagation multiplies
probabilities; the last term cancels the echo from neighbors. Gatterbauer, Günnemann, Koutra and Faloutsos, "Linearized
and single-pass belief propagation", VLDB 2015.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import count_of, finite, row_sums, sources_of_arcs, weight_range, weighted
from dromos.algorithms.limits import check_on_limit, settled
from dromos.algorithms.triangles import require_undirected
from dromos.algorithms.verifying import matrix, require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = ["BeliefPropagationResult", "belief_program", "belief_propagation", "verify"]

_MOST_CLASSES = 8


@cache
def belief_program(classes: int) -> type[dr.Program]:
    """The program for so many classes."""

    def times(row: Any, flat: Any) -> list[Any]:
        return [sum(row[i] * flat[i * classes + j] for i in range(classes)) for j in range(classes)]

    class LinBP(dr.Program):
        prior = dr.vertex_param(np.float64, size=classes)
        echo = dr.vertex_param(np.float64)
        coupling = dr.param(float, size=classes * classes)
        squared = dr.param(float, size=classes * classes)
        tolerance = dr.param(float)
        belief = dr.field(np.float64, size=classes)
        combine = dr.SUM

        @dr.reduction(dr.SUM)
        def change(self, old: Any, new: Any) -> Any:
            return abs(new.belief - old.belief).sum()

        def init(self, v: Any) -> Any:
            return v.prior

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            return [edge.weight * part for part in times(u.belief, self.coupling)]

        def update(self, v: Any, message: Any) -> Any:
            returned = times(v.belief, self.squared)
            return [v.prior[j] + message[j] - v.echo * returned[j] for j in range(classes)]

        def active(self, old: Any, new: Any) -> Any:
            return True

        def converged(self) -> Any:
            return self.change < self.tolerance

    return LinBP


class BeliefPropagationResult(Result):
    """What :func:`belief_propagation` returns."""

    belief: Array


def belief_propagation(
    graph: Graph,
    prior: Any,
    coupling: Any,
    max_iter: int = 100,
    tol: float = 1e-6,
    weight: str | None = "weight",
    echo_cancellation: bool = True,
    on_limit: str = "raise",
    **how: Unpack[Options],
) -> BeliefPropagationResult:
    """Beliefs about the classes of all vertices, given beliefs about some of them.

    Args:
        graph: undirected.
        prior: known beliefs as differences from the average, 0 where unknown; one row per vertex, one column per class.
        coupling: a square matrix, as differences from the average: how strongly a class at one end of an edge
            suggests each class at the other end. The iteration converges if the numbers are small enough.
        max_iter: the maximum number of iterations; see ``on_limit``.
        tol: stop when the beliefs change by less than this in total; 0 runs all ``max_iter`` iterations.
        weight: ``None`` ignores the graph's weights.
        echo_cancellation: remove a vertex's own influence that comes back through its neighbors.
        on_limit: after ``max_iter`` iterations, ``raise`` a ConvergenceError or ``return`` the beliefs so far.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> known = [[0.5, -0.5], [0, 0], [0, 0]]
    >>> result = dr.belief_propagation(dr.generators.path(3), known, [[0.1, -0.1], [-0.1, 0.1]])
    >>> result.belief.round(3).tolist()
    [[0.499, -0.499], [0.096, -0.096], [0.018, -0.018]]
    """
    session = Session("belief_propagation", graph, **how)
    require_undirected(graph, "belief_propagation")
    on = weighted(graph, weight)
    weight_range(on, infinite=False)
    check_on_limit(on_limit)
    known = np.asarray(prior, dtype=np.float64)
    if known.ndim != 2 or len(known) != graph.num_vertices or not 1 <= known.shape[1] <= _MOST_CLASSES:
        raise InvalidArgumentError(
            f"prior has shape {known.shape}; expected ({graph.num_vertices}, classes) with 1..{_MOST_CLASSES} classes"
        )
    classes = known.shape[1]
    effect = np.asarray(coupling, dtype=np.float64)
    if effect.shape != (classes, classes):
        raise InvalidArgumentError(f"coupling has shape {effect.shape}, expected ({classes}, {classes})")
    if not np.isfinite(known).all() or not np.isfinite(effect).all():
        raise InvalidArgumentError("prior or coupling holds a number that is not finite; replace NaN and infinity")
    limit, tolerance = count_of(max_iter, "max_iter"), finite(tol, "tol", 0, np.inf)
    echo = _echo(on) if echo_cancellation else np.zeros(graph.num_vertices)
    if graph.num_vertices == 0:
        return session.result(BeliefPropagationResult, {"belief": known.copy()}, verifier=lambda result: None)
    squared = effect @ effect
    program = belief_program(classes).keeping(
        prior=known, echo=echo, coupling=effect.ravel(), squared=squared.ravel(), tolerance=tolerance
    )
    outcome = session.run(program, on, max_iter=limit)
    promised = tolerance if outcome.finished == "converged" else np.inf
    result = session.result(
        BeliefPropagationResult,
        outcome.fields,
        verifier=lambda result: verify(on, known, effect, echo, result["belief"], promised),
    )
    trouble = f"belief_propagation: beliefs still change by {tolerance:g} or more in total"
    return settled(result, on_limit, limit, trouble, "scale the coupling down, or raise max_iter=")


def _echo(graph: Graph) -> Array:
    """The sum of the squared weights at each vertex."""
    if graph.weights is None:
        return graph.out_degree.astype(np.float64)
    return row_sums(graph, lambda piece: np.asarray(piece.weights, dtype=np.float64) ** 2)


def verify(graph: Graph, prior: Array, coupling: Array, echo: Array, belief: Array, tolerance: float) -> None:
    """The beliefs satisfy the equation; SciPy multiplies the matrices.

    The last iteration changed them by less than ``tolerance`` in sum. One more may change them by more than that: by
    ``growth`` times as much, the most that the beliefs of one vertex can gain on their way through the equation.
    """
    again = prior + matrix(graph).T @ belief @ coupling - echo[:, None] * (belief @ coupling @ coupling)
    change = np.abs(again - belief).sum()
    effect, returned = (np.abs(part).sum(axis=1).max(initial=0) for part in (coupling, coupling @ coupling))
    weights = np.ones(graph.num_arcs) if graph.weights is None else np.abs(graph.weights.astype(np.float64))
    strength = np.bincount(sources_of_arcs(graph), weights=weights, minlength=graph.num_vertices)
    growth = float((strength * effect + echo * returned).max(initial=1))
    rounding = 1e-12 * growth * np.abs(belief).sum()
    require(change <= tolerance * growth + rounding, f"one more iteration changes the beliefs by {change:g} in total")
