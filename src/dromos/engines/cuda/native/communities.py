"""Communities of high modularity, Louvain and Leiden: large levels on the device, small ones by the CPU's kernels.

As :mod:`dromos.engines.native.communities`, but vertices move otherwise (``native_communities.cuh``), so that the
communities are not the CPU's; the same seed gives the same ones on every device. A level of few arcs is handed over to
a thread of the host, while the device begins the next try.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.engines import LeftToHostError
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native import community_levels, community_moves
from dromos.engines.cuda.native.community_levels import DeviceLevel, LevelMaker
from dromos.engines.cuda.native.community_moves import Moves
from dromos.engines.cuda.native.wants import Wants
from dromos.engines.cuda.transfers import to_device, to_host
from dromos.engines.cuda.vertex_values import gathered
from dromos.engines.native.communities import FINALISTS, ROUNDS_TOGETHER
from dromos.engines.native.community_climbs import climbed
from dromos.engines.native.community_levels import Level
from dromos.engines.native.community_steps import CompiledSteps
from dromos.parallel import num_threads
from dromos.vectors import dot

__all__ = ["WANTS", "communities", "sources"]

WANTS: Final = Wants(bytes_per_vertex=192, bytes_per_arc=32, bytes_per_weight=32, weights=True, least_arcs=1 << 17)
SMALL: Final = 1 << 15
"""Arcs of a level below which the host is done sooner."""


class _Climb(NamedTuple):
    """Where a round came to: the community of each vertex on the device's levels, and what the host does of it."""

    places: list[Any]
    level: DeviceLevel
    rest: Future[tuple[list[Array], float]] | None


class _Found(NamedTuple):
    """What rounds came to: levels by vertex, the last of them numbered, with so many communities."""

    levels: list[Any]
    communities: int
    gain: float
    """The higher, the higher the modularity."""
    between: float
    """The weight between communities."""
    is_final: bool = False
    """Whether another round changes nothing."""


def communities(
    graph: DeviceGraph, *, resolution: float, seed: int, refined: bool, rounds: int, tries: int
) -> Mapping[str, Any]:
    """``levels``: a hierarchy of communities on the host, in the given order; the last are the communities.

    ``sums``: the weight within the communities, each edge once, and the strength of each of them.
    """
    if graph.num_vertices > np.iinfo(graph.out.targets.dtype).max // 2:
        raise LeftToHostError("a vertex has two numbers for a community of its own, and ids are too narrow for them")
    maker = LevelMaker(graph)
    if maker.whole <= 0:
        return {"levels": [_given(graph, maker.of_all(maker.singles())[0])]}
    with _Host(min(tries, num_threads()), refined) as host:
        found = _Search(graph, maker, resolution / maker.whole, seed, refined, host).run(rounds, tries)
    levels = [maker.of_all(level) for level in found.levels]
    degrees = to_host(maker.degrees(*levels[-1])).astype(np.float64)
    return {
        "levels": [_given(graph, level) for level, _ in levels],
        "sums": ((maker.whole - found.between) / 2, degrees),
    }


class _Search:
    """Rounds on one graph."""

    def __init__(
        self, graph: DeviceGraph, maker: LevelMaker, scale: float, seed: int, refined: bool, host: _Host
    ) -> None:
        self._graph, self._maker, self._scale, self._seed = graph, maker, scale, seed
        self._refined, self._host = refined, host

    def run(self, rounds: int, tries: int) -> _Found:
        """First rounds in several orders, and more on the best of them."""
        climbs = [self._climb(None, self._random(0, number)) for number in range(tries)]
        begun = _by_gain([self._finished(climb) for climb in climbs])
        del climbs
        if begun[0].communities == self._maker.bottom.size:
            return begun[0]
        finalists = begun[: FINALISTS if self._refined else 1]
        together = min(rounds, ROUNDS_TOGETHER) if len(finalists) > 1 else 1
        for done in range(1, together):
            finalists = self._continued(finalists, done)
        best = _by_gain(finalists)[:1]
        for done in range(together, rounds):
            best = self._continued(best, done)
        return best[0]

    def _continued(self, found: list[_Found], done: int) -> list[_Found]:
        """One round more of each; the host works on one while the device works on the next."""
        climbs = [
            None if one.is_final else self._climb(one.levels[-1], self._random(done, number))
            for number, one in enumerate(found)
        ]
        return [
            one if climb is None else self._after(one, self._finished(climb))
            for one, climb in zip(found, climbs, strict=True)
        ]

    def _after(self, before: _Found, found: _Found) -> _Found:
        is_final = not self._maker.differ(before.levels[-1], found.levels[-1])
        if self._refined:
            return found._replace(is_final=is_final)
        levels = self._within(before.levels, found.levels[-1], found.communities)
        return found._replace(levels=levels, is_final=is_final)

    def _random(self, done: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, done, number] if number else [self._seed, done])

    def _climb(self, community: Any, random: np.random.Generator) -> _Climb:
        """From the bottom up until a level stays as it is, or is small; from single vertices unless ``community``."""
        maker, level, places = self._maker, self._maker.bottom, list[Any]()
        while True:
            moves = Moves(self._graph, maker, level, self._scale, community)
            moved = moves.run(random)
            label, strength = maker.packed(moves.community, moves.total, moves.size)
            del moves  # its memory is wanted now
            if len(strength) == level.size:
                # where vertices have changed places without a merger, one at a time will show what is left to gain
                rest = self._host.finish(level.on_host(), None, self._scale, random) if moved else None
                return _Climb(places, level, rest)
            community = None
            if self._refined:
                parts = Moves(self._graph, maker, level, self._scale, None, (label, strength))
                parts.run(random)
                part, strength = maker.packed(parts.community, parts.total, parts.size)
                del parts
                if len(strength) == level.size:  # nothing hangs together well: the host goes on with what does at all
                    rest = self._host.finish(level.on_host(), label, self._scale, random)
                    return _Climb(places, level, rest)
                label, community = part, maker.lifted(part, label, len(strength))
            level = maker.aggregated(level, label, strength)
            places.append(gathered(label, places[-1]) if places else label)
            if level.arcs < SMALL:
                return _Climb(places, level, self._host.finish(level.on_host(), community, self._scale, random))

    def _finished(self, climb: _Climb) -> _Found:
        """The round with what the host has done, which is copied to the device."""
        levels, level, between = list(climb.places), climb.level, float(climb.level.between)
        total = level.strength.get().astype(np.float64)
        if climb.rest is not None:
            rest, inside = climb.rest.result()
            for one in rest:
                if len(one) and int(one.max()) + 1 < len(one):  # something has merged
                    label = to_device(one)
                    levels.append(gathered(label, climb.places[-1]) if climb.places else label)
            total = np.bincount(rest[-1], weights=total)
            between -= inside - level.loops
        top, count = self._maker.numbered(levels[-1] if levels else self._maker.singles())
        return _Found([*levels[:-1], top], count, -between - dot(self._scale * total, total), between)

    def _within(self, levels: list[Any], top: Any, count: int) -> list[Any]:
        """Levels cut by the communities of ``top``, and ``top``; none twice."""
        found = [top]
        for level in reversed(levels):
            cut = self._maker.cut(level, top, count)
            if self._maker.differ(cut, found[-1]):
                found.append(cut)
        return found[::-1]


def _by_gain(found: list[_Found]) -> list[_Found]:
    return sorted(found, key=lambda one: -one.gain)


class _Host:
    """Threads that finish rounds on small levels."""

    def __init__(self, threads: int, refined: bool) -> None:
        self._stop, self._refined = np.zeros(1, np.int64), refined
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> _Host:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._stop[0] = kind is not None
        self._pool.shutdown(cancel_futures=True)

    def finish(
        self, level: Level, community: Any, scale: float, random: np.random.Generator
    ) -> Future[tuple[list[Array], float]]:
        """The levels above this one, by its vertices, and the weight within the last communities.

        ``community`` is where its vertices are, on the device, or None: each by itself.
        """
        steps, ids = CompiledSteps(self._stop), level.targets.dtype
        start = np.arange(level.size, dtype=ids) if community is None else community.get()

        def work() -> tuple[list[Array], float]:
            levels = climbed(steps, level, start.copy(), scale, random, self._refined).places() or [start]
            return levels, steps.within(level, levels[-1])

        return self._pool.submit(work)


def _given(graph: DeviceGraph, values: Any) -> Array:
    return to_host(graph.to_given_order(values))


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [*community_levels.variants(community_levels.NAME), *community_levels.variants(community_moves.NAME)]
