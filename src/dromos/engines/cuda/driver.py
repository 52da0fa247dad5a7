"""Functions of CUDA's driver that CuPy does not offer."""

from __future__ import annotations

import ctypes
from functools import cache

__all__ = ["address_of", "driver"]


@cache
def driver() -> ctypes.CDLL:
    """The driver's library."""
    return ctypes.CDLL("libcuda.so.1")


@cache
def address_of(function: str) -> int:
    """The address of a driver function, for compiled code that calls it."""
    return ctypes.cast(getattr(driver(), function), ctypes.c_void_p).value or 0
