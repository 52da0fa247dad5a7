"""Greedy coloring: ``networkx.algorithms.coloring``."""

# mypy: allow-untyped-calls
from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, implements

__all__ = ["greedy_order_and_colors"]


_BY_SATURATION = ("DSATUR", "saturation_largest_first")


def _other_order(bound: Bound) -> str | None:
    if bound["strategy"] not in ("largest_first", *_BY_SATURATION) or bound["interchange"]:
        return "only the strategies 'largest_first' and 'DSATUR' are here, without interchange"
    return None


def greedy_order_and_colors(graph: BackendGraph) -> tuple[Array, Array]:
    """Nodes by falling degree, and the colors that they get in this order."""
    from dromos.networkx_backend.kernels.greedy import greedy_colors

    order = np.argsort(-graph.degree, kind="stable")
    color = np.full(len(graph), -1, np.int64)
    greedy_colors(graph.offsets, graph.targets, order, color)
    return order, color


def _by_saturation(graph: BackendGraph) -> tuple[Array, Array]:
    """Nodes in the order of coloring: the one with most colors on nodes that lead to it, then of the highest degree."""
    from dromos.networkx_backend.kernels.greedy import saturation_colors

    order, color = np.empty(len(graph), np.int64), np.full(len(graph), -1, np.int64)
    saturation_colors(graph.offsets, graph.targets, graph.degree, order, color)
    return order, color


@implements(worth=Worth.LINEAR, refuse=_other_order)
def greedy_color(G: BackendGraph, strategy: Any = "largest_first", interchange: bool = False) -> dict[Any, int]:
    order, color = _by_saturation(G) if strategy in _BY_SATURATION else greedy_order_and_colors(G)
    return dict(zip(G.names(order), color[order].tolist(), strict=True))
