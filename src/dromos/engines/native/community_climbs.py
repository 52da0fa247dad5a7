"""A round of Louvain or Leiden: from a graph up to the graph of its communities, and down again."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.community_levels import Level, Steps, is_large
from dromos.vectors import dot

_SMALL: Final = 1 << 12  # vertices of a level below which one call does all further levels: calls take much of the time

__all__ = ["Climb", "climbed", "descended", "pieces", "places"]


class Climb(NamedTuple):
    """The result of a round: the vertices of the last level are the communities."""

    parts: list[Array]
    """For each level but the last, the vertex of the next level that contains each vertex."""
    levels: list[Level]
    """All levels, or only the last."""

    @property
    def top(self) -> Level:
        """The last level."""
        return self.levels[-1]

    def places(self) -> list[Array]:
        """See :func:`places`."""
        return places(self.parts)

    def community(self, singles: Array) -> Array:
        """The vertex of the last level that contains each vertex of the first; ``singles`` if there is one level."""
        found = self.parts[0] if self.parts else singles
        for part in self.parts[1:]:
            found = part.take(found)
        return found

    def without_levels(self) -> Climb:
        """This climb with only the last level."""
        return self._replace(levels=self.levels[-1:])

    def gain(self, scale: float) -> float:
        """A number that grows with the modularity: minus the weight between communities, minus the expected weight
        inside."""
        strength = self.top.strength
        return -float(self.top.weights.sum()) - dot(scale * strength, strength)  # a square might overflow


def places(parts: list[Array]) -> list[Array]:
    """For each level but the first, the vertex of it that contains each vertex of the first; see :class:`Climb`.

    >>> [level.tolist() for level in places([np.array([0, 0, 1]), np.array([0, 0])])]
    [[0, 0, 1], [0, 0, 0]]
    """
    found = parts[:1]
    for part in parts[1:]:
        found.append(part.take(found[-1]))
    return found


def climbed(
    steps: Steps,
    level: Level,
    community: Array,
    scale: float,
    random: np.random.Generator | None,
    refined: bool,
    keep: bool = False,
) -> Climb:
    """Climb from the bottom, with moves from ``community`` on, until a level stays as it is; ``keep``: all levels.

    Orders of vertices are drawn from ``random``; None: they move by their numbers.
    """
    parts: list[Array] = []
    levels, seeds = [level], _Seeds(random)
    while True:
        if refined and parts and level.size <= _SMALL and not is_large(level):
            rise = steps.rise(level, scale, community, seeds.next_ones())
            seeds.skip(2 * len(rise.parts))
            parts += rise.parts
            level, community = rise.level, rise.community
            levels = [level]
            if rise.is_top:
                return Climb(parts, levels)
        n, seed = level.size, next(seeds)
        community, count = steps.move(level, scale, community, seed)
        if count == n:
            return Climb(parts, levels)
        part, number = community, count
        if refined:
            # the order of a large level is not worth the time to draw another
            part, number = steps.refine(level, scale, community, seed if is_large(level) else next(seeds))
            if number == n:  # no vertices merge: go on with the connected pieces of the moved communities
                part, number = steps.numbered(steps.pieces(level, community))
                if number == n:
                    return Climb(parts, levels)
        level = steps.aggregate(level, part, number)
        community = _first_of(community, part, number) if refined else np.arange(number, dtype=part.dtype)
        parts.append(part)
        levels = [*levels, level] if keep else [level]


def descended(steps: Steps, climb: Climb, scale: float, random: np.random.Generator) -> Array:
    """The communities of the vertices of the first level after moves on all levels between the last and the first, from
    the top down; the climb has kept its levels.

    On the way up, a level's vertices moved while the communities around them were small. Levels above the first have
    few arcs, so that this takes little time, and gains more than another try.
    """
    community, seeds = np.arange(climb.top.size, dtype=climb.parts[-1].dtype), _Seeds(random)
    for number in range(len(climb.parts) - 1, -1, -1):
        community = community.take(climb.parts[number])
        if 0 < number < len(climb.parts) - 1:  # the last move on the way up was that of the level below the top
            community, _ = steps.move(climb.levels[number], scale, community, next(seeds))
    return community


class _Seeds:
    """Seeds for the orders of vertices, drawn in groups: a group costs as much as one. Without ``random`` all are 0."""

    def __init__(self, random: np.random.Generator | None) -> None:
        self._random = random
        self._drawn = np.empty(0, np.int64)

    def next_ones(self) -> Array:
        """The next seeds, two or more, without consuming them."""
        if len(self._drawn) < 2:
            more = np.zeros(16, np.int64) if self._random is None else self._random.integers(1 << 62, size=16)
            self._drawn = np.concatenate([self._drawn, more])
        return self._drawn

    def skip(self, count: int) -> None:
        self._drawn = self._drawn[count:]

    def __next__(self) -> int:
        found = int(self.next_ones()[0])
        self.skip(1)
        return found


def pieces(level: Level, community: Array) -> Array:
    """The connected pieces of all communities."""
    src = np.repeat(np.arange(level.size), np.diff(level.offsets))
    inner = community[src] == community[level.targets]
    if len(level.weights):
        inner &= level.weights > 0
    a, b = src[inner], level.targets[inner]
    piece = np.arange(level.size, dtype=community.dtype)
    while True:
        here, there = piece[a], piece[b]
        between = here != there
        if not between.any():
            return piece
        a, b = a[between], b[between]
        np.minimum.at(piece, np.maximum(here, there)[between], np.minimum(here, there)[between])
        while not np.array_equal(piece, piece[piece]):  # make each vertex point at the least of its tree
            piece = piece[piece]


def _first_of(community: Array, part: Array, parts: int) -> Array:
    """The community of each part: that of any of its vertices."""
    found = np.empty(parts, community.dtype)
    found[part] = community
    return found
