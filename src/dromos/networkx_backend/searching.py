"""Searches over rows, with NumPy arrays in and out."""

# mypy: allow-untyped-calls
from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import Rows

__all__ = ["Found", "entered_and_left", "found_from"]


class Found(NamedTuple):
    """A breadth-first search: nodes in the order found, and the level and parent of every node (-1: none)."""

    order: Array
    level: Array
    parent: Array


def found_from(rows: Rows, sources: Iterable[int], limit: float = float("inf")) -> Found:
    """Search breadth-first from ``sources``, down to ``limit`` levels."""
    from dromos.networkx_backend.kernels.search import breadth_first

    n = len(rows.offsets) - 1
    deepest = n if limit >= n else max(int(np.ceil(limit)), 0)
    order, level, parent = np.empty(n, np.int64), np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    starts = np.fromiter(sources, np.int64)
    count = breadth_first(rows.offsets, rows.targets, starts, deepest, order, level, parent)
    return Found(order[:count], level, parent)


def entered_and_left(rows: Rows, starts: Array, limit: float) -> tuple[Array, Array, Array]:
    """Search depth-first: nodes as they are entered, nodes as they are left, and the parent of every node."""
    from dromos.networkx_backend.kernels.search import depth_first

    n = len(rows.offsets) - 1
    order, parent, post = np.empty(n, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    deepest = n if limit >= n else int(np.ceil(limit))
    entered, left = depth_first(rows.offsets, rows.targets, starts, deepest, order, parent, post)
    return order[:entered], post[:left], parent
