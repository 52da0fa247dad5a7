"""The number types that Dromos uses, and how they are chosen.

Ids are ``int32`` while they fit and ``int64`` beyond; offsets are always ``int64``; weights are ``float32``,
``float64`` or ``int32`` and are never converted in a way that changes a value.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dromos.errors import GraphDataError

__all__ = [
    "MAX_INT32_VERTICES",
    "OFFSET",
    "WEIGHT_DTYPES",
    "Array",
    "as_words",
    "id_dtype",
    "order_of",
    "read_only",
    "weight_dtype",
]

Array: TypeAlias = NDArray[Any]

OFFSET = np.dtype(np.int64)
WEIGHT_DTYPES = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32))
MAX_INT32_VERTICES = 2**31 - 1


def id_dtype(num_vertices: int) -> np.dtype[Any]:
    """The type that holds the ids of ``num_vertices`` vertices.

    >>> id_dtype(1000)
    dtype('int32')
    >>> id_dtype(2**40)
    dtype('int64')
    """
    return np.dtype(np.int32 if num_vertices <= MAX_INT32_VERTICES else np.int64)


def weight_dtype(values: Array) -> np.dtype[Any]:
    """The smallest weight type of Dromos that represents all ``values`` exactly.

    Integers that fit become ``int32``, other integers ``float64`` if they are exact there; floats keep their width
    (half precision widens to ``float32``).

    >>> weight_dtype(np.array([1, 2], dtype=np.int64))
    dtype('int32')
    >>> weight_dtype(np.array([0.5]))
    dtype('float64')
    """
    dtype = values.dtype
    if dtype in WEIGHT_DTYPES:
        return dtype
    if dtype.kind == "f" and dtype.itemsize < 4:
        return np.dtype(np.float32)
    if dtype.kind == "b":
        return np.dtype(np.int32)
    if dtype.kind in "iu":
        if values.size == 0:
            return np.dtype(np.int32)
        low, high = int(values.min()), int(values.max())
        if low >= -(2**31) and high < 2**31:
            return np.dtype(np.int32)
        if low >= -(2**53) and high <= 2**53:
            return np.dtype(np.float64)
        raise GraphDataError(
            f"weights reach {high if high > -low else low}, which neither int32 nor float64 holds exactly; "
            "scale them, or pass float64 weights to accept the rounding"
        )
    raise GraphDataError(f"weights of type {dtype} are not numbers that Dromos keeps; pass float32, float64 or int32")


def read_only(array: Array) -> Array:
    """A read-only view: kernels are compiled for one type of their input, wherever it comes from.

    >>> read_only(np.zeros(1)).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view


def order_of(ids: Array) -> Array:
    """The order that sorts non-negative ids; equal ids keep their order.

    Sorts by 16 bits at a time, which NumPy does in linear time.

    >>> order_of(np.array([70_000, 3, 70_000, 1])).tolist()
    [3, 1, 0, 2]
    """
    order = np.argsort(ids.astype(np.uint16), kind="stable")
    for shift in range(16, int(ids.max(initial=0)).bit_length(), 16):
        order = order[np.argsort((ids[order] >> shift).astype(np.uint16), kind="stable")]
    return order


def as_words(array: Array) -> Array:
    """The same memory as unsigned integers: a kernel that only moves values is compiled once per width.

    >>> as_words(np.ones(1, np.float32)).dtype, as_words(np.ones(1, np.int64)).dtype
    (dtype('uint32'), dtype('uint64'))
    """
    return array.view(np.dtype(f"u{array.itemsize}"))
