"""The intersection of rows on the CPU's threads."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.parallel import num_threads, run_team
from dromos.places.operators.blocks import Rows
from dromos.places.operators.intersection import Intersect
from dromos.places.operators.intersection.walks import AddWalks

__all__ = ["add_walks", "intersect"]

_SMALL = 1 << 14


def intersect(num_vertices: int, threads: int | None = None) -> Intersect:
    """See :mod:`dromos.places.operators.intersection`."""
    most = num_threads(threads)
    mark = np.zeros(most * num_vertices, np.uint8)

    def count(left: Rows, right: Rows, counts: Array) -> int:
        from dromos.jit import LINE
        from dromos.places.operators.intersection import cpu_kernels as kernels

        team = 1 if len(left.targets) < _SMALL else most
        totals, stop = np.zeros(team * LINE, np.int64), np.zeros(1, np.int64)
        run_team(
            kernels.count_common, left.offsets, left.targets, left.first, right.offsets, right.targets, right.first,
            mark, num_vertices, counts, np.zeros(1, np.int64), stop, totals, threads=team, stop=stop,
        )  # fmt: skip
        return int(totals.sum())

    return count


def add_walks(num_vertices: int, threads: int | None = None) -> AddWalks:
    """See :mod:`dromos.places.operators.intersection.walks`."""
    most = num_threads(threads)
    mark = np.zeros(most * num_vertices)

    def add(left: Rows, right: Rows, total: Array) -> None:
        from dromos.engines.native import closed_walks_kernels as kernels

        team = 1 if len(left.targets) < _SMALL else most
        stop = np.zeros(1, np.int64)
        arrays = ((rows.offsets, rows.targets, rows.weights, rows.first) for rows in (left, right))
        run_team(
            kernels.add_walks, *next(arrays), *next(arrays), mark, num_vertices, total, np.zeros(1, np.int64), stop,
            threads=team, stop=stop,
        )  # fmt: skip

    return add
