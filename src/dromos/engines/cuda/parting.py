"""The vertices of a symmetric graph in the order of their parts, computed on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dromos.dtypes import OFFSET, Array
from dromos.engines.cuda.rows import order_by_degree
from dromos.graph.parting import Split, bounds_of, scattered

__all__ = ["order_by_part"]


def order_by_part(
    offsets: Any, dtype: np.dtype[Any], shares: Sequence[float], split: Split
) -> tuple[Any, Any, tuple[int, ...]]:
    """The ids of vertices by part, in each by descending degree; the place of each vertex; and the parts' bounds.

    Equal degrees keep their order, so the result is the same as on the host.
    """
    import cupy

    by_degree, rank = order_by_degree(offsets, dtype)
    if split == "high":
        return by_degree, rank, _bounds(offsets, by_degree, shares)
    ids = cupy.arange(len(by_degree), dtype=cupy.uint64)
    classes = scattered(ids) if split == "random" else cupy.diff(offsets).astype(cupy.uint64)
    order = _by_class(classes)
    bounds = _bounds(offsets, order, shares)
    part_of = cupy.empty(len(order), cupy.uint64)
    part_of[order] = cupy.searchsorted(cupy.asarray(bounds[1:-1], cupy.uint64), ids, side="right")
    old_ids = by_degree.take(_by_class(part_of.take(by_degree)))
    rank[old_ids] = cupy.arange(len(old_ids), dtype=dtype)
    return old_ids, rank, bounds


def _by_class(classes: Any) -> Any:
    """All positions by class (less than 2^32), in ascending order within each."""
    import cupy

    keys = classes << np.uint64(32)
    keys |= cupy.arange(len(keys), dtype=cupy.uint64)
    keys.sort()  # of whole words, which is several times as fast as a sort that moves positions along
    return (keys & np.uint64(0xFFFFFFFF)).astype(cupy.int64)


def _bounds(offsets: Any, order: Any, shares: Sequence[float]) -> tuple[int, ...]:
    import cupy

    arcs_before = cupy.zeros(len(offsets), OFFSET)
    cupy.cumsum(cupy.diff(offsets).take(order), out=arcs_before[1:], dtype=OFFSET)

    def search(values: Any, wanted: Array) -> Array:
        found: Array = cupy.searchsorted(values, cupy.asarray(wanted)).get()
        return found

    return bounds_of(arcs_before, shares, search)
