"""Truss numbers on the CPU's threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.parallel import num_threads, run_team
from dromos.places.operators.trusses import Form, Peeling
from dromos.places.operators.trusses.rows import WholeRows

__all__ = ["form"]

_SMALL = 1 << 12  # vertices that one thread finishes before others are awake
_FEW = 256  # edges that one thread peels by itself


class _Compiled:
    """See :mod:`dromos.places.operators.trusses`."""

    def __init__(self, threads: int | None) -> None:
        self._threads = num_threads(threads)

    def number(self, rows: WholeRows) -> None:
        from dromos.places.operators.trusses import cpu_kernels as kernels

        self._run(kernels.number, *rows, few=len(rows.base) < _SMALL)

    def count(self, rows: WholeRows, vertices: Array, values: Array) -> None:
        from dromos.places.operators.trusses import cpu_kernels as kernels

        self._run(kernels.count, *rows[:3], vertices, values, few=len(vertices) < _SMALL)

    def peel(self, rows: WholeRows, leaving: Array, level: int, peeling: Peeling) -> int:
        from dromos.places.operators.trusses import cpu_kernels as kernels

        size = np.zeros(1, np.int64)
        self._run(kernels.peel, *rows, leaving, level, *peeling, size, few=len(leaving) < _FEW)
        return int(size[0])

    def _run(self, kernel: Any, *given: Any, few: bool) -> None:
        stop = np.zeros(1, np.int64)
        if few:
            run_team(kernel, *given, np.zeros(1, np.int64), stop, threads=1)
        else:
            run_team(kernel, *given, np.zeros(1, np.int64), stop, threads=self._threads, stop=stop)


def form(threads: int | None = None) -> Form:
    """The form of the CPU."""
    return _Compiled(threads)
