"""The eigenvector of a symmetric matrix's greatest eigenvalue, by Lanczos' method.

Power iteration gains a digit in each so many products, by the ratio of the two greatest eigenvalues. The best vector in
the space that the same products span is as good after about the square root of their number. The space is started
again from its best vector when it has as many vectors as are kept. Lanczos, "An iteration method for the solution of
the eigenvalue problem of linear differential and integral operators", 1950.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from dromos.algorithms.dots import dot
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Session

__all__ = ["Products", "kept_vectors", "length", "ritz_vector"]

_FEWEST, _MOST = 8, 24
_SMALL_BYTES: Final = 64 << 20
_LOOKS: Final = 2  # steps between two looks at how good the vector is
_EXHAUSTED: Final = 1e-12  # of the eigenvalue: what is left of a product is rounding


class Products:
    """Products by the engine's own kernel, which are counted and told as progress towards ``limit``."""

    def __init__(self, session: Session, limit: int) -> None:
        self.used = 0
        self._session, self._limit = session, limit

    def __call__(self, graph: Graph, x: Array) -> Array:
        """The sums of ``x`` over the rows of ``graph``, times its weights."""
        fields = self._session.native("product", graph, x=x)
        assert fields is not None, "an engine without products"
        self.used += 1
        if self._session.progress is not None:
            self._session.progress(self.used, self._limit)
        return np.asarray(fields["y"])


def kept_vectors(graph: Graph) -> int:
    """How many vectors to keep: about as many bytes as the graph's arcs have, but never very few, and many small ones.

    >>> import dromos as dr
    >>> kept_vectors(dr.generators.path(1 << 20)), kept_vectors(dr.generators.path(9))
    (8, 24)
    """
    if 8 * _MOST * graph.num_vertices <= _SMALL_BYTES:
        return _MOST
    return int(np.clip(graph.num_arcs // max(2 * graph.num_vertices, 1), _FEWEST, _MOST))


def ritz_vector(product: Callable[[Array], Array], start: Array, most: int, tolerance: float) -> Array:
    """The best vector in the space of ``start`` and up to ``most`` products of a symmetric matrix from zero on.

    Of length 1, and nowhere below zero. Stops early where another product would change the vector by ``tolerance`` in
    sum, relative to its eigenvalue. What ``product`` returns is written over.

    >>> matrix = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> ritz_vector(matrix.__matmul__, np.ones(3), 8, 1e-12).round(3).tolist()
    [0.5, 0.707, 0.5]
    """
    basis, room = np.empty((most, len(start))), np.empty(len(start))  # fresh memory in each step would take longer
    np.divide(start, length(start), out=basis[0])
    diagonal, beside = np.zeros(most), np.zeros(most)  # the matrix in this basis is tridiagonal
    for last in range(most):
        left = product(basis[last])
        diagonal[last] = dot(basis[last], left)
        left -= np.multiply(basis[last], diagonal[last], out=room)
        if last:
            left -= np.multiply(basis[last - 1], beside[last - 1], out=room)
            # rounding brings back the direction that grows most
            left -= np.multiply(basis[0], dot(basis[0], left), out=room)
        beside[last] = length(left)
        full, exhausted = last + 1 == most, beside[last] <= _EXHAUSTED * abs(diagonal[0])
        if full or exhausted or (last + 1) % _LOOKS == 0:
            off = np.diag(beside[:last], 1)
            values, vectors = np.linalg.eigh(np.diag(diagonal[: last + 1]) + off + off.T)
            size = float(np.abs(left, out=room).sum())
            change = abs(vectors[-1, -1]) * size / max(values[-1], np.finfo(float).tiny)
            if full or exhausted or change < tolerance:
                break
        np.divide(left, beside[last], out=basis[last + 1])
    # the entries of the eigenvector have one sign: what is below zero is rounding
    best: Array = np.abs(np.einsum("i,ij->j", vectors[:, -1], basis[: last + 1]))
    return best


def length(values: Array) -> float:
    """Euclidean."""
    return math.sqrt(dot(values, values))
