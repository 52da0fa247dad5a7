"""Communities of high modularity: Louvain and Leiden.

No program can say it: what a vertex gains by a move depends on the moves before it, and a step compares the sums of
weights to all communities around a vertex, which no message of fixed size carries.

First rounds in several orders, and what follows on the best of them, run side by side. The threads are shared out among
them; a round's threads work together on its large levels, in a way that follows from the size of the level alone, so
that the communities do not depend on how many there are.

Memory: for each round that runs, 8 bytes for each arc of the graph of communities, 12 by weights, twice that where
several threads work on it, and some 80 for each vertex; for each thread 20 for each vertex, and no more threads than a
quarter of the free memory holds; and one copy of a large graph that has hubs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dromos import sizes
from dromos.dtypes import Array
from dromos.engines.native.community_levels import Level, Steps, is_large
from dromos.engines.native.community_order import hubs_first
from dromos.engines.native.community_steps import CompiledSteps
from dromos.engines.native.within import strengths
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team
from dromos.vectors import dot

__all__ = ["FINALISTS", "ROUNDS_TOGETHER", "climbed", "communities"]

FINALISTS: Final = 2
"""First rounds that go on: small levels are one thread's, and most machines have two."""
_THREAD_BYTES = 20  # for each vertex
_LITTLE_MEMORY, _MEMORY_SHARE = 1 << 28, 4  # bytes that nobody asks about, and the part of what is free for more
_NOT_SHARED = 1 / 16  # of a round's work, the part that more threads do not make faster, about
ROUNDS_TOGETHER: Final = 3
"""After which only the best goes on: it mostly stays the best."""


def communities(
    graph: Graph,
    *,
    resolution: float,
    seed: int,
    refined: bool,
    rounds: int,
    tries: int = 1,
    threads: int | None = None,
    steps: Steps | None = None,
) -> Mapping[str, Any]:
    """The community of each vertex, ``0..count - 1``, and ``levels``: a hierarchy that ends with it.

    ``refined`` is Leiden's step between moving and aggregation. The first round is made ``tries`` times, each in an
    order of its own, and the best goes on; of Leiden's the best two, for some rounds. A round starts from the
    communities of the one before. ``steps`` are the compiled ones unless given.

    >>> import dromos as dr
    >>> two = dr.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], directed=False)
    >>> communities(two, resolution=1.0, seed=0, refined=True, rounds=1)["community"].tolist()
    [0, 0, 0, 1, 1, 1]
    """
    order = hubs_first(graph)
    if order is not None:
        graph = order.graph
    weights = _no_weights(graph) if graph.weights is None else graph.weights.astype(np.float64)
    stop, team = None, 1  # Python's steps would only take turns, and see Ctrl-C by themselves
    if steps is None:
        stop, team = np.zeros(1, np.int64), _threads_with_room(graph, num_threads(threads))
        steps = CompiledSteps(stop)
    bottom = Level.of(graph.offsets, graph.targets, weights, strengths(graph, team))
    everything = float(bottom.strength.sum())
    singles = np.arange(graph.num_vertices, dtype=graph.targets.dtype)

    def answer(levels: list[Array]) -> Mapping[str, Any]:
        if order is not None:
            levels = [steps.numbered(order.restore(level))[0] for level in levels]
        return {"community": levels[-1], "levels": levels}

    if everything <= 0:
        return answer([singles])
    scale = resolution / everything

    def first(steps: Steps, number: int) -> list[Array]:
        random = np.random.default_rng([seed, 0, number] if number else [seed, 0])
        return climbed(steps, bottom, singles.copy(), scale, random, refined)

    def continued(steps: Steps, levels: list[Array], begin: int, end: int, number: int = 0) -> list[Array]:
        for done in range(begin, end):
            before = levels
            random = np.random.default_rng([seed, done, number] if number else [seed, done])
            levels = climbed(steps, bottom, before[-1].copy(), scale, random, refined)
            same = np.array_equal(levels[-1], before[-1])
            if not refined:  # such a round has one level; those of the first, cut to fit, lie below it
                levels = _within(steps, before, levels[-1])
            if same:
                break
        return levels

    def by_gain(find: Callable[[Steps, int], list[Array]], count: int) -> list[list[Array]]:
        def found_on(number: int, threads: int) -> tuple[list[Array], float]:
            own = steps.on(threads)
            levels = find(own, number)
            return levels, _gain(own, bottom, levels[-1], scale) if count > 1 else 0.0

        return _by_gain(found_on, _waves(team, count, is_large(bottom)), stop)

    begun = by_gain(first, tries)
    if np.array_equal(begun[0][-1], singles):
        return answer(begun[0])
    finalists = min(tries, FINALISTS if refined else 1)
    together = min(rounds, ROUNDS_TOGETHER) if finalists > 1 else 1
    going = by_gain(lambda own, number: continued(own, begun[number], 1, together, number), finalists)
    return answer(by_gain(lambda own, _: continued(own, going[0], together, rounds), 1)[0])


def _threads_with_room(graph: Graph, threads: int) -> int:
    """As many of the threads as have room for what each of them keeps."""
    needed = _THREAD_BYTES * graph.num_vertices
    if needed * threads < _LITTLE_MEMORY:
        return threads
    return max(1, min(threads, sizes.available_memory() // _MEMORY_SHARE // needed))


def _no_weights(graph: Graph) -> Array:
    """Of the type that weights between communities get: the counts of arcs, in as few bytes as hold them all."""
    return np.empty(0, np.int32 if graph.num_arcs < 1 << 31 else np.int64)


def _waves(team: int, count: int, are_shared: bool) -> list[list[int]]:
    """On how many threads each of ``count`` rounds runs, those side by side in one list; ``are_shared``: several may.

    >>> _waves(2, 3, True), _waves(2, 3, False), _waves(16, 3, True)
    ([[1, 1], [2]], [[1, 1], [1]], [[6, 5, 5]])
    """
    if not are_shared:
        return [[1] * min(team, count - done) for done in range(0, count, team)]

    def waves(width: int) -> list[list[int]]:
        sizes = [min(width, count - done) for done in range(0, count, width)]
        return [[team // size + (number < team % size) for number in range(size)] for size in sizes]

    def cost(width: int) -> float:
        return sum(1 / min(wave) + _NOT_SHARED for wave in waves(width))

    return min(map(waves, range(min(team, count), 0, -1)), key=lambda found: cost(len(found[0])))


def _by_gain(
    find: Callable[[int, int], tuple[list[Array], float]], waves: list[list[int]], stop: Array | None
) -> list[list[Array]]:
    """The levels that ``find`` gives for each round and its threads; those that gain most come first."""
    found: list[tuple[list[Array], float]] = [([], 0.0)] * sum(map(len, waves))
    done = 0
    for wave in waves:

        def work(place: int, _: int, wave: list[int] = wave, done: int = done) -> None:
            found[done + place] = find(done + place, wave[place])

        run_team(work, threads=len(wave), stop=stop)
        done += len(wave)
    return [levels for levels, _ in sorted(found, key=lambda each: -each[1])]


def _gain(steps: Steps, level: Level, community: Array, scale: float) -> float:
    """The weight inside communities less what chance would give: the higher, the higher the modularity."""
    total = np.bincount(community, weights=level.strength)
    return steps.within(level, community) - dot(scale * total, total)  # a square of huge weights would be infinite


def _within(steps: Steps, levels: list[Array], top: Array) -> list[Array]:
    """Levels cut by the communities of ``top``, and ``top``; none twice."""
    found = [top]
    for level in reversed(levels):
        cut = steps.cut(level, top)
        if not np.array_equal(cut, found[-1]):
            found.append(cut)
    return found[::-1]


def climbed(
    steps: Steps, level: Level, community: Array, scale: float, random: np.random.Generator, refined: bool
) -> list[Array]:
    """From the bottom up until a level stays as it is; for each level the vertex of it that a bottom vertex is in."""
    place = np.arange(level.size, dtype=community.dtype)
    levels: list[Array] = []
    while True:
        n, ids = level.size, level.targets.dtype
        total = np.bincount(community, weights=level.strength, minlength=n)
        size = np.bincount(community, minlength=n)
        if is_large(level):  # NumPy takes several times as long, which many threads would wait for
            order = steps.shuffled(n, int(random.integers(1 << 62)), ids)
        else:
            order = random.permutation(n).astype(ids)
        moved = steps.move(level, scale, community, total, size, order)
        community, count = steps.numbered(moved)
        if count == n:
            last = community[place]
            return levels if levels and np.array_equal(levels[-1], last) else [*levels, last]
        part, parts = community, count
        if refined:
            total = np.bincount(community, weights=level.strength, minlength=n)
            if not is_large(level):  # of a large one the order is not worth the time to draw another
                order = random.permutation(n).astype(ids)
            part, parts = steps.numbered(steps.refine(level, scale, community, total, order))
            if parts == n:  # nothing hangs together well: go on with the pieces of what was moved
                part, parts = steps.numbered(_pieces(level, community))
                if parts == n:
                    return [*levels, place]
        level, community = _aggregated(steps, level, part, parts), _first_of(community, part, parts)
        place = part[place]
        levels.append(place)


def _pieces(level: Level, community: Array) -> Array:
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
        while not np.array_equal(piece, piece[piece]):  # each vertex straight to the least of its tree
            piece = piece[piece]


def _aggregated(steps: Steps, level: Level, part: Array, parts: int) -> Level:
    starts, order = steps.members(part, parts)
    strength = np.bincount(part, weights=level.strength, minlength=parts)
    return Level.of(*steps.aggregate(level, part, starts, order), strength)


def _first_of(community: Array, part: Array, parts: int) -> Array:
    """The community of each part: that of any of its vertices."""
    found = np.empty(parts, community.dtype)
    found[part] = community
    return found
