"""Label propagation: ``networkx.algorithms.community.label_propagation``, with NetworkX's result for the same seed."""

# mypy: allow-untyped-calls
from __future__ import annotations

import random
from collections.abc import Callable, Iterator, ValuesView
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.coloring import greedy_order_and_colors
from dromos.networkx_backend.graph import BackendGraph, Rows
from dromos.networkx_backend.louvain import sets_of_labels
from dromos.networkx_backend.registry import Bound, Worth, function_weight, implements, refuse_any

__all__: list[str] = []


def _groups(graph: BackendGraph, label: Array) -> list[set[Any]]:
    """The nodes of each label, in the order in which labels first appear."""
    _, first, which = np.unique(label, return_index=True, return_inverse=True)
    return sets_of_labels(graph, np.argsort(np.argsort(first))[which])


@implements(worth=Worth.ITERATIVE)
def label_propagation_communities(G: BackendGraph) -> ValuesView[set[Any]]:
    from dromos.networkx_backend.kernels.label_propagation import settle_by_color

    order, color = greedy_order_and_colors(G)
    label = np.arange(len(G))
    # Nodes of one color are not neighbors, so their order does not matter.
    settle_by_color(G.offsets, G.targets, order[np.argsort(color[order], kind="stable")], label)
    return dict(enumerate(_groups(G, label))).values()


def _state_of(seed: Any) -> Array:
    """The state of Python's generator, for kernels to draw from."""
    if type(seed) is not random.Random:
        raise NotImplementedError("the random numbers are not those of Python's random.Random")
    return np.array(seed.getstate()[1], np.int64)


def _edges(graph: BackendGraph, weight: Any, parallel: bool) -> tuple[Rows, Array]:
    """Neighbors and the weights of the edges to them; without weights, parallel edges count as one, or each."""
    if weight is None:
        counted = parallel and graph.multiplicity is not None
        return graph.rows, graph.multiplicity.astype(float) if counted else np.ones(len(graph.targets))  # type: ignore[union-attr]
    each = graph.values(weight).each
    if graph.multiplicity is None:
        return graph.rows, each
    ends = np.concatenate([[0], np.cumsum(graph.multiplicity)])
    return Rows(ends[graph.offsets], np.repeat(graph.targets, graph.multiplicity)), each


def _drawn(
    graph: BackendGraph, settle: Callable[..., None], rows: Rows, weights: Array, seed: random.Random
) -> Iterator[set[Any]]:
    state, label = _state_of(seed), np.arange(len(graph))
    settle(rows.offsets, rows.targets, weights, state, label)
    version, _, gauss = seed.getstate()
    seed.setstate((version, tuple(state.tolist()), gauss))  # later draws continue from there
    yield from _groups(graph, label)


@implements(worth=Worth.ITERATIVE, refuse=function_weight("weight"))
def asyn_lpa_communities(G: BackendGraph, weight: Any = None, seed: Any = None) -> Iterator[set[Any]]:
    from dromos.networkx_backend.kernels.label_propagation import settle_in_rounds

    _state_of(seed)
    return _drawn(G, settle_in_rounds, *_edges(G, weight, parallel=False), seed)


def _directed(bound: Bound) -> str | None:
    return "the order of predecessors is not kept" if bound["G"].is_directed() else None


@implements(worth=Worth.ITERATIVE, refuse=refuse_any(_directed, function_weight("weight")))
def fast_label_propagation_communities(G: BackendGraph, *, weight: Any = None, seed: Any = None) -> Iterator[set[Any]]:
    from dromos.networkx_backend.kernels.label_propagation import settle_by_queue

    _state_of(seed)
    return _drawn(G, settle_by_queue, *_edges(G, weight, parallel=True), seed)
