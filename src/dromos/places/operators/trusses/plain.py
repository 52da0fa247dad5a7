"""What truss numbers by the h-index of triangles mean."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.places.operators.trusses import Claims, Form
from dromos.places.operators.trusses.rows import WholeRows

__all__ = ["form"]


class _Plain:
    """See :mod:`dromos.places.operators.trusses`."""

    def begin(self, rows: WholeRows, values: Array) -> None:
        for v in range(len(rows.offsets) - 1):
            near, _ = rows.row(v)
            for arc, u in enumerate(near[near < v].tolist()):
                theirs, of_them = rows.row(u)
                edge = of_them[np.searchsorted(theirs, v)]
                rows.place[rows.offsets[v] - rows.base[v] + arc] = edge
                values[edge] = min(len(near), len(theirs)) - 1

    def lower(self, rows: WholeRows, vertices: Array, claims: Claims) -> int:
        fell = 0
        for x in vertices.tolist():
            near, edges = rows.row(x)
            for y, edge in zip(near.tolist(), edges.tolist(), strict=True):
                if claims.look[edge] and self._owner(rows, x, y) == x:
                    fell += self._lowered(rows, x, y, edge, claims)
        return fell

    def _lowered(self, rows: WholeRows, x: int, y: int, edge: int, claims: Claims) -> bool:
        (near, edges), (far, others) = rows.row(x), rows.row(y)
        corners, of_x, of_y = np.intersect1d(near, far, assume_unique=True, return_indices=True)
        ones, others = edges[of_x], others[of_y]
        least = np.sort(np.minimum(claims.values[ones], claims.values[others]))[::-1]
        new = int(np.count_nonzero(least > np.arange(len(least))))
        if new >= claims.values[edge]:
            return False
        claims.values[edge], claims.look[edge] = new, 2
        for end, sides in ((x, ones), (y, others)):
            for corner, side in zip(corners.tolist(), sides.tolist(), strict=True):
                if claims.values[side] > new:
                    claims.again[side] = claims.woken[self._owner(rows, end, corner)] = 1
        return True

    def _owner(self, rows: WholeRows, x: int, y: int) -> int:
        return max((int(rows.offsets[v + 1] - rows.offsets[v]), v) for v in (x, y))[1]


def form(threads: int | None = None) -> Form:
    """The form of engines without compiled code."""
    return _Plain()
