"""Two-colorable graphs: ``networkx.algorithms.bipartite.basic``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from dromos.networkx_backend.components import labels, require_nodes
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, implements

__all__: list[str] = []


def _directed(bound: Bound) -> str | None:
    return "the order of predecessors is not kept" if bound["G"].is_directed() else None


def _coloring(graph: BackendGraph) -> dict[Any, int] | None:
    """Colors of an undirected graph in NetworkX's order, nodes without neighbors last; ``None`` if there are none."""
    from dromos.networkx_backend.kernels.search import two_coloring

    rows = graph.symmetric_rows if graph.directed else graph.rows
    order, color = np.empty(len(graph), np.int64), np.full(len(graph), -1, np.int64)
    count = -1 if graph.num_loops else two_coloring(rows.offsets, rows.targets, order, color)
    if count < 0:
        return None
    found = order[:count]
    colors = dict(zip(graph.names(found), color[found].tolist(), strict=True))
    colors.update(dict.fromkeys(graph.names(np.flatnonzero(color < 0)), 0))
    return colors


@implements(worth=Worth.LINEAR)
def is_bipartite(G: BackendGraph) -> bool:
    return _coloring(G) is not None


@implements(worth=Worth.LINEAR, refuse=_directed)
def color(G: BackendGraph) -> dict[Any, int]:
    colors = _coloring(G)
    if colors is None:
        raise nx.NetworkXError("Graph is not bipartite.")
    return colors


@implements(worth=Worth.LINEAR, refuse=_directed)
def sets(G: BackendGraph, top_nodes: Any = None) -> tuple[set[Any], set[Any]]:
    if top_nodes is not None:
        top = set(top_nodes)
        return top, set(G) - top
    require_nodes(G)
    if labels(G)[0] > 1:
        raise nx.AmbiguousSolution("Disconnected graph: Ambiguous solution for bipartite sets.")
    colors = color(G)
    return {node for node, one in colors.items() if one}, {node for node, one in colors.items() if not one}
