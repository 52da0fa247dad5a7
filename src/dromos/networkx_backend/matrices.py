"""Matrices of a graph: ``networkx.convert_matrix`` and ``networkx.linalg``."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Worth, implements

__all__: list[str] = []


def _numbers(graph: BackendGraph, nodelist: Any) -> Array | None:
    """The nodes of the rows, checked; ``None`` for all in the graph's order."""
    if nodelist is None or (len(nodelist) == len(graph) and list(nodelist) == graph.nodes):
        return None
    if len(nodelist) == 0:
        raise nx.NetworkXError("nodelist has no nodes")
    numbers = np.array(graph.nbunch(nodelist), np.int64)
    if len(np.unique(numbers)) != len(nodelist):
        for node in nodelist:
            if node not in graph:
                raise nx.NetworkXError(f"Node {node} in nodelist is not in G")
        raise nx.NetworkXError("nodelist contains duplicates.")
    return numbers


def _values(graph: BackendGraph, weight: Any) -> Array:
    """The weights in the type that NetworkX's matrix would have."""
    if weight is None:
        values = np.ones(len(graph.targets), np.int64)
        total = values if graph.multiplicity is None else graph.multiplicity
        return total if len(total) else np.empty(0)
    found = graph.values(weight)
    return found.total.astype(np.int64) if found.whole and len(found.each) else found.total


@implements(worth=Worth.ITERATIVE)
def to_scipy_sparse_array(
    G: BackendGraph, nodelist: Any = None, dtype: Any = None, weight: Any = "weight", format: str = "csr"
) -> Any:
    from scipy.sparse import coo_array

    if not len(G):
        raise nx.NetworkXError("Graph has no nodes or edges")
    numbers, values = _numbers(G, nodelist), _values(G, weight)
    rows, columns, size = G.sources, G.targets, len(G)
    if numbers is not None:
        place = np.full(len(G), -1, np.int64)
        place[numbers] = np.arange(len(numbers))
        rows, columns, size = place[rows], place[columns], len(numbers)
        inside = (rows >= 0) & (columns >= 0)
        rows, columns, values = rows[inside], columns[inside], values[inside]
        if not len(values):
            values = np.empty(0)
    matrix = coo_array((values, (rows, columns)), shape=(size, size), dtype=dtype)
    try:
        return matrix.asformat(format)  # type: ignore[call-overload]
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


@implements(worth=Worth.ITERATIVE)
def adjacency_matrix(G: BackendGraph, nodelist: Any = None, dtype: Any = None, weight: Any = "weight") -> Any:
    return to_scipy_sparse_array(G, nodelist=nodelist, dtype=dtype, weight=weight)


@implements(worth=Worth.ITERATIVE)
def laplacian_matrix(G: BackendGraph, nodelist: Any = None, weight: Any = "weight") -> Any:
    adjacency = to_scipy_sparse_array(G, nodelist=nodelist, weight=weight)
    return _diagonal(adjacency.sum(axis=1)) - adjacency


@implements(worth=Worth.ITERATIVE)
def normalized_laplacian_matrix(G: BackendGraph, nodelist: Any = None, weight: Any = "weight") -> Any:
    adjacency = to_scipy_sparse_array(G, nodelist=nodelist, weight=weight)
    degree = adjacency.sum(axis=1)
    with np.errstate(divide="ignore"):
        root = 1.0 / np.sqrt(degree)
    root[np.isinf(root)] = 0
    scale = _diagonal(root)
    return scale @ ((_diagonal(degree) - adjacency) @ scale)


def _diagonal(values: Array) -> Any:
    from scipy.sparse import dia_array

    return dia_array((values, 0), shape=(len(values), len(values))).tocsr()
