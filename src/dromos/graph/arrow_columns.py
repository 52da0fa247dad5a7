"""Convert columns of an Arrow table to the columns of edges that the builder takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError
from dromos.graph.arrow_numbers import numbers_from_arrow
from dromos.graph.label_arrays import objects

__all__ = ["arrow_ids", "arrow_weights", "shared_strings"]


def arrow_ids(column: Any, name: str) -> Any:
    """A column of vertices: integers as a NumPy array, strings as they are in Arrow's memory.

    >>> import pyarrow as pa
    >>> arrow_ids(pa.array([3, 1]), "src").tolist()
    [3, 1]
    """
    import pyarrow as pa

    _refuse_nulls(column, name)
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if kind in (pa.string(), pa.large_string(), pa.string_view()):
        return column
    if not pa.types.is_integer(kind):
        if len(column) == 0:  # an empty column often has no meaningful type
            return np.empty(0, dtype=np.int64)
        raise GraphDataError(f"the column {name!r} holds {kind}; vertices must be integers or strings")
    if pa.types.is_dictionary(column.type):
        column = column.cast(kind)
    return numbers_from_arrow(column)


def arrow_weights(column: Any, name: str) -> Array:
    """A column of weights: numbers, none of them missing or NaN.

    >>> import pyarrow as pa
    >>> arrow_weights(pa.array([True, False]), "weight").tolist()
    [True, False]
    """
    import pyarrow as pa

    _refuse_nulls(column, name)
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        if len(column) == 0:
            return np.empty(0, dtype=np.float32)
        raise GraphDataError(f"the column {name!r} holds {kind}; weights must be numbers")
    values = numbers_from_arrow(column)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise GraphDataError(f"the column {name!r} holds NaN in row {int(np.argmax(np.isnan(values))) + 1}")
    return values


def _refuse_nulls(column: Any, name: str) -> None:
    if column.null_count:
        raise GraphDataError(
            f"the column {name!r} has {column.null_count:,} missing values (null); every edge needs one"
        )


def shared_strings(column: Any) -> Array:
    """Arrow's strings as objects, one per distinct string: a tenth of the time and memory if they repeat."""
    import pyarrow as pa

    if column.type == pa.string_view():
        column = column.cast(pa.large_string())
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = []
    for chunk in chunks:
        coded: Any = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        distinct = objects(coded.dictionary.to_pylist())
        parts.append(distinct[np.asarray(coded.indices)])
    return np.concatenate(parts) if parts else objects([])
