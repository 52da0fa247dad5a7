"""What the intersection of rows means."""

from __future__ import annotations

from dromos.dtypes import Array
from dromos.places.operators.blocks import Rows
from dromos.places.operators.intersection import Intersect

__all__ = ["intersect"]


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


def _row(rows: Rows, v: int) -> list[int]:
    begin, end = rows.offsets[v - rows.first], rows.offsets[v - rows.first + 1]
    found: list[int] = rows.targets[begin:end].tolist()
    return found
