"""Hubs and authorities (HITS).

Returns ``hub`` and ``authority``, each summing to 1: a good hub leads to good authorities, a good authority is led to
by good hubs, in proportion to weights. In an undirected graph they are the same. Parallel edges count each. A graph
without edges gives every vertex the same share. Where the greatest singular value is not unique, the answer is the one
that equal shares lead to.

A composition of programs: authorities are the sum of hubs along edges, hubs that of authorities against them, until
both change by less than ``tol`` in sum. Kleinberg, "Authoritative sources in a hyperlinked environment", 1999.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import count_of, finite, weight_range, weighted
from dromos.algorithms.limits import check_on_limit, settled
from dromos.algorithms.spmv import SpMV
from dromos.algorithms.verifying import matrix, nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, array_module

__all__ = ["HITSResult", "hits", "verify"]


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
        graph: along its out-edges; an undirected graph both ways. Weights from zero on.
        max_iter: the most iterations, of two steps each; see ``on_limit``.
        tol: hubs and authorities that change by less than this in sum are final.
        weight: ``None`` leaves the graph's weights out.
        on_limit: after ``max_iter`` iterations ``raise`` a ConvergenceError, or ``return`` what there is.
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
    n, back = graph.num_vertices, on.transpose
    hub = authority = np.full(n, 1 / max(n, 1))
    change = np.inf if on.num_arcs else 0.0
    session.keep_between_runs()
    product = SpMV(x=hub)
    for _ in range(limit if on.num_arcs else 0):
        before = hub, authority
        authority = _shares(session.run(product.given(x=hub), on, keep_on_device=True).fields["y"])
        hub = _shares(session.run(product.given(x=authority), back, keep_on_device=True).fields["y"])
        change = max(_change(*pair) for pair in zip(before, (hub, authority), strict=True))
        if change < tolerance:
            break
    done = change < tolerance or not on.num_arcs
    session.finished = "converged" if done else ""
    result = session.result(
        HITSResult,
        {"hub": session.for_caller(hub), "authority": session.for_caller(authority)},
        verifier=lambda result: verify(on, result["hub"], result["authority"], tolerance=tol if done else np.inf),
    )
    return settled(
        result, on_limit, limit, f"hits: the shares still change by {tol:g} or more in sum", "raise max_iter= or tol="
    )


def _shares(values: Array) -> Array:
    total = float(values.sum())
    return values / total if total > 0 else array_module(values).full(len(values), 1 / max(len(values), 1))


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
