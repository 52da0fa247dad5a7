"""Degrees from row offsets, without a temporary array as large as the graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from dromos.dtypes import Array

__all__ = ["degree_blocks", "longest_row"]

_BLOCK: Final = 1 << 16


def degree_blocks(offsets: Array) -> Iterator[tuple[slice, Array]]:
    """Yield the vertices and degrees of one block after the other.

    >>> [(block, degrees.tolist()) for block, degrees in degree_blocks(np.array([0, 2, 5]))]
    [(slice(0, 2, None), [2, 3])]
    """
    for first in range(0, len(offsets) - 1, _BLOCK):
        degrees = np.diff(offsets[first : first + _BLOCK + 1])
        yield slice(first, first + len(degrees)), degrees


def longest_row(offsets: Array) -> int:
    """The greatest degree; 0 if there are no vertices.

    >>> longest_row(np.array([0, 2, 5]))
    3
    """
    return max((int(degrees.max()) for _, degrees in degree_blocks(offsets)), default=0)
