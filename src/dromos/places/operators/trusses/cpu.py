"""Truss numbers on the CPU's threads."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.parallel import num_threads, run_team
from dromos.places.operators.trusses import Claims, Form
from dromos.places.operators.trusses.rows import WholeRows

__all__ = ["form"]

_SMALL = 1 << 12  # vertices whose edges one thread has numbered before others are awake
_FEW = 32  # vertices whose edges one thread looks at by itself


class _Compiled:
    """See :mod:`dromos.places.operators.trusses`."""

    def __init__(self, threads: int | None) -> None:
        self._threads = num_threads(threads)

    def begin(self, rows: WholeRows, values: Array) -> None:
        from dromos.places.operators.trusses import cpu_kernels as kernels

        n, stop = len(rows.offsets) - 1, np.zeros(1, np.int64)
        self._most = int(np.diff(rows.offsets).max(initial=0))
        self._mark = np.zeros(self._threads * n, rows.place.dtype)
        self._tally = np.zeros(self._threads * self._most, values.dtype)
        run_team(
            kernels.begin, *rows, values, np.zeros(1, np.int64), stop, threads=1 if n < _SMALL else self._threads,
            stop=stop,
        )  # fmt: skip

    def lower(self, rows: WholeRows, vertices: Array, claims: Claims) -> int:
        from dromos.jit import LINE
        from dromos.places.operators.trusses import cpu_kernels as kernels

        team, stop = 1 if len(vertices) < _FEW else self._threads, np.zeros(1, np.int64)
        fell = np.zeros(team * LINE, np.int64)
        run_team(
            kernels.lower, *rows, vertices, *claims, self._mark, len(rows.offsets) - 1, self._tally, self._most,
            np.zeros(1, np.int64), stop, fell, threads=team, stop=stop,
        )  # fmt: skip
        return int(fell.sum())


def form(threads: int | None = None) -> Form:
    """The form of the CPU."""
    return _Compiled(threads)
