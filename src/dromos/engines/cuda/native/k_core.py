"""The k-core by peeling one level: the kernel of core numbers, which begins and ends there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.cores import peeled, sources

__all__ = ["k_core", "sources"]


def k_core(graph: DeviceGraph, k: int) -> Mapping[str, Any]:
    """``left``: how many neighbours each member of the k-core has there, and k - 1 for all others; k is above 0."""
    return {"left": peeled(graph, k - 1, k - 1)}
