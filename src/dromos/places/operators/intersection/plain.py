"""The plain form of the intersection of rows, which defines its meaning."""

from __future__ import annotations

from dromos.dtypes import Array
from dromos.places.operators.blocks import Rows
from dromos.places.operators.intersection import Intersect
from dromos.places.operators.intersection.walks import AddWalks

__all__ = ["add_walks", "intersect"]


def intersect(num_vertices: int, threads: int | None = None) -> Intersect:
    """See :mod:`dromos.places.operators.intersection`."""
    return _intersect


def _intersect(left: Rows, right: Rows, counts: Array) -> int:
    total = 0
    others = {y: set(_row(right, y)) for y in range(right.first, right.last)}
    for x in range(left.first, left.last):
        near = set(_row(left, x))
        for y in near & others.keys():
            common = near & others[y]
            counts[[x, y]] += len(common)
            counts[list(common)] += 1
            total += len(common)
    return total


def add_walks(num_vertices: int, threads: int | None = None) -> AddWalks:
    """See :mod:`dromos.places.operators.intersection.walks`."""
    return _add_walks


def _add_walks(left: Rows, right: Rows, total: Array) -> None:
    others = {u: _steps(right, u) for u in range(right.first, right.last)}
    for v in range(left.first, left.last):
        near = _steps(left, v)
        for u, weight in near.items():
            inner = 0.0
            for x, second in others.get(u, {}).items():
                inner += second * near.get(x, 0.0)
            total[v] += weight * inner


def _steps(rows: Rows, v: int) -> dict[int, float]:
    assert rows.weights is not None
    begin, end = rows.offsets[v - rows.first], rows.offsets[v - rows.first + 1]
    return dict(zip(_row(rows, v), rows.weights[begin:end].tolist(), strict=True))


def _row(rows: Rows, v: int) -> list[int]:
    begin, end = rows.offsets[v - rows.first], rows.offsets[v - rows.first + 1]
    found: list[int] = rows.targets[begin:end].tolist()
    return found
