"""The mode of lists with NumPy: sort, count runs, and let the best run of a list be written last."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.places.operators.mode import Mode

__all__ = ["mode"]


def mode(threads: int | None = None) -> Mode:
    """See :mod:`dromos.places.operators.mode`."""
    return _mode


def _mode(offsets: Array, values: Array, before: Array) -> Array:
    found = before.copy()
    if not len(values):
        return found
    lists = np.repeat(np.arange(len(before)), np.diff(offsets))
    order = np.lexsort((values, lists))
    lists, values = lists[order], values[order]
    begins = np.flatnonzero(np.append(True, (lists[1:] != lists[:-1]) | (values[1:] != values[:-1])))
    counts = np.diff(np.append(begins, len(values)))
    best = np.lexsort((-values[begins].astype(np.int64), counts, lists[begins]))
    found[lists[begins[best]]] = values[begins[best]]  # with several for one list, the last write wins
    return found
