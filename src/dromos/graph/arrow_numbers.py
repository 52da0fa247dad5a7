"""Convert numbers between NumPy arrays and Arrow arrays, in the same memory.

``pyarrow.array`` and ``to_numpy`` check for a pandas series, and import pandas for that if it is installed: half a
second in a process that has no other use for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array

__all__ = ["numbers_from_arrow", "numbers_to_arrow"]


def numbers_to_arrow(values: Array) -> Any:
    """A column of values as an Arrow array; NaN stays NaN.

    >>> column = numbers_to_arrow(np.array([1, 2], dtype=np.int16))
    >>> str(column.type), column.to_pylist()
    ('int16', [1, 2])
    """
    import pyarrow as pa

    if values.dtype.kind not in "iuf" or not values.dtype.isnative:
        return pa.array(values, from_pandas=False)
    lasting: Any = np.ascontiguousarray(values)
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(lasting)])


def numbers_from_arrow(column: Any) -> Array:
    """A column of numbers, in one or several chunks, as a NumPy array.

    >>> import pyarrow as pa
    >>> numbers_from_arrow(pa.chunked_array([[1, 2], [3]])).tolist()
    [1, 2, 3]
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        if column.num_chunks == 1:
            return numbers_from_arrow(column.chunk(0))
        pieces = [numbers_from_arrow(piece) for piece in column.chunks if len(piece)]
        return np.concatenate(pieces) if pieces else np.empty(0, dtype=column.type.to_pandas_dtype())
    kind = column.type
    if column.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if not len(column):
        return np.empty(0, dtype=kind.to_pandas_dtype())
    return np.frombuffer(column.buffers()[1], dtype=kind.to_pandas_dtype())[column.offset :][: len(column)]
