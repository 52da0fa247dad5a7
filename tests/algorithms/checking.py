"""A table of checks, one for each algorithm, and graphs as NetworkX and SciPy have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import shortest_path

import dromos as dr
from tests.algorithms.support import as_networkx

__all__ = [
    "CHECKS",
    "GRAPHS",
    "UNDIRECTED",
    "WEIGHTED",
    "check",
    "close",
    "downward",
    "matrix",
    "pairs",
    "plain",
    "sets",
    "steps",
]

Check = Callable[[dr.Graph], None]
CHECKS: dict[str, Check] = {}
GRAPHS: dict[str, dict[str, Any]] = {}


def check(name: str, **kind: Any) -> Callable[[Check], Check]:
    """Enter a check into the table, with the kind of graphs it takes; those for ``undirected`` have no direction."""

    def enter(function: Check) -> Check:
        CHECKS[name], GRAPHS[name] = function, {"low": 1, "high": 24, **kind}
        return function

    return enter


UNDIRECTED = {"directed": False}
WEIGHTED = {"weights": (0.25, 0.5, 1.0, 2.0, 7.5)}


def plain(graph: dr.Graph) -> Any:
    """Without loops, parallel edges and weights."""
    other = (nx.DiGraph if graph.directed else nx.Graph)(as_networkx(graph))
    other.remove_edges_from(list(nx.selfloop_edges(other)))
    return other


def matrix(graph: dr.Graph) -> Any:
    """Weights from source to target; parallel ones are added."""
    edges = graph.edges(arcs=True)
    weights = np.ones(len(edges.src)) if edges.weight is None else edges.weight.astype(np.float64)
    shape = (graph.num_vertices, graph.num_vertices)
    return scipy.sparse.coo_array((weights, (edges.src, edges.dst)), shape=shape).tocsr()


def steps(graph: dr.Graph) -> np.ndarray:
    """The number of edges between all vertices."""
    whole = matrix(graph)
    whole.data[:] = 1
    return np.asarray(shortest_path(whole, unweighted=True))


def pairs(result: Any, chosen: Any = slice(None)) -> set[tuple[int, int]]:
    """Edges of a result, with the lesser end first."""
    ends = zip(result.source[chosen].tolist(), result.target[chosen].tolist(), strict=True)
    return {tuple(sorted(edge)) for edge in ends}  # type: ignore[misc]


def sets(community: np.ndarray) -> list[set[int]]:
    """The members of each community."""
    return [set(np.flatnonzero(community == c).tolist()) for c in np.unique(community)]


def close(found: Any, expected: Any, tolerance: float = 1e-9) -> None:
    """Equal but for rounding."""
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def downward(graph: dr.Graph) -> dr.Graph:
    """The same edges, each from the lesser end to the greater, without loops."""
    edges = graph.edges()
    real = edges.src != edges.dst
    weights = None if edges.weight is None else edges.weight[real]
    low, high = np.minimum(edges.src, edges.dst)[real], np.maximum(edges.src, edges.dst)[real]
    return dr.Graph.from_edges(low, high, weights, num_vertices=graph.num_vertices)
