"""Searches from many nodes: one after the other while that is fast, and jointly by Dromos beyond."""

# mypy: allow-untyped-calls
from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph

__all__ = ["MANY", "Sums", "sums_from_all"]

MANY: Final = 5_000_000_000
"""From this many arcs over all searches on, Dromos's joint searches pay; they take long to compile."""


class Sums(NamedTuple):
    """For each node: how many others it reaches, how far the last one is, the sums of distances and of inverses."""

    reached: Array
    depth: Array
    distance_sum: Array
    inverse_sum: Array


def sums_from_all(graph: BackendGraph, nodes: Array | None = None, *, reverse: bool = False, many: int = MANY) -> Sums:
    """Search from every node (or from ``nodes``), against the direction of edges if ``reverse``."""
    chosen = np.arange(len(graph)) if nodes is None else nodes
    count = len(chosen)
    if count and count * len(graph.targets) >= many:
        from dromos.algorithms import multi_source_bfs

        result = multi_source_bfs(graph.dromos.transpose if reverse else graph.dromos, chosen)
        return Sums(result["reached"], result["depth"], result["distance_sum"], result["inverse_sum"])
    from dromos.networkx_backend.kernels.distances import distance_sums

    sums = Sums(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count))
    rows = graph.reversed_rows if reverse else graph.rows
    distance_sums(rows.offsets, rows.targets, chosen, *sums)
    return sums
