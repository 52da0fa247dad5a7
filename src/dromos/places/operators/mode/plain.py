"""The plain form of the mode of a list, which defines its meaning."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from dromos.dtypes import Array
from dromos.places.operators.mode import Mode

__all__ = ["mode"]


def mode(threads: int | None = None) -> Mode:
    """See :mod:`dromos.places.operators.mode`."""
    return _mode


def _mode(offsets: Array, values: Array, before: Array) -> Array:
    found = before.copy()
    for number, (begin, end) in enumerate(pairwise(offsets.tolist())):
        counts = Counter(values[begin:end].tolist())
        if counts:
            found[number] = min(counts, key=lambda name: (-counts[name], name))
    return np.asarray(found)
