"""Greedy colouring and load centrality: ``networkx.algorithms.coloring``, ``networkx.algorithms.centrality.load``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from typing import Any

import numpy as np

from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, implements

__all__: list[str] = []


def _other_order(bound: Bound) -> str | None:
    if bound["strategy"] != "largest_first" or bound["interchange"]:
        return "only the strategy 'largest_first' is here, without interchange"
    return None


@implements(worth=Worth.LINEAR, refuse=_other_order)
def greedy_color(G: BackendGraph, strategy: Any = "largest_first", interchange: bool = False) -> dict[Any, int]:
    from dromos.networkx_backend.kernels.greedy import greedy_colors

    order = np.argsort(-G.degree, kind="stable")
    color = np.full(len(G), -1, np.int64)
    greedy_colors(G.offsets, G.targets, order, color)
    return dict(zip(G.names(order), color[order].tolist(), strict=True))


def _odd_load(bound: Bound) -> str | None:
    if bound["weight"] is not None:
        return "loads by weight are left to NetworkX"
    cutoff = bound["cutoff"]
    if cutoff is not None and not (isinstance(cutoff, int) and cutoff > 0):
        return "the cutoff is not a whole number above 0"
    if set(map(type, bound["G"])) not in ({int}, {str}, set()):
        return "NetworkX sorts the nodes, and these may have no order"
    return None


@implements(worth=Worth.ALL_PAIRS, refuse=_odd_load)
def newman_betweenness_centrality(  # what NetworkX calls load_centrality inside
    G: BackendGraph, v: Any = None, cutoff: Any = None, normalized: bool = True, weight: Any = None
) -> Any:
    from dromos.networkx_backend.kernels.greedy import add_loads

    load, count = np.zeros(len(G)), len(G)
    add_loads(G.offsets, G.targets, np.arange(count), count if cutoff is None else cutoff, load)
    if normalized and count > 2:
        load *= 1.0 / ((count - 1) * (count - 2))
    if v is None:
        return G.by_node(load)
    return float(load[G.index[v]]) if v in G else 0.0
