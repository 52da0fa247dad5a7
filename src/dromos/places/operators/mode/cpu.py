"""The mode of lists on the CPU's threads."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.parallel import num_threads, run_team
from dromos.places.operators.mode import Mode

__all__ = ["mode"]

_SMALL = 1 << 15
_APART = 32  # entries between the tables of two threads, so that they share no cache line


def mode(threads: int | None = None) -> Mode:
    """See :mod:`dromos.places.operators.mode`."""

    def count(offsets: Array, values: Array, before: Array) -> Array:
        from dromos.places.operators.mode import cpu_kernels as kernels

        found = before.copy()
        longest = int(np.diff(offsets).max(initial=0))
        team = 1 if len(values) < _SMALL else num_threads(threads)
        size = (1 << (2 * longest).bit_length()) + _APART
        table, counts = np.full(team * size, -1, values.dtype), np.empty(team * size, values.dtype)
        stop = np.zeros(1, np.int64)
        run_team(
            kernels.count_lists, offsets, values, found, table, counts, size, np.zeros(1, np.int64), stop,
            threads=team, stop=stop,
        )  # fmt: skip
        return found

    return count
