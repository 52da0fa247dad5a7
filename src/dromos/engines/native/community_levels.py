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
"""A gain that counts, relative to the strength of the vertex; rounding must not move it for ever."""

HUB: Final = 256
"""Arcs of a vertex from which on it is not looked at again for every neighbour that moves. For lesser ones it would
save little, and from 64 on communities of preferential attachment come out a little worse."""

LARGE: Final = 1 << 19
"""Arcs of a level from which on vertices move in batches, on all threads."""

BATCHES: Final = 64
"""Into how many batches the vertices of such a level are divided."""

STALE_PASSES: Final = 16
"""Passes in which moves may be made that others of the same batch have made worse than they seemed."""

ONE_IN_EXACT: Final = 16
"""If those that want to move have fewer than one in so many of a batch's arcs, each is looked at again just before."""

ROOM: Final = 2.0**60
"""In how many units the weight of all edges, twice, is measured where a hub's room is."""

BLOCK: Final = 64
"""Vertices whose weights within communities are added up by themselves."""


class Level(NamedTuple):
    """A graph of communities; ``weights`` of size 0 stand for ones."""

    offsets: Array
    targets: Array
    weights: Array
    strength: Array

    @classmethod
    def of(cls, *arrays: Array) -> Level:
        """Of arrays that kernels only read, whoever made them: so they are compiled once for all levels."""
        return cls(*map(read_only, arrays))

    @property
    def size(self) -> int:
        return len(self.strength)


def is_large(level: Level) -> bool:
    """Whether vertices of a level move in batches; that must not depend on the threads, as its answer does on it."""
    return len(level.targets) >= LARGE


def batch_of(level: Level) -> int:
    """How many vertices a batch has."""
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
    """What several levels in one call came to."""

    parts: list[Array]
    """For each of them, the vertex of the next one that each of its vertices is in."""
    level: Level
    community: Array
    """Where the vertices of that level start."""
    is_top: bool
    """Whether they stay there."""


class Steps(Protocol):
    """Moving, refinement and aggregation on one level; arrays that are given may be overwritten."""

    def on(self, threads: int) -> Steps:
        """The same on so many threads."""

    def move(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """The communities after moves from ``community``, and how many there are; first visits in an order drawn from
        ``seed``. They are numbered by their first vertex."""

    def refine(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """The well-connected part of its community that each vertex is in, numbered likewise, and how many."""

    def aggregate(self, level: Level, group: Array, groups: int) -> Level:
        """The graph of groups."""

    def rise(self, level: Level, scale: float, community: Array, seeds: Array) -> Rise:
        """As many levels from here up as one call can do, none or more; each takes two of the seeds."""

    def pieces(self, level: Level, community: Array) -> Array:
        """The connected pieces of all communities: a number of one of the piece's vertices for each vertex."""

    def numbered(self, group: Array) -> tuple[Array, int]:
        """See :func:`dromos.engines.native.community_numbers.numbered`."""

    def cut(self, fine: Array, coarse: Array) -> Array:
        """See :func:`dromos.engines.native.community_numbers.cut`."""
