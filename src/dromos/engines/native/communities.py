"""Communities of high modularity: Louvain and Leiden.

No program can say it: what a vertex gains by a move depends on the moves before it, and a step compares the sums of
weights to all communities around a vertex, which no message of fixed size carries. Memory: 8 bytes for each arc of the
graph of communities, 12 by weights, some 80 for each vertex, for each thread; and one copy of a large graph that has
hubs. A round is one thread's; first rounds in several orders, and what follows on the best of them, run side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dromos.dtypes import Array, order_of
from dromos.engines.native.community_levels import Level, Steps, strength_of
from dromos.engines.native.community_order import hubs_first
from dromos.graph import Graph
from dromos.graph.build import expand_sources
from dromos.parallel import num_threads, run_team
from dromos.vectors import dot

__all__ = ["communities"]

_FINALISTS = 2  # first rounds that go on: rounds after the first are one thread's, and most machines have two
_ROUNDS_TOGETHER = 3  # after which only the best goes on: it mostly stays the best


class _CompiledSteps:
    """The steps as kernels, on the thread that calls; once ``stop`` is set they end early, by KeyboardInterrupt."""

    def __init__(self, stop: Array) -> None:
        self._stop = stop

    def _run(self, kernel: Any, *args: Any) -> None:
        kernel(*args, self._stop)
        if self._stop[0]:  # what the kernel left is not whole
            raise KeyboardInterrupt

    def move(self, level: Level, scale: float, community: Array, total: Array, size: Array, order: Array) -> Array:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_kernels as kernels

        n, ids = level.size, level.targets.dtype
        empty = np.flatnonzero(size == 0)
        free = np.zeros(n + 1, np.int64)
        free[: len(empty)], free[n] = empty, len(empty)
        table = np.zeros((n, 2))
        table[:, 1] = total
        self._run(
            kernels.move, *level, scale, community, table.ravel(), size, order, np.ones(n, np.uint8), np.empty(n), free,
            np.empty(n + 1, ids),
        )  # fmt: skip
        return community

    def refine(self, level: Level, scale: float, community: Array, total: Array, order: Array) -> Array:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_kernels as kernels

        n, ids = level.size, level.targets.dtype
        label = np.empty(2 * n, ids)
        self._run(kernels.refine, *level, scale, community, total, order, label, np.empty(4 * n), np.empty(n + 1, ids))
        return label[1::2].copy()

    def aggregate(self, level: Level, group: Array, starts: Array, order: Array) -> tuple[Array, Array, Array]:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_kernels as kernels

        offsets = np.empty(len(starts), np.int64)
        arcs = len(level.targets)
        targets, weights = np.empty(arcs, level.targets.dtype), np.empty(arcs, level.weights.dtype)
        self._run(
            kernels.aggregate, level.offsets, level.targets, level.weights, group, starts, order, offsets, targets,
            weights, np.zeros(level.size), np.empty(level.size + 1, group.dtype),
        )  # fmt: skip
        used = int(offsets[-1])
        if used < arcs // 2:  # a copy gives memory back; where little is left over it is not worth its time
            return offsets, targets[:used].copy(), weights[:used].copy()
        return offsets, targets[:used], weights[:used]

    def within(self, level: Level, group: Array) -> float:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_kernels as kernels

        found = np.zeros(1)
        self._run(kernels.within, level.offsets, level.targets, level.weights, group, found)
        return float(found[0])


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
        stop, team = np.zeros(1, np.int64), num_threads(threads)
        steps = _CompiledSteps(stop)
    strength = strength_of(graph, expand_sources(graph.offsets, graph.targets.dtype))
    bottom = Level.of(graph.offsets, graph.targets, weights, strength)
    everything = float(bottom.strength.sum())
    singles = np.arange(graph.num_vertices, dtype=graph.targets.dtype)

    def answer(levels: list[Array]) -> Mapping[str, Any]:
        if order is not None:
            levels = [_numbered(order.restore(level))[0] for level in levels]
        return {"community": levels[-1], "levels": levels}

    if everything <= 0:
        return answer([singles])
    scale = resolution / everything

    def first(number: int) -> list[Array]:
        random = np.random.default_rng([seed, 0, number] if number else [seed, 0])
        return _round(steps, bottom, singles.copy(), scale, random, refined)

    def continued(levels: list[Array], begin: int, end: int, number: int = 0) -> list[Array]:
        for done in range(begin, end):
            before = levels
            random = np.random.default_rng([seed, done, number] if number else [seed, done])
            levels = _round(steps, bottom, before[-1].copy(), scale, random, refined)
            same = np.array_equal(levels[-1], before[-1])
            if not refined:  # such a round has one level; those of the first, cut to fit, lie below it
                levels = _within(before, levels[-1])
            if same:
                break
        return levels

    def by_gain(find: Callable[[int], list[Array]], count: int) -> list[list[Array]]:
        return _by_gain(lambda community: _gain(steps, bottom, community, scale), find, count, team, stop)

    begun = by_gain(first, tries)
    if np.array_equal(begun[0][-1], singles):
        return answer(begun[0])
    finalists = min(tries, _FINALISTS if refined else 1)
    together = min(rounds, _ROUNDS_TOGETHER) if finalists > 1 else 1
    going = by_gain(lambda number: continued(begun[number], 1, together, number), finalists)
    return answer(by_gain(lambda _: continued(going[0], together, rounds), 1)[0])


def _no_weights(graph: Graph) -> Array:
    """Of the type that weights between communities get: the counts of arcs, in as few bytes as hold them all."""
    return np.empty(0, np.int32 if graph.num_arcs < 1 << 31 else np.int64)


def _by_gain(
    gain: Callable[[Array], float], find: Callable[[int], list[Array]], count: int, team: int, stop: Array | None
) -> list[list[Array]]:
    """The levels that ``find`` gives for ``0..count - 1``, on threads side by side; those that gain most come first."""
    found: list[list[Array]] = [[] for _ in range(count)]
    gains = np.zeros(count)

    def work(thread: int, threads: int) -> None:
        for number in range(thread, count, threads):
            found[number] = find(number)
            if count > 1:
                gains[number] = gain(found[number][-1])

    run_team(work, threads=min(team, count), stop=stop)
    return [found[number] for number in np.argsort(-gains, kind="stable")]


def _gain(steps: Steps, level: Level, community: Array, scale: float) -> float:
    """The weight inside communities less what chance would give: the higher, the higher the modularity."""
    total = np.bincount(community, weights=level.strength)
    return steps.within(level, community) - scale * dot(total, total)


def _within(levels: list[Array], top: Array) -> list[Array]:
    """Levels cut by the communities of ``top``, and ``top``; none twice."""
    found = [top]
    for level in reversed(levels):
        pairs = level.astype(np.int64) * (int(top.max()) + 1) + top
        cut = _numbered(np.unique(pairs, return_inverse=True)[1])[0].astype(top.dtype)
        if not np.array_equal(cut, found[-1]):
            found.append(cut)
    return found[::-1]


def _round(
    steps: Steps, level: Level, community: Array, scale: float, random: np.random.Generator, refined: bool
) -> list[Array]:
    """From the bottom up until a level stays as it is; for each level the vertex of it that a bottom vertex is in."""
    place = np.arange(level.size, dtype=community.dtype)
    levels: list[Array] = []
    while True:
        n, ids = level.size, level.targets.dtype
        total = np.bincount(community, weights=level.strength, minlength=n)
        size = np.bincount(community, minlength=n)
        moved = steps.move(level, scale, community, total, size, random.permutation(n).astype(ids))
        community, count = _numbered(moved)
        if count == n:
            last = community[place]
            return levels if levels and np.array_equal(levels[-1], last) else [*levels, last]
        part, parts = community, count
        if refined:
            total = np.bincount(community, weights=level.strength, minlength=n)
            part, parts = _numbered(steps.refine(level, scale, community, total, random.permutation(n).astype(ids)))
            if parts == n:  # nothing hangs together well: go on with the pieces of what was moved
                part, parts = _numbered(_pieces(level, community))
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
    order = order_of(part).astype(part.dtype)
    starts = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=parts))])
    strength = np.bincount(part, weights=level.strength, minlength=parts)
    return Level.of(*steps.aggregate(level, part, starts, order), strength)


def _numbered(group: Array) -> tuple[Array, int]:
    """Groups numbered by their first vertex, and how many there are.

    >>> _numbered(np.array([7, 3, 7, 5]))
    (array([0, 1, 0, 2]), 3)
    """
    n = len(group)
    first = np.empty(int(group.max(initial=-1)) + 1, np.int64)
    first[group[::-1]] = np.arange(n - 1, -1, -1)  # of several, the last that is written stays
    begins = first[group] == np.arange(n)
    number = np.cumsum(begins, dtype=np.int64) - 1
    return number[first[group]].astype(group.dtype), int(np.count_nonzero(begins))


def _first_of(community: Array, part: Array, parts: int) -> Array:
    """The community of each part: that of any of its vertices."""
    found = np.empty(parts, community.dtype)
    found[part] = community
    return found
