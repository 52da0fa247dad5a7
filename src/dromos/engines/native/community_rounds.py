"""Rounds of Louvain and Leiden: several first rounds, each in its own order, and more from the best of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.community_climbs import Climb, climbed, descended, places
from dromos.engines.native.community_levels import Level, Steps

__all__ = ["FINALISTS", "ROUNDS_TOGETHER", "Found", "Search"]

FINALISTS: Final = 2
"""First rounds that are continued: small levels run on one thread, and most machines have two."""
ROUNDS_TOGETHER: Final = 3
"""Rounds after which only the best is continued: it mostly stays the best."""
_LITTLE: Final = 1e-5  # modularity; a round that gains less is the last


class Found(NamedTuple):
    """The result of rounds: the last of them, and its communities."""

    climb: Climb
    gain: float
    community: Array
    parts: list[Array]
    """The parts of the round whose levels form the hierarchy: of Leiden the last one, of Louvain the first."""
    is_final: bool = False
    """Whether another round is not worthwhile."""

    def sums(self, everything: float) -> tuple[float, Array]:
        """The weight within the communities, each edge once, and the strength of each of them."""
        top = self.climb.top
        return (everything - float(top.weights.sum())) / 2, top.strength


ByGain: TypeAlias = Callable[[Callable[[Steps, int], Found], int], list[Found]]
"""The results of a function on steps for the numbers ``0..count - 1``, the greatest gain first."""


class Search(NamedTuple):
    """A search for communities, from the level ``bottom`` on, whose vertices are initially ``singles``."""

    bottom: Level
    singles: Array
    scale: float
    everything: float
    """The strength of all vertices."""
    seed: int
    refined: bool
    rounds: int
    tries: int
    one_by_one: bool = False
    """Whether each try makes all its rounds before the next one begins; always so if there are few tries."""
    by_number: bool = False
    """Whether vertices of the second try move in the order of their numbers in its first round."""

    def best(self, by_gain: ByGain) -> Found:
        """Make the first round ``tries`` times, and continue the best two; of Leiden's, only the better one after some
        rounds. A round starts from the communities of the one before."""
        together = min(self.rounds, ROUNDS_TOGETHER) if self.refined else self.rounds
        if self.tries <= FINALISTS or self.one_by_one:  # no try waits for another's first round
            best = by_gain(
                lambda own, number: self._continued(own, self._first(own, number), 1, together, number), self.tries
            )[0]
        else:
            begun = by_gain(self._first, self.tries)[:FINALISTS]
            best = by_gain(lambda own, number: self._continued(own, begun[number], 1, together, number), FINALISTS)[0]
            del begun
        if together < self.rounds:
            best = by_gain(lambda own, number: self._continued(own, best, together, self.rounds, number), 1)[0]
        return best

    def hierarchy(self, steps: Steps, found: Found) -> list[Array]:
        """Levels by vertex, the finest first; the last are the communities."""
        levels = places(found.parts)
        return levels if self.refined else _within(steps, levels, found.community)

    def _random(self, done: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, done, number] if number else [self.seed, done])

    def _first(self, steps: Steps, number: int) -> Found:
        draw = None if self.by_number and number == 1 else self._random(0, number)
        keep = not self.refined and self.rounds > 1
        climb = climbed(steps, self.bottom, self.singles.copy(), self.scale, draw, self.refined, keep=keep)
        community = climb.community(self.singles)
        return Found(climb, climb.gain(self.scale), community, climb.parts, is_final=not climb.parts)

    def _continued(self, steps: Steps, found: Found, begin: int, end: int, number: int) -> Found:
        for done in range(begin, end):
            if found.is_final:
                break
            draw, before = self._random(done, number), found.community
            start = before.copy() if self.refined else descended(steps, found.climb, self.scale, draw)
            found = found._replace(climb=found.climb.without_levels())  # releases memory for the new ones
            keep = not self.refined and done + 1 < self.rounds
            climb = climbed(steps, self.bottom, start, self.scale, draw, self.refined, keep=keep)
            community = climb.community(before)  # rounding may have separated all vertices
            if np.array_equal(community, before):
                return found._replace(is_final=True)
            gain = climb.gain(self.scale)
            is_last = gain < found.gain + _LITTLE * self.everything
            # Louvain's further rounds start from large communities: the levels of the first round stay below
            found = Found(climb, gain, community, climb.parts if self.refined else found.parts, is_last)
        return found._replace(climb=found.climb.without_levels())


def _within(steps: Steps, levels: list[Array], top: Array) -> list[Array]:
    """Levels cut by the communities of ``top``, and ``top``, without duplicates."""
    found = [top]
    for level in reversed(levels):
        cut = steps.cut(level, top)
        if not np.array_equal(cut, found[-1]):
            found.append(cut)
    return found[::-1]
