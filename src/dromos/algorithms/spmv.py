"""Sparse matrix times vector.

Returns ``y = A x``, where ``A[u, v]`` is the weight of the edge from u to v (1 without weights, parallel edges summed),
or ``y = Aᵀ x`` with ``transpose=True``. An undirected graph's matrix is symmetric, with each self-loop once on the
diagonal.

One superstep: every vertex sends its number, times the weight, along its edges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import sources_of_arcs, vertex_values, weighted
from dromos.algorithms.verifying import require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, on_host

__all__ = ["SpMV", "SpMVResult", "spmv", "verify"]


class SpMV(dr.Program):
    """What comes in along a vertex's edges."""

    x = dr.vertex_param(np.float64)
    y = dr.field(np.float64, init=0.0)
    combine = dr.SUM
    update_on = "all"  # a vertex without a message has 0 in any case: so said, no engine marks who got one

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return edge.weight * u.x

    def update(self, v: Any, message: Any) -> Any:
        return message

    def active(self, old: Any, new: Any) -> Any:
        return False


class SpMVResult(Result):
    """What :func:`spmv` returns."""

    y: Array


def spmv(
    graph: Graph, x: Any, transpose: bool = False, weight: str | None = "weight", **how: Unpack[Options]
) -> SpMVResult:
    """The product of the graph's adjacency matrix (or its transpose) and the vector ``x``.

    Args:
        graph: the matrix.
        x: a number for each vertex: an array (an array on a GPU stays there if the run is on that GPU), or a mapping
            from vertices, with 0 for missing ones.
        transpose: multiply by the transpose.
        weight: ``None`` ignores the graph's weights.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges([0, 0], [1, 2], [2.0, 3.0])
    >>> dr.spmv(g, [1, 10, 100]).y.tolist(), dr.spmv(g, [1, 10, 100], transpose=True).y.tolist()
    ([320.0, 0.0, 0.0], [0.0, 2.0, 3.0])
    """
    session = Session("spmv", graph, **how)
    checks: list[Callable[[], None]] = []
    vector, on = vertex_values(graph, x, "x", session, checks), weighted(graph, weight)
    flow = on if transpose else on.transpose
    fields = session.run(session.program(SpMV, x=vector), flow, keep_on_device=True, is_answer=True).fields
    for check in checks:
        check()
    return session.result(SpMVResult, fields, verifier=lambda result: verify(flow, on_host(vector), result["y"]))


def verify(flow: Graph, x: Array, y: Array) -> None:
    """``z · y`` is the same when the other side of the product is multiplied first, for random ``z``."""
    z = np.random.default_rng(len(x)).standard_normal(len(x))
    weights = np.ones(flow.num_arcs) if flow.weights is None else flow.weights.astype(np.float64)
    src, dst = sources_of_arcs(flow), flow.targets
    if not np.isfinite(weights).all():  # then sums are infinite, and no difference of theirs says anything
        again = np.bincount(dst, weights=weights * x[src], minlength=len(x))
        require(np.allclose(again, y, rtol=1e-9, atol=0, equal_nan=True), "another product with x is not y")
        return
    other = np.bincount(src, weights=weights * z[dst], minlength=len(x))
    terms = np.abs(other * x).sum() + np.abs(z * y).sum()
    require(abs(z @ y - other @ x) <= 1e-9 * max(terms, 1e-300), "z · (A x) differs from (z A) · x")
