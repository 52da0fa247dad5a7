"""Hubs and authorities (HITS).

Returns ``hub`` and ``authority``, each summing to 1: good hubs point to good authorities, and good authorities are
pointed to by good hubs, in proportion to weights. In an undirected graph the two are equal. Each parallel edge counts.
In a graph without edges every vertex has the same share. If the greatest singular value is not unique, the answer is
the one reached from equal shares.

Authorities are sums of hubs along edges, and hubs are sums of authorities against them, repeated until both change by
less than ``tol`` in total. This is a composition of programs, or one program if every edge goes both ways. On an engine
with a kernel for products, Lanczos' method finds the hubs from which the last step starts. Kleinberg, "Authoritative
sources in a hyperlinked environment", 1999.
"""

from __future__ import annotations

from typing import Any, Final, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import count_of, finite, weight_range, weighted
from dromos.algorithms.lanczos import Products, kept_vectors
from dromos.algorithms.limits import check_on_limit, settled
from dromos.algorithms.spmv import SpMV
from dromos.algorithms.verifying import matrix, nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, array_module

__all__ = ["HITSResult", "Mutual", "hits", "verify"]


_BYTES_PER_VERTEX: Final = 8  # during a product that a program makes: the vector that its result is compared with


class Mutual(dr.Program):
    """Hubs and authorities in turn, where every edge goes both ways: each vector is the last one times the matrix.

    A vector's sum is known one superstep after the vector. So ``raw`` is the newest vector, not yet scaled, and
    ``last``, ``before`` and ``earlier`` are shares: after an even superstep hubs, authorities, and the hubs before.
    """

    tolerance = dr.param(float)
    raw = dr.field(np.float64)
    last = dr.field(np.float64)
    before = dr.field(np.float64)
    earlier = dr.field(np.float64)
    combine = dr.SUM
    update_on = "all"

    @dr.reduction(dr.SUM)
    def total(self, v: Any) -> Any:
        return v.raw

    @dr.reduction(dr.SUM)
    def newer_change(self, old: Any, new: Any) -> Any:
        return abs(new.last - new.earlier)

    @dr.reduction(dr.SUM)
    def older_change(self, old: Any, new: Any) -> Any:
        return abs(new.before - old.earlier)

    def share(self, v: Any) -> Any:
        return dr.where(self.total > 0, v.raw / self.total, 1 / self.num_vertices)

    def init(self, v: Any) -> Any:
        same = 1 / self.num_vertices
        return {"raw": same, "last": same, "before": same, "earlier": same}

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return edge.weight * self.share(u)

    def update(self, v: Any, message: Any) -> Any:
        return {"raw": message, "last": self.share(v), "before": v.last, "earlier": v.before}

    def active(self, old: Any, new: Any) -> Any:
        return True

    def converged(self) -> Any:
        change = dr.maximum(self.newer_change, self.older_change)
        return (change < self.tolerance) & (self.superstep > 0) & (self.superstep % 2 == 0)


class HITSResult(Result):
    """What :func:`hits` returns."""

    hub: Array
    authority: Array


def hits(
    graph: Graph,
    max_iter: int = 1000,
    tol: float = 1e-8,
    weight: str | None = "weight",
    on_limit: str = "raise",
    **how: Unpack[Options],
) -> HITSResult:
    """How good a hub and how good an authority each vertex is.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways. Weights must be 0 or more.
        max_iter: the maximum number of iterations, of two steps each; see ``on_limit``.
        tol: stop when hubs and authorities change by less than this in total.
        weight: ``None`` ignores the graph's weights.
        on_limit: after ``max_iter`` iterations, ``raise`` a ConvergenceError or ``return`` the result so far.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> result = dr.hits(dr.Graph.from_edges([0, 0, 1], [1, 2, 2]))
    >>> result.hub.round(3).tolist(), result.authority.round(3).tolist()
    ([0.618, 0.382, 0.0], [0.0, 0.382, 0.618])
    """
    session = Session("hits", graph, **how)
    on, limit = weighted(graph, weight), count_of(max_iter, "max_iter", 1)
    weight_range(on, negative=False, infinite=False)
    tolerance = finite(tol, "tol", 0, np.inf)
    check_on_limit(on_limit)
    if on.num_arcs == 0:
        hub = authority = np.full(graph.num_vertices, 1 / max(graph.num_vertices, 1))
        done = True
    elif session.has_native("product"):
        hub, authority, done = _by_lanczos(session, on, tolerance, limit)
    elif on.known_flags.symmetric:
        outcome = session.run(Mutual(tolerance=tolerance), on, max_iter=2 * limit + 1, keep_on_device=True)
        hub, authority = outcome.fields["last"], outcome.fields["before"]
        done = outcome.finished == "converged"
    else:
        hub, authority, done = _by_programs(session, on, tolerance, limit)
    session.finished = "converged" if done else ""
    result = session.result(
        HITSResult,
        {"hub": session.for_caller(hub), "authority": session.for_caller(authority)},
        verifier=lambda result: verify(on, result["hub"], result["authority"], tolerance=tol if done else np.inf),
    )
    return settled(
        result, on_limit, limit, f"hits: the shares still change by {tol:g} or more in total", "raise max_iter= or tol="
    )


def _by_programs(session: Session, on: Graph, tolerance: float, limit: int) -> tuple[Array, Array, bool]:
    """Hubs, authorities, and whether they are final: products in turn, until nothing changes."""
    n, back = on.num_vertices, on.transpose
    hub = authority = np.full(n, 1 / n)
    session.keep_between_runs()
    session.hold_beside_programs(_BYTES_PER_VERTEX)
    for _ in range(limit):
        authority, other = _next(session, on, hub, authority)
        hub, change = _next(session, back, authority, hub)
        if max(change, other) < tolerance:
            return hub, authority, True
    return hub, authority, False


def _next(session: Session, graph: Graph, values: Array, before: Array) -> tuple[Array, float]:
    """The shares that follow from ``values`` by one product, and how they differ from those before."""
    found = session.run(session.program(SpMV, x=values), graph, keep_on_device=True).fields["y"]
    found = _shares(found)
    return found, _change(before, found)


def _by_lanczos(session: Session, on: Graph, tolerance: float, limit: int) -> tuple[Array, Array, bool]:
    """As :func:`_by_programs`: the same answer, by the same rule to stop, with far fewer products."""
    multiply, n, back = Products(session, 2 * limit), on.num_vertices, on.transpose
    hub = np.full(n, 1 / n)
    authority = _shares(multiply(back, hub))
    while True:
        before = hub, authority
        hub = _shares(multiply(on, authority))
        authority = _shares(multiply(back, hub))
        if max(_change(*pair) for pair in zip(before, (hub, authority), strict=True)) < tolerance:
            return hub, authority, True
        left = limit - 1 - multiply.used // 2
        if left < 1:
            return hub, authority, False
        if (most := min(kept_vectors(on), left - 1)) > 1:
            hub = _shares(multiply.best_vector(on, hub, most, tolerance / 2, back=back))
            authority = _shares(multiply(back, hub))


def _shares(values: Array) -> Array:
    """The values divided by their sum, in place; all alike if that is 0."""
    total = float(values.sum())
    if total > 0:
        values /= total
    else:
        values[...] = 1 / max(len(values), 1)
    return values


def _change(before: Array, after: Array) -> float:
    return float(abs(array_module(after).asarray(before) - after).sum())


def verify(graph: Graph, hub: Array, authority: Array, *, tolerance: float) -> None:
    """Shares, and each follows from the other by one product with SciPy's matrix, up to what a step may change."""
    n = graph.num_vertices
    for name, values in (("hub", hub), ("authority", authority)):
        nowhere(values < 0, f"the {name} of vertex {{}} is below zero")
        require(n == 0 or abs(values.sum() - 1) < 1e-9, f"the {name}s sum to {values.sum()}, not 1")
    if n == 0 or not tolerance < np.inf:
        return
    whole = matrix(graph)
    for name, values, expected in (("hub", hub, _shares(whole @ authority)), ("authority", authority, whole.T @ hub)):
        change = np.abs(_shares(expected) - values).sum()
        require(change <= 8 * tolerance + 1e-9, f"one more step changes the {name}s by {change:g}")
