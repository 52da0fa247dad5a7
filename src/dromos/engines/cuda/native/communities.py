"""Communities of high modularity by the Louvain method: large levels on the device, small ones by the CPU's kernels.

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
from dromos.engines import GraphLike
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native import community_levels, community_moves
from dromos.engines.cuda.native.community_levels import DeviceLevel, LevelMaker
from dromos.engines.cuda.native.community_moves import Moves
from dromos.engines.cuda.transfers import to_device, to_host
from dromos.engines.cuda.vertex_values import gathered
from dromos.engines.native.communities import climbed
from dromos.engines.native.community_levels import Level
from dromos.engines.native.community_steps import CompiledSteps
from dromos.parallel import num_threads
from dromos.vectors import dot

__all__ = ["communities", "sources", "state_bytes", "takes"]

SMALL: Final = 1 << 17
"""Arcs of a level below which the host is done sooner."""
_VERTEX_BYTES, _ARC_BYTES, _WEIGHTED_ARC_BYTES = 192, 32, 64


def takes(graph: GraphLike, *, refined: bool, **_: Any) -> bool:
    """Whether this kernel is for such a call, or the CPU's is."""
    most = np.iinfo(graph.targets.dtype).max // 2  # a vertex has two numbers for a community of its own
    return not refined and graph.num_arcs >= SMALL and graph.num_vertices <= most


def state_bytes(graph: GraphLike) -> int:
    """What a call takes of the device beside the graph, about."""
    arc = _ARC_BYTES if graph.weights is None else _WEIGHTED_ARC_BYTES
    return _VERTEX_BYTES * graph.num_vertices + arc * graph.num_arcs


class _Climb(NamedTuple):
    """Where a round came to: the community of each vertex on the device's levels, and what is left to do."""

    places: list[Any]
    level: DeviceLevel
    rest: Future[tuple[list[Array], float]] | None


class _Round(NamedTuple):
    """The levels of a round by vertex, not numbered; how high its modularity is, and the weight between communities."""

    levels: list[Any]
    gain: float
    between: float


def communities(
    graph: DeviceGraph, *, resolution: float, seed: int, refined: bool, rounds: int, tries: int
) -> Mapping[str, Any]:
    """``levels``: a hierarchy of communities on the host, in the given order; the last are the communities.

    ``sums``: the weight within the communities, each edge once, and the strength of each of them.
    """
    del refined
    maker = LevelMaker(graph)
    if maker.whole <= 0:
        return {"levels": [_given(graph, maker.numbered(maker.singles())[0])]}
    with _Host(min(tries, num_threads())) as host:
        return _Search(graph, maker, resolution, seed, host).run(rounds, tries)


class _Search:
    def __init__(self, graph: DeviceGraph, maker: LevelMaker, resolution: float, seed: int, host: _Host) -> None:
        self._graph, self._maker, self._seed, self._host = graph, maker, seed, host
        self._scale = resolution / maker.whole

    def run(self, rounds: int, tries: int) -> Mapping[str, Any]:
        maker = self._maker
        begun = [self._climb(None, self._random(0, number)) for number in range(tries)]
        found = max((self._finished(climb) for climb in begun), key=lambda one: one.gain)  # the first of the best
        del begun
        numbered = [maker.numbered(level) for level in found.levels]
        levels, (top, count) = [level for level, _ in numbered], numbered[-1]
        if count == self._graph.num_vertices:
            return {"levels": [_given(self._graph, top)]}
        for done in range(1, rounds):
            found = self._finished(self._climb(top, self._random(done, 0)))
            before, (top, count) = top, maker.numbered(found.levels[-1])
            levels = self._within(levels, top, count)
            if not maker.differ(before, top):
                break
        degrees = to_host(maker.degrees(top, count)).astype(np.float64)
        return {
            "levels": [_given(self._graph, level) for level in levels],
            "sums": ((maker.whole - found.between) / 2, degrees),
        }

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
                rest = self._host.finish(level.on_host(), self._scale, random) if moved else None
                return _Climb(places, level, rest)
            level, community = maker.aggregated(level, label, strength), None
            places.append(gathered(label, places[-1]) if places else label)
            if level.arcs < SMALL:
                return _Climb(places, level, self._host.finish(level.on_host(), self._scale, random))

    def _finished(self, climb: _Climb) -> _Round:
        """The round with what the host has done; its levels are copied to the device."""
        levels, level = list(climb.places), climb.level
        between = float(level.between)
        total = level.strength.get().astype(np.float64)
        if climb.rest is not None:
            rest, inside = climb.rest.result()
            merging = [one for one in rest if len(one) and int(one.max()) + 1 < len(one)]
            for one in merging:
                label = to_device(one)
                levels.append(gathered(label, climb.places[-1]) if climb.places else label)
            total = np.bincount(rest[-1], weights=total)
            between -= inside - level.loops
        if not levels:
            levels = [self._maker.singles()]
        return _Round(levels, -between - dot(self._scale * total, total), between)

    def _within(self, levels: list[Any], top: Any, count: int) -> list[Any]:
        """Levels cut by the communities of ``top``, and ``top``; none twice."""
        found = [top]
        for level in reversed(levels):
            cut = self._maker.cut(level, top, count)
            if self._maker.differ(cut, found[-1]):
                found.append(cut)
        return found[::-1]


class _Host:
    """Threads that finish rounds on small levels."""

    def __init__(self, threads: int) -> None:
        self._stop = np.zeros(1, np.int64)
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> _Host:
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._stop[0] = kind is not None
        self._pool.shutdown(cancel_futures=True)

    def finish(self, level: Level, scale: float, random: np.random.Generator) -> Future[tuple[list[Array], float]]:
        """The levels above this one, by its vertices, and the weight within the last communities."""
        steps = CompiledSteps(self._stop)

        def work() -> tuple[list[Array], float]:
            singles = np.arange(level.size, dtype=level.targets.dtype)
            levels = climbed(steps, level, singles, scale, random, refined=False)
            return levels, steps.within(level, levels[-1])

        return self._pool.submit(work)


def _given(graph: DeviceGraph, values: Any) -> Array:
    return to_host(graph.to_given_order(values))


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [*community_levels.variants(community_levels.NAME), *community_levels.variants(community_moves.NAME)]
