"""Groups of sources that are searched together: how large, how much memory, and what each of them found."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array

__all__ = ["WIDTHS", "Found", "group_bytes", "step_of", "width_for"]

WIDTHS: Final = (1, 2, 4, 8)
"""The supported numbers of 64-bit words per vertex: kernels exist for these."""


class Found(NamedTuple):
    """The outcome of one group of sources; arrays have an entry, or a row, for each of its sources in order."""

    group: int
    """The number of the group."""
    sources: Array
    reached: Array
    """How many vertices each source reaches, without itself."""
    distance_sum: Array
    """The sum of their distances."""
    inverse_sum: Array
    """The sum of the inverses of their distances."""
    depth: Array
    """The greatest of their distances."""
    distance: Array | None
    """Rows of distances, -1 where there is no path; overwritten by a later group."""
    seen: Array | None
    """For each vertex the words with a bit for every source that reaches it; overwritten by a later group."""
    levels: int
    pulled: int
    """How many of the levels were pulled."""
    joint: int
    """The total number of vertices in all joint frontiers."""
    seconds: float

    @property
    def sharing(self) -> float:
        """The sharing degree (iBFS, equation 2.2): how many searches share a joint frontier's vertex, on average."""
        return float(self.reached.sum() + len(self.sources)) / max(self.joint, 1)


def width_for(sources: int) -> int:
    """The words per vertex for a group of so many sources.

    >>> width_for(64), width_for(65), width_for(512)
    (1, 2, 8)
    """
    return next(width for width in WIDTHS if 64 * width >= sources)


def group_bytes(num_vertices: int, width: int, distance: Any = None) -> int:
    """The memory of a group of ``64 * width`` sources, with rows of distances if their dtype is given.

    >>> group_bytes(1 << 20, 1) >> 20
    32
    """
    rows = 0 if distance is None else 64 * width * np.dtype(distance).itemsize + 32 * width  # and their digits
    return int(num_vertices * (3 * 8 * width + 8 + rows) + num_vertices // 8)


def step_of(found: Found) -> tuple[int, int, str, float]:
    """A group's row of a trace: its levels, the size of its joint frontiers, a note, and its seconds."""
    said = (
        f"group {found.group}: {len(found.sources)} sources, sharing degree {found.sharing:.3g}, "
        f"{found.pulled} of {found.levels} levels pulled"
    )
    return max(found.levels, 1), found.joint, said, found.seconds
