"""What the compiled and the plain steps of Louvain and Leiden have in common."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from dromos.dtypes import Array, read_only

__all__ = ["LEAST_GAIN", "Level", "Steps"]

LEAST_GAIN: Final = 1e-10
"""A gain that counts, relative to the strength of the vertex; rounding must not move it for ever."""


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


class Steps(Protocol):
    """Moving, refinement and aggregation on one level; arrays that are given may be overwritten."""

    def move(self, level: Level, scale: float, community: Array, total: Array, size: Array, order: Array) -> Array:
        """The communities after moves from ``community``, first visits in ``order``; ``total`` and ``size`` are the
        sums of strengths and the members of each."""

    def refine(self, level: Level, scale: float, community: Array, total: Array, order: Array) -> Array:
        """The well-connected part of its community that each vertex is in."""

    def aggregate(self, level: Level, group: Array, starts: Array, order: Array) -> tuple[Array, Array, Array]:
        """Offsets, targets and weights of the graph of groups; ``order`` has the vertices by group."""
