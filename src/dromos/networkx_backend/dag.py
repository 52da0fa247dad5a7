"""Directed acyclic graphs: ``networkx.algorithms.dag``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, implements
from dromos.networkx_backend.values import plain

__all__: list[str] = []


def _order(graph: BackendGraph) -> tuple[Array, Array]:
    """Nodes in topological order (fewer than all if there is a cycle), and the generation of every node."""
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


@implements(worth=Worth.ITERATIVE)
def topological_generations(G: BackendGraph) -> Iterator[list[Any]]:
    order, generation = _order(G)
    changed_graph = _watched(G)
    ends = [*(np.flatnonzero(np.diff(generation[order])) + 1).tolist(), len(order)] if len(order) else []
    begin = 0
    for end, next_end in pairwise([*ends, len(order)]):
        yield G.names(order[begin:end])
        if (changed := changed_graph()) is not None:
            yield from _rest_of_generations(
                changed, G.names(order[end:next_end]), _waiting_for(G, order, end, next_end)
            )
            return
        begin = end
    _require_all(G, order)


def _watched(graph: BackendGraph) -> Callable[[], Any]:
    """A function that returns the NetworkX graph once it has been changed, which its cleared cache shows."""
    original = None if graph.original is None else graph.original()
    cache = getattr(original, "__networkx_cache__", None)
    if cache is None:
        return lambda: None
    mark = cache.setdefault("dromos topological order", object())
    return lambda: None if cache.get("dromos topological order") is mark else original


def _waiting_for(graph: BackendGraph, order: Array, done: int, ready: int) -> dict[Any, int]:
    """The remaining in-edges of each node that is not among the first ``ready``, after the first ``done``."""
    passed, known = np.zeros(len(graph), bool), np.zeros(len(graph), bool)
    passed[order[:done]] = known[order[:ready]] = True
    weights = None if graph.multiplicity is None else graph.multiplicity[~passed[graph.sources]]
    left = np.bincount(graph.targets[~passed[graph.sources]], weights=weights, minlength=len(graph))
    return {graph.nodes[number]: int(left[number]) for number in np.flatnonzero(~known)}


def _rest_of_generations(graph: Any, ready: list[Any], waiting_for: dict[Any, int]) -> Iterator[list[Any]]:
    """Continue in a NetworkX graph that was changed meanwhile, to the same end or error as NetworkX."""
    while ready:
        this, ready = ready, []
        for node in this:
            if node not in graph:
                raise RuntimeError("Graph changed during iteration")
            for child in graph.neighbors(node):
                if child not in waiting_for:
                    raise RuntimeError("Graph changed during iteration")
                waiting_for[child] -= len(graph[node][child]) if graph.is_multigraph() else 1
                if waiting_for[child] == 0:
                    ready.append(child)
                    del waiting_for[child]
        yield this
    if waiting_for:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


@implements(worth=Worth.ITERATIVE)
def topological_sort(G: BackendGraph) -> Iterator[Any]:
    for generation in topological_generations(G):
        yield from generation


@implements(worth=Worth.ITERATIVE)
def has_cycle(G: BackendGraph) -> bool:
    return len(_order(G)[0]) < len(G)


@implements(worth=Worth.ITERATIVE)
def is_directed_acyclic_graph(G: BackendGraph) -> bool:
    return G.directed and not has_cycle(G)


def _odd_default(bound: Bound) -> str | None:
    plain_number = type(bound["default_weight"]) in (int, float)
    return None if plain_number and not callable(bound["weight"]) else "the weights are no plain numbers"


@implements(worth=Worth.ITERATIVE, refuse=_odd_default)
def dag_longest_path_length(G: BackendGraph, weight: Any = "weight", default_weight: float = 1) -> Any:
    from dromos.networkx_backend.kernels.orders import longest

    if not len(G):
        return 0
    order, _ = _order(G)
    _require_all(G, order)
    values = G.values(weight, default_weight)
    greatest = longest(G.offsets, G.targets, values.greatest, order).max()
    return plain(np.array([greatest]), values.whole)[0] or 0


def _order_given(bound: Bound) -> str | None:
    return _odd_default(bound) or (None if bound["topo_order"] is None else "a topological order is given")


@implements(worth=Worth.ITERATIVE, refuse=_order_given)
def dag_longest_path(
    G: BackendGraph, weight: Any = "weight", default_weight: float = 1, topo_order: Any = None
) -> list[Any]:
    from dromos.networkx_backend.kernels.orders import longest

    if not len(G):
        return []
    order, _ = _order(G)
    _require_all(G, order)
    each = G.values(weight, default_weight).greatest
    length = longest(G.offsets, G.targets, each, order)
    before, into = G.reversed_rows, G.reversed_values(each)
    path = [int(order[np.argmax(length[order])])]
    while True:
        at = path[-1]
        arcs = slice(before.offsets[at], before.offsets[at + 1])
        reached = length[before.targets[arcs]] + into[arcs]
        if not len(reached) or reached.max() < 0:
            return G.names(np.array(path[::-1]))
        path.append(_first_before(G, at, before.targets[arcs][reached == reached.max()]))


def _first_before(graph: BackendGraph, node: int, among: Array) -> int:
    """The predecessor ``among`` these that comes first in NetworkX's graph, which alone knows their order."""
    if len(among) == 1:
        return int(among[0])
    original = None if graph.original is None else graph.original()
    if original is None:
        raise NotImplementedError("of several longest paths the order of predecessors decides, which is not kept")
    names: dict[Any, int] = {graph.nodes[number]: number for number in among.tolist()}
    return next(names[one] for one in original.pred[graph.nodes[node]] if one in names)
