"""Greedy colouring: ``networkx.algorithms.coloring``."""

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
