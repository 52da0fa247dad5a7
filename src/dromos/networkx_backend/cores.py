"""Cores and trusses: ``networkx.algorithms.core``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Worth, implements
from dromos.networkx_backend.subgraphs import copied, copy_of_subgraph, other_class

__all__: list[str] = []


def _require_no_loops(graph: BackendGraph) -> None:
    if graph.num_loops:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )


def _cores(graph: BackendGraph) -> Array:
    """Core numbers; in a directed graph edges of both directions count, a pair of opposite ones twice."""
    from dromos.networkx_backend.kernels.triangles import peel

    rows = graph.rows
    if graph.directed:
        sources, back = np.concatenate([graph.sources, graph.targets]), np.concatenate([graph.targets, graph.sources])
        order = np.argsort(sources, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=len(graph)))])
        rows = type(rows)(offsets, back[order])
    core = np.empty(len(graph), np.int64)
    peel(rows.offsets, rows.targets, np.diff(rows.offsets), core)
    return core


@implements(worth=Worth.ITERATIVE)
def core_number(G: BackendGraph) -> dict[Any, int]:
    _require_no_loops(G)
    return G.by_node(_cores(G))


def _part(graph: BackendGraph, inside: Callable[[Any, Any], bool], k: Any, core: Any) -> Any:
    cores = core_number(graph) if core is None else core
    least = max(cores.values()) if k is None else k
    return copy_of_subgraph(graph, (node for node, value in cores.items() if inside(value, least)))


# NetworkX's argument ``core_number`` hides the function of that name.
@implements(worth=Worth.ITERATIVE, refuse=other_class)
def k_core(G: BackendGraph, k: Any = None, core_number: Any = None) -> Any:
    return _part(G, lambda core, least: bool(core >= least), k, core_number)


@implements(worth=Worth.ITERATIVE, refuse=other_class)
def k_shell(G: BackendGraph, k: Any = None, core_number: Any = None) -> Any:
    return _part(G, lambda core, least: bool(core == least), k, core_number)


_core_number = core_number


@implements(worth=Worth.ITERATIVE, refuse=other_class)
def k_crust(G: BackendGraph, k: Any = None, core_number: Any = None) -> Any:
    cores = _core_number(G) if core_number is None else core_number
    most = max(cores.values()) - 1 if k is None else k
    return copy_of_subgraph(G, (node for node, value in cores.items() if value <= most))


@implements(worth=Worth.ITERATIVE, refuse=other_class)
def k_corona(G: BackendGraph, k: Any, core_number: Any = None) -> Any:
    cores = _core_number(G) if core_number is None else core_number
    dense = np.array([cores[node] >= k for node in G.nodes], bool)
    neighbours = np.bincount(G.sources[dense[G.targets]], minlength=len(G))
    return copy_of_subgraph(
        G, (node for node, value in cores.items() if value == k and k == int(neighbours[G.index[node]]))
    )


@implements(worth=Worth.ITERATIVE, refuse=other_class)
def k_truss(G: BackendGraph, k: Any) -> Any:
    from dromos.networkx_backend.kernels.triangles import support

    _require_no_loops(G)
    alive, count = np.ones(len(G.targets), bool), np.zeros(len(G.targets), np.int64)
    while True:
        support(G.offsets, G.targets, alive, count)
        weak = alive & (count < k - 2)
        if not weak.any():
            break
        alive &= ~weak
    return copied(G, np.unique(G.sources[alive]), alive)


@implements(worth=Worth.ITERATIVE)
def onion_layers(G: BackendGraph) -> dict[Any, int]:
    if G.num_loops:
        raise nx.NetworkXNotImplemented(
            "Input graph contains self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    degree, left = G.degree.copy(), np.ones(len(G), bool)
    parts = [np.flatnonzero(degree == 0)] if (degree == 0).any() else []
    left[degree == 0] = False
    core = 1
    while left.any():
        staying = np.flatnonzero(left)
        core = max(core, int(degree[staying].min()))
        layer = staying[degree[staying] <= core]
        parts.append(layer[np.argsort(degree[layer], kind="stable")])
        left[layer] = False
        leaving = np.zeros(len(G), bool)
        leaving[layer] = True
        degree = degree - np.bincount(G.targets[leaving[G.sources]], minlength=len(G))
    return {node: number for number, part in enumerate(parts, 1) for node in G.names(part)}
