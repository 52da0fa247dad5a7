"""Directed acyclic graphs: ``networkx.algorithms.dag``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, implements
from dromos.networkx_backend.values import plain

__all__: list[str] = []


def _order(graph: BackendGraph) -> tuple[Array, Array]:
    """Nodes in topological order (fewer than all where there is a cycle), and the generation of every node."""
    from dromos.networkx_backend.kernels.orders import topological

    if not graph.directed:
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    n = len(graph)
    order, generation = np.empty(n, np.int64), np.zeros(n, np.int64)
    multiplicity = np.ones(len(graph.targets), np.int64) if graph.multiplicity is None else graph.multiplicity
    count = topological(graph.offsets, graph.targets, multiplicity, graph.in_degree.copy(), order, generation)
    return order[:count], generation


def _require_all(graph: BackendGraph, order: Array) -> None:
    if len(order) < len(graph):
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


@implements()
def topological_generations(G: BackendGraph) -> Iterator[list[Any]]:
    order, generation = _order(G)
    for part in np.split(order, np.flatnonzero(np.diff(generation[order])) + 1) if len(order) else []:
        yield G.names(part)
    _require_all(G, order)


@implements()
def topological_sort(G: BackendGraph) -> Iterator[Any]:
    order, _ = _order(G)
    yield from G.names(order)
    _require_all(G, order)


@implements()
def has_cycle(G: BackendGraph) -> bool:
    return len(_order(G)[0]) < len(G)


@implements()
def is_directed_acyclic_graph(G: BackendGraph) -> bool:
    return G.directed and not has_cycle(G)


def _odd_default(bound: Bound) -> str | None:
    plain_number = type(bound["default_weight"]) in (int, float)
    return None if plain_number and not callable(bound["weight"]) else "the weights are no plain numbers"


@implements(refuse=_odd_default)
def dag_longest_path_length(G: BackendGraph, weight: Any = "weight", default_weight: float = 1) -> Any:
    from dromos.networkx_backend.kernels.orders import longest

    if not len(G):
        return 0
    order, _ = _order(G)
    _require_all(G, order)
    values = G.values(weight, default_weight)
    greatest = longest(G.offsets, G.targets, values.greatest, order).max()
    return plain(np.array([greatest]), values.whole)[0] or 0
