"""Arrays of results, on the host or on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array

__all__ = ["array_module", "on_host"]


def array_module(values: Any) -> Any:
    """CuPy for an array on a GPU, NumPy for any other."""
    if hasattr(values, "__cuda_array_interface__"):
        import cupy

        return cupy
    return np


def on_host(values: Any) -> Array:
    """An array on the host: one on a GPU is copied, any other is returned as it is."""
    if not hasattr(values, "__cuda_array_interface__"):
        array: Array = values
        return array
    from dromos.engines.cuda.transfers import to_host

    return to_host(values)
