"""Columns of edges as they are given: taken as NumPy arrays, checked, and refused with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dromos.dtypes import Array, weight_dtype
from dromos.errors import GraphDataError, InvalidArgumentError
from dromos.graph import build
from dromos.graph.interop import as_numpy
from dromos.graph.labels import Labels, as_label_array

__all__ = ["id_column", "vertex_count", "weight_column"]


def id_column(values: Array | Sequence[Any], name: str) -> Array:
    """A column of ids as integers, or of labels as objects that are ``str``."""
    column = as_numpy(values)
    if column.ndim != 1:
        raise GraphDataError(f"{name} must be one-dimensional, not of shape {column.shape}")
    if column.dtype.kind in "iu":
        if column.dtype == np.uint64 and column.size and int(column.max()) >= 2**63:
            raise GraphDataError(f"{name} holds the id {int(column.max())}, which overflows int64")
        return column
    if column.size == 0:
        return column.astype(np.int64)
    if column.dtype.kind == "f":
        raise GraphDataError(f"{name} holds {column.dtype} numbers; ids must be integers (or strings, as labels)")
    return as_label_array(column)


def weight_column(values: Array | Sequence[float] | None, count: int) -> Array | None:
    """``count`` weights in a type that keeps them exactly; NaN is refused."""
    if values is None:
        return None
    column = as_numpy(values)
    if column.shape != (count,):
        raise GraphDataError(f"weights have the shape {column.shape}; expected one for each of {count:,} edges")
    column = np.ascontiguousarray(column, dtype=weight_dtype(column))
    if column.dtype.kind == "f" and np.isnan(column).any():
        raise GraphDataError(f"the weight of edge {int(np.argmax(np.isnan(column)))} is not a number (NaN)")
    return column


def vertex_count(src: Array, dst: Array, given: int | None, labels: Labels | None) -> int:
    """How many vertices there are: as given, as labelled, or by the largest id; ids outside are refused."""
    count = given if given is not None else (len(labels) if labels is not None else None)
    if count is not None and (isinstance(count, bool) or not hasattr(count, "__index__") or count < 0):
        raise InvalidArgumentError(f"num_vertices={count!r} is not a whole number of vertices")
    if count is not None and labels is not None and len(labels) != count:
        raise GraphDataError(f"there are {len(labels):,} labels for {count:,} vertices; give one a vertex")
    if len(src) == 0:
        return count or 0
    ranges = build.id_range(src), build.id_range(dst)
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    if low < 0:
        raise GraphDataError(f"the id {low} is negative; ids are 0..n-1 (labels=True takes any integers as names)")
    if count is None:
        count = high + 1
        if count > 64 * len(src) + 2**20:
            raise GraphDataError(
                f"the largest id is {high:,} with only {len(src):,} edges; pass labels=True if the ids are sparse "
                "names, or num_vertices if the graph really is that large"
            )
    elif high >= count:
        raise GraphDataError(f"the id {high} is outside 0..{count - 1} (there are {count:,} vertices)")
    return int(count)
