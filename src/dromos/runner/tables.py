"""Results as tables of other libraries, which are imported here and nowhere else in this layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError, MissingDependencyError
from dromos.graph import Labels
from dromos.graph.arrow_numbers import numbers_to_arrow

__all__ = ["arrow", "arrow_column", "named", "named_arrow", "pandas", "polars"]


def arrow() -> Any:
    """The module ``pyarrow``."""
    try:
        import pyarrow
    except ImportError:
        raise MissingDependencyError(
            "Arrow tables, CSV and Parquet need the package pyarrow: pip install pyarrow"
        ) from None
    return pyarrow


def pandas() -> Any:
    """The module ``pandas``."""
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("to_pandas() needs pandas: pip install 'dromos[pandas]'") from None
    return pandas


def polars() -> Any:
    """The module ``polars``."""
    try:
        import polars
    except ImportError:
        raise MissingDependencyError("to_polars() needs polars: pip install polars") from None
    return polars


def arrow_column(values: Array) -> Any:
    """An array as an Arrow column: a row of a vector field becomes a list of fixed size."""
    pa = arrow()
    if values.ndim == 2:
        return pa.FixedSizeListArray.from_arrays(
            numbers_to_arrow(np.ascontiguousarray(values).ravel()), values.shape[1]
        )
    if isinstance(values, pa.Array):
        return values
    try:
        return numbers_to_arrow(values)
    except UnicodeEncodeError as error:
        raise GraphDataError(f"a label has no UTF-8 form (a lone surrogate), which Arrow needs: {error}") from None


def named(ids: Array, labels: Labels | None) -> Array:
    """Ids of vertices as a person knows them: their labels, and None where the id is -1 ("there is none").

    >>> named(np.array([1, -1]), Labels.from_values(["ada", "bob"])).tolist()
    ['bob', None]
    """
    if labels is None:
        return ids
    if ids.ndim > 1:
        return named(ids.ravel(), labels).reshape(ids.shape)
    present = ids >= 0
    if present.all():
        return labels.values_of(ids)
    out = np.full(len(ids), None, dtype=object)
    out[present] = labels.values_of(ids[present])
    return out


def named_arrow(ids: Array, labels: Labels) -> Any:
    """As :func:`named`, as an Arrow column of the labels' own type.

    >>> named_arrow(np.array([1, -1]), Labels.from_values(["ada", "bob"])).to_pylist()
    ['bob', None]
    """
    return labels.to_arrow().take(arrow().array(ids, mask=ids < 0))
