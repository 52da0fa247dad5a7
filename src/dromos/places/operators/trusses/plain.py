"""The plain form of peeling edges over whole rows, which defines its meaning."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.places.operators.trusses import Form, Peeling
from dromos.places.operators.trusses.rows import WholeRows

__all__ = ["form"]


class _Plain:
    """See :mod:`dromos.places.operators.trusses`."""

    def number(self, rows: WholeRows) -> None:
        for v in range(len(rows.base) - 1):
            near = rows.row(v)[0]
            for arc, u in enumerate(near[near < v].tolist()):
                theirs, edges = rows.row(u)
                rows.place[rows.offsets[v] - rows.base[v] + arc] = edges[np.searchsorted(theirs, v)]

    def count(self, rows: WholeRows, vertices: Array, values: Array) -> None:
        for u in vertices.tolist():
            near, edges = rows.row(u)
            for v, edge in zip(near[near > u].tolist(), edges[near > u].tolist(), strict=True):
                corners, ones, others = _triangles(rows, u, v)
                above = corners > v
                values[edge] += np.count_nonzero(above)
                values[ones[above]] += 1
                values[others[above]] += 1

    def peel(self, rows: WholeRows, leaving: Array, level: int, peeling: Peeling) -> int:
        values, gone, queue = peeling
        size = 0
        for edge in leaving.tolist():
            u = int(np.searchsorted(rows.base, edge, side="right")) - 1
            near, edges = rows.row(u)
            v = int(near[edges == edge][0])
            _, ones, others = _triangles(rows, u, v)
            for one, other in zip(ones.tolist(), others.tolist(), strict=True):
                if gone[one] == 2 or gone[other] == 2:
                    continue
                for third, second in ((one, other), (other, one)):
                    if not gone[third] and (not gone[second] or edge < second) and values[third] > level:
                        values[third] -= 1
                        if values[third] == level:
                            queue[size] = third
                            size += 1
        return size


def _triangles(rows: WholeRows, u: int, v: int) -> tuple[Array, Array, Array]:
    """The common neighbors of two vertices, and the edges from each vertex to them."""
    (near, edges), (far, others) = rows.row(u), rows.row(v)
    corners, of_u, of_v = np.intersect1d(near, far, assume_unique=True, return_indices=True)
    return corners, edges[of_u], others[of_v]


def form(threads: int | None = None) -> Form:
    """The form of engines without compiled code."""
    return _Plain()
