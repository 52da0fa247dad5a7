"""Products of vectors in an order of their own, whatever BLAS there is."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array

__all__ = ["dot"]


def dot(a: Array, b: Array) -> float:
    """The sum of the products of two vectors' entries, by NumPy itself: BLAS would start threads of its own.

    >>> dot(np.array([1.0, 2.0]), np.array([3, 4]))
    11.0
    """
    return float(np.einsum("i,i", a, b))
