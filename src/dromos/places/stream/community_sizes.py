"""The memory of the graphs of communities of a graph on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dromos.places.stream.community_pairs import Pairs, level_bytes

__all__ = ["LevelSizes", "more_memory_for"]

_VERTEX_BYTES, _THREAD_BYTES = 140, 20
"""Bytes for moving and refinement, per vertex of a level in memory, and in addition per vertex and thread."""
_ABOVE = 1
"""The size of the next level relative to the first one in memory, and again of those above it: mostly much less."""
_COPIES = 3
"""Copies of the rows of the first level in memory, on several threads: its own, and room for the next's, twice."""


@dataclass(frozen=True)
class LevelSizes:
    """The sizes of levels in memory.

    ``ids`` and ``sums`` are the types of vertices and of weights between communities; ``keeps``: whether levels are
    kept for the way down.
    """

    ids: np.dtype[Any]
    sums: np.dtype[Any]
    keeps: bool

    @property
    def arc(self) -> int:
        """Bytes of an arc."""
        return self.ids.itemsize + self.sums.itemsize

    def needed(self, pairs: int, groups: int) -> int:
        """The bytes of a graph of communities with this many pairs, including its construction, on one thread."""
        table = Pairs.table_bytes(pairs, groups, self.arc, self.sums.itemsize)
        return max(table, (1 + _ABOVE + self.keeps) * self.climb(pairs, groups, 1))

    def climb(self, pairs: int, groups: int, threads: int) -> int:
        """The bytes of a graph of communities with this many pairs; on several threads with the levels above it."""
        copies = _COPIES + self.keeps if threads > 1 else 1
        rows = level_bytes(2 * pairs, groups, self.arc)
        return copies * rows + groups * (_VERTEX_BYTES + threads * _THREAD_BYTES)


def more_memory_for(size: int) -> int:
    """How much larger a budget has to be for ``size`` bytes more: buffers take a third of the increase."""
    return size * 3 // 2
