"""Power iterations: PageRank, HITS, eigenvector and Katz centrality, with NetworkX's stopping rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import networkx as nx
import numpy as np

from dromos import vectors
from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.matrices import to_scipy_sparse_array
from dromos.networkx_backend.registry import Worth, implements

__all__ = ["LARGE", "ranks_by_dromos"]

LARGE: Final = 8_000_000
"""From this many arcs on, Dromos's program for PageRank pays; it takes seconds to compile the first time."""


def _weights(graph: BackendGraph, weight: Any) -> Array:
    """The sum of parallel edges' weights for each arc; ones without a weight."""
    if weight is None:
        return np.ones(len(graph.targets)) if graph.multiplicity is None else graph.multiplicity.astype(np.float64)
    return graph.values(weight).total


def _vector(graph: BackendGraph, values: Mapping[Any, Any]) -> Array:
    return np.array([values.get(node, 0) for node in graph.nodes], dtype=float)


@implements(worth=Worth.ITERATIVE)
def pagerank(
    G: BackendGraph,
    alpha: float = 0.85,
    personalization: Mapping[Any, float] | None = None,
    max_iter: int = 100,
    tol: float = 1.0e-6,
    nstart: Mapping[Any, float] | None = None,
    weight: Any = "weight",
    dangling: Mapping[Any, float] | None = None,
) -> dict[Any, float]:
    n = len(G)
    if n == 0:
        return {}
    weights = _weights(G, weight)
    given = any(one is not None for one in (personalization, nstart, dangling))
    if len(weights) >= LARGE and not given and 0 <= alpha <= 1 and tol > 0 and max_iter > 0 and _alike(weights):
        return G.by_node(ranks_by_dromos(G, alpha, max_iter, tol))
    strength = np.bincount(G.sources, weights=weights, minlength=n)
    is_dangling = np.flatnonzero(strength == 0)
    share = weights * np.divide(1.0, strength, out=np.zeros(n), where=strength != 0)[G.sources]
    rows, values = G.reversed_rows, G.reversed_values(share)
    if not G.directed:  # the arcs that reach a node mirror those that leave it, but carry the others' shares
        values = weights * np.divide(1.0, strength, out=np.zeros(n), where=strength != 0)[G.targets]
    pull = _matrix(rows.offsets, rows.targets, values, n)
    x = np.repeat(1.0 / n, n) if nstart is None else _vector(G, nstart)
    if nstart is not None:
        x /= x.sum()
    p = np.repeat(1.0 / n, n) if personalization is None else _vector(G, personalization)
    if personalization is not None:
        if p.sum() == 0:
            raise ZeroDivisionError
        p /= p.sum()
    sink = p if dangling is None else _vector(G, dangling)
    if dangling is not None:
        sink /= sink.sum()
    for _ in range(max_iter):
        last = x
        x = alpha * (pull @ x + x[is_dangling].sum() * sink) + (1 - alpha) * p
        if np.absolute(x - last).sum() < n * tol:
            return G.by_node(x)
    raise nx.PowerIterationFailedConvergence(max_iter)


def _alike(weights: Array) -> bool:
    """Whether all edges have the same weight."""
    return bool(weights[0] > 0 and (weights == weights[0]).all())


def ranks_by_dromos(graph: BackendGraph, alpha: float, max_iter: int, tol: float) -> Array:
    """PageRank by Dromos's program, on all cores or a GPU; NetworkX's ``tol`` is the mean change of a node."""
    from dromos.algorithms import pagerank as dromos_pagerank
    from dromos.errors import ConvergenceError

    try:
        result = dromos_pagerank(graph.dromos, alpha, max_iter=max_iter, tol=len(graph) * tol)
    except ConvergenceError as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    rank: Array = result["rank"]
    return rank


def _matrix(offsets: Array, targets: Array, values: Array, n: int) -> Any:
    from scipy.sparse import csr_array

    return csr_array((values, targets, offsets), shape=(n, n))


@implements(worth=Worth.ITERATIVE)
def hits(
    G: BackendGraph, max_iter: int = 100, tol: float = 1.0e-8, nstart: Any = None, normalized: bool = True
) -> tuple[dict[Any, float], dict[Any, float]]:
    from scipy.sparse.linalg import ArpackNoConvergence, svds

    if not len(G):
        return {}, {}
    matrix = to_scipy_sparse_array(G, dtype=float)
    start = None if nstart is None else np.array(list(nstart.values()))
    if max_iter <= 0:
        raise nx.PowerIterationFailedConvergence(max_iter)
    try:
        _, _, vectors = svds(matrix, k=1, v0=start, maxiter=max_iter, tol=tol)
    except ArpackNoConvergence as error:
        raise nx.PowerIterationFailedConvergence(max_iter) from error
    authorities = vectors.flatten().real
    hubs = matrix @ authorities
    if normalized:
        hubs /= hubs.sum()
        authorities /= authorities.sum()
    return G.by_node(hubs), G.by_node(authorities)


def _start(graph: BackendGraph, nstart: Any) -> Array:
    """Start values; results are in their order, so orders other than the graph's are left to NetworkX."""
    if list(nstart) != graph.nodes:
        raise NotImplementedError("nstart has other nodes, or the nodes in another order, than the graph")
    return np.array(list(nstart.values()), dtype=float)


@implements(worth=Worth.ITERATIVE)
def eigenvector_centrality(
    G: BackendGraph, max_iter: int = 100, tol: float = 1.0e-6, nstart: Any = None, weight: Any = None
) -> dict[Any, float]:
    n = len(G)
    if n == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    x = np.ones(n) if nstart is None else _start(G, nstart)
    if not x.any():
        raise nx.NetworkXError("initial vector cannot have all zero values")
    if x.sum() == 0:
        raise NotImplementedError("values to start from that sum to 0")
    x = x / x.sum()
    pull = _pull(G, weight or None)
    for _ in range(max_iter):
        last = x
        x = last + pull @ last
        x = x / (vectors.length(x) or 1)
        if np.abs(x - last).sum() < n * tol:
            return G.by_node(x)
    raise nx.PowerIterationFailedConvergence(max_iter)


def _pull(graph: BackendGraph, weight: Any) -> Any:
    """The matrix that sums what reaches each node."""
    rows = graph.reversed_rows
    return _matrix(rows.offsets, rows.targets, graph.reversed_values(_weights(graph, weight)), len(graph))


@implements(worth=Worth.ITERATIVE)
def katz_centrality(
    G: BackendGraph,
    alpha: float = 0.1,
    beta: Any = 1.0,
    max_iter: int = 1000,
    tol: float = 1.0e-6,
    nstart: Any = None,
    normalized: bool = True,
    weight: Any = None,
) -> dict[Any, float]:
    n = len(G)
    if n == 0:
        return {}
    x = np.zeros(n) if nstart is None else _start(G, nstart)
    try:
        base = np.full(n, float(beta))
    except (TypeError, ValueError, AttributeError) as error:
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from error
        base = _vector(G, beta)
    pull = _pull(G, weight)
    for _ in range(max_iter):
        last = x
        with np.errstate(over="ignore", invalid="ignore"):  # it diverges if alpha is too large
            x = alpha * (pull @ last) + base
            change = np.abs(x - last).sum()
        if change < n * tol:
            length = vectors.length(x) if normalized else 1.0
            return G.by_node(x * (1.0 / length) if length else x)
    raise nx.PowerIterationFailedConvergence(max_iter)
