"""Sums of products of vectors, without BLAS.

BLAS has threads of its own, which spin for a while after each call. On many cores they take cores from the kernel that
runs next: Katz centralities of 65,536 vertices took 56 ms on 16 cores, and 4 without one norm by BLAS.
"""

from __future__ import annotations

import math

import numpy as np

from dromos.dtypes import Array

__all__ = ["dot", "length"]


def dot(a: Array, b: Array) -> float:
    """The sum of the products of two vectors.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(np.einsum("i,i", a, b))


def length(values: Array) -> float:
    """The Euclidean length of a vector.

    >>> length(np.array([3.0, 4.0]))
    5.0
    """
    return math.sqrt(dot(values, values))
