"""What the graphs of communities of a graph on disk take of the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dromos.places.stream.community_pairs import Pairs, level_bytes

__all__ = ["LevelSizes", "more_memory_for"]

_VERTEX_BYTES, _THREAD_BYTES = 140, 20
"""What moving and refinement take for each vertex of a level in memory, and for each thread beside that."""
_ABOVE = 1
"""What the next level takes, in parts of the first one in memory, and again those above it: mostly much less."""
_COPIES = 3
"""Of the rows of the first level in memory, on several threads: its own, and room for those of the next, twice."""


@dataclass(frozen=True)
class LevelSizes:
    """What levels in memory take.

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
        """What a graph of communities of so many pairs takes from its making on, on one thread."""
        table = Pairs.table_bytes(pairs, groups, self.arc, self.sums.itemsize)
        return max(table, (1 + _ABOVE + self.keeps) * self.climb(pairs, groups, 1))

    def climb(self, pairs: int, groups: int, threads: int) -> int:
        """What a graph of communities of so many pairs takes; on several threads with the levels above it."""
        copies = _COPIES + self.keeps if threads > 1 else 1
        rows = level_bytes(2 * pairs, groups, self.arc)
        return copies * rows + groups * (_VERTEX_BYTES + threads * _THREAD_BYTES)


def more_memory_for(size: int) -> int:
    """How much larger a budget has to be to have room for ``size`` bytes more: buffers take a third of what is more."""
    return size * 3 // 2
