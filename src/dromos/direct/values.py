"""The kinds of values that a kernel works with, and how LLVM writes them."""

from __future__ import annotations

import struct
from typing import Any, Final, NamedTuple

from dromos.dtypes import Array

__all__ = [
    "INTEGER",
    "REAL",
    "TRUTH",
    "ArrayValue",
    "Kind",
    "LoweringError",
    "Value",
    "constant",
    "kind_of_array",
    "load_relaxed",
    "memory_type",
]

INTEGER: Final = "i64"
REAL: Final = "double"
TRUTH: Final = "i1"

Kind = str
"""Of an argument: ``i64``, ``double``, or an array of what its elements are in memory, such as ``[i32]``, ``[u8]``."""


class LoweringError(TypeError):
    """A kernel that says what cannot be translated, or is called with what it does not take: a mistake in Dromos."""


class Value(NamedTuple):
    """A number: its type in LLVM, and its register or constant."""

    type: str
    text: str


class ArrayValue(NamedTuple):
    """An array: the kind of its elements in memory, the register of its address, that of its size."""

    element: str
    address: str
    size: str


def load_relaxed(array: Array, index: int) -> Any:
    """An element that other threads may write meanwhile; a kernel reads it anew each time.

    >>> load_relaxed([7, 8], 1)
    8
    """
    return array[index]


def kind_of_array(array: Array) -> Kind | None:
    """The kind of an array; None if kernels take no such arrays.

    >>> import numpy as np
    >>> kind_of_array(np.zeros(2, np.uint8)), kind_of_array(np.zeros(2)), kind_of_array(np.zeros((2, 2)))
    ('[u8]', '[double]', None)
    """
    if array.ndim != 1 or not array.flags.c_contiguous or not array.flags.aligned or not array.dtype.isnative:
        return None
    if array.dtype.kind in "iu":
        return f"[{array.dtype.kind}{8 * array.dtype.itemsize}]"
    return "[double]" if array.dtype == float else None


def memory_type(element: str) -> str:
    """The type in LLVM of an element of this kind: signs are no part of it.

    >>> memory_type("u32"), memory_type("double")
    ('i32', 'double')
    """
    return f"i{element[1:]}" if element[0] == "u" else element


def constant(value: bool | int | float) -> Value:
    """A number as LLVM writes it: one with a point by its bits, so that none is lost.

    >>> constant(3).text, constant(0.1).text
    ('3', '0x3FB999999999999A')
    """
    if isinstance(value, float):
        return Value(REAL, f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}")
    return Value(INTEGER, str(int(value)))
