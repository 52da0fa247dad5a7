"""What the compiled and the plain steps of Louvain and Leiden have in common."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

import numpy as np

from dromos.dtypes import Array, read_only

__all__ = [
    "BLOCK", "HUB", "LEAST_GAIN", "ONE_IN_EXACT", "ROOM", "STALE_PASSES", "Level", "Rise", "Steps", "batch_of",
    "hubs_before", "is_large",
]  # fmt: skip

LEAST_GAIN: Final = 1e-10
"""The least gain that counts, relative to the strength of the vertex; rounding must not move it forever."""

HUB: Final = 256
"""Arcs from which a vertex is not visited again for every neighbor that moves. For lesser ones it would save little,
and from 64 on communities of preferential attachment come out a little worse."""

LARGE: Final = 1 << 19
"""Arcs of a level from which vertices move in batches, on all threads."""

BATCHES: Final = 64
"""The number of batches into which the vertices of such a level are divided."""

STALE_PASSES: Final = 16
"""Passes in which a move may be made although others of the same batch have made it worse than it seemed."""

ONE_IN_EXACT: Final = 16
"""If the vertices that want to move have fewer than one in so many of a batch's arcs, each is checked again first."""

ROOM: Final = 2.0**60
"""The number of units of twice the weight of all edges, in which a hub's room is measured."""

BLOCK: Final = 64
"""Vertices whose weights within communities are summed separately."""


class Level(NamedTuple):
    """A graph of communities; ``weights`` of size 0 stand for ones."""

    offsets: Array
    targets: Array
    weights: Array
    strength: Array

    @classmethod
    def of(cls, *arrays: Array) -> Level:
        """A level of read-only arrays, whatever their origin, so that kernels are compiled once for all levels."""
        return cls(*map(read_only, arrays))

    @property
    def size(self) -> int:
        return len(self.strength)


def is_large(level: Level) -> bool:
    """Whether vertices of a level move in batches; must not depend on the threads, since the result depends on it."""
    return len(level.targets) >= LARGE


def batch_of(level: Level) -> int:
    """The number of vertices of a batch."""
    return -(-level.size // BATCHES)


def hubs_before(level: Level, order: Array) -> tuple[Array, int]:
    """An order with hubs before others, and how many there are.

    >>> star = Level(np.array([0, 300, *range(301, 601)]), np.zeros(600, int), np.empty(0), np.ones(301))
    >>> order, hubs = hubs_before(star, np.arange(300, -1, -1))
    >>> order[:3].tolist(), hubs
    ([0, 300, 299], 1)
    """
    is_hub = np.diff(level.offsets) >= HUB
    count = int(np.count_nonzero(is_hub))
    if count == 0:
        return order, 0
    come_first = is_hub[order]
    return np.concatenate([order[come_first], order[~come_first]]), count


class Rise(NamedTuple):
    """The result of several levels in one call."""

    parts: list[Array]
    """For each of them, the vertex of the next level that contains each vertex."""
    level: Level
    community: Array
    """The initial communities of the last level's vertices."""
    is_top: bool
    """Whether they stay there."""


class Steps(Protocol):
    """Moving, refinement and aggregation on one level; arrays that are given may be overwritten."""

    def on(self, threads: int) -> Steps:
        """The same steps on so many threads."""

    def move(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """The communities after moves from ``community``, and their number; first visits are in an order drawn from
        ``seed``. Communities are numbered by their first vertex."""

    def refine(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """The well-connected part of its community that each vertex is in, numbered likewise, and their number."""

    def aggregate(self, level: Level, group: Array, groups: int) -> Level:
        """The graph of groups."""

    def rise(self, level: Level, scale: float, community: Array, seeds: Array) -> Rise:
        """As many levels from here up as one call can do, possibly none; each takes two of the seeds."""

    def pieces(self, level: Level, community: Array) -> Array:
        """The connected pieces of all communities: for each vertex, the number of one of the piece's vertices."""

    def numbered(self, group: Array) -> tuple[Array, int]:
        """See :func:`dromos.engines.native.community_numbers.numbered`."""

    def cut(self, fine: Array, coarse: Array) -> Array:
        """See :func:`dromos.engines.native.community_numbers.cut`."""
