"""The layout of NumPy's array objects, which is part of its binary interface; checked once against an array."""

from __future__ import annotations

import ctypes
import struct
import sys
from functools import cache
from typing import Final

import numpy as np

__all__ = [
    "ALIGNED",
    "ARRAY_DATA",
    "ARRAY_DIMENSIONS",
    "ARRAY_FLAGS",
    "ARRAY_SHAPE",
    "ARRAY_STRIDES",
    "ARRAY_TYPE",
    "CONTIGUOUS",
    "TYPE_KIND",
    "TYPE_SIZE",
    "TYPE_SIZE_BITS",
    "WRITEABLE",
    "is_layout_known",
]  # fmt: skip

# byte offsets in a PyArrayObject
ARRAY_DATA: Final = 16
ARRAY_DIMENSIONS: Final = 24
ARRAY_SHAPE: Final = 32
ARRAY_STRIDES: Final = 40
ARRAY_TYPE: Final = 56
ARRAY_FLAGS: Final = 64
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400  # flags

# byte offsets in a PyArray_Descr: the letters of its kind, its type and its byte order, later its size
TYPE_KIND: Final = 24
TYPE_SIZE: Final = 40
TYPE_SIZE_BITS: Final = 64


@cache
def is_layout_known() -> bool:
    """Whether arrays have the memory layout that this module assumes.

    >>> is_layout_known()
    True
    """
    if sys.byteorder != "little" or struct.calcsize("P") != 8 or np.ndarray.__basicsize__ < ARRAY_FLAGS + 4:
        return False
    probe = np.zeros((5, 7, 3), dtype=np.int16)[1:, ::2]
    base = id(probe)

    def word(address: int) -> int:
        return int(ctypes.c_int64.from_address(address).value)

    def number(address: int) -> int:
        return int(ctypes.c_int32.from_address(address).value)

    if word(base + ARRAY_DATA) != probe.ctypes.data or number(base + ARRAY_DIMENSIONS) != 3:
        return False
    if word(base + ARRAY_TYPE) != id(probe.dtype) or number(base + ARRAY_FLAGS) != probe.flags.num:
        return False
    shape, strides = word(base + ARRAY_SHAPE), word(base + ARRAY_STRIDES)
    if not shape or not strides:
        return False
    found = [tuple((ctypes.c_int64 * 3).from_address(address)) for address in (shape, strides)]
    kind = ctypes.string_at(id(probe.dtype) + TYPE_KIND, 3)
    size = number(id(probe.dtype) + TYPE_SIZE)
    return found == [probe.shape, probe.strides] and kind == b"ih=" and size == probe.itemsize
