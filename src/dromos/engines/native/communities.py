"""Communities of high modularity: Louvain and Leiden.

No program can express it: what a vertex gains by a move depends on the moves before it, and a step compares the sums of
weights to all communities around a vertex, which no message of fixed size carries.

First rounds in several orders, and the continuations of the best of them, run in parallel and share the threads. The
threads of a round work together on its large levels, in a way that depends only on the size of the level, so that the
communities do not depend on the number of threads.

Memory:

- For each running round: 8 bytes for each arc of the graph of communities (12 with weights), twice that if several
  threads work on it, and some 80 for each vertex. Louvain takes as many bytes for each arc of the graphs above that
  one.
- For each thread: 20 bytes for each vertex, with no more threads than a quarter of the free memory holds.
- One copy of a large graph that has hubs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dromos import disk_cache, sizes
from dromos.dtypes import Array
from dromos.engines.native.community_levels import Level, Steps, is_large
from dromos.engines.native.community_order import hubs_first, is_even
from dromos.engines.native.community_rounds import FINALISTS, ROUNDS_TOGETHER, Found, Search
from dromos.engines.native.community_steps import CompiledSteps
from dromos.engines.native.within import strengths
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["FINALISTS", "ROUNDS_TOGETHER", "communities", "rise_is_worth_compiling", "weights_between"]

_THREAD_BYTES = 20  # for each vertex
_LITTLE_MEMORY, _MEMORY_SHARE = 1 << 28, 4  # bytes without a check, and the share (one in so many) of free memory
_NOT_SHARED = 1 / 16  # approximate share of a round's work that more threads do not speed up
_FEW_CALLS: Final = 2
_calls = itertools.count()


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

    ``sums``: the weight within the communities, each edge once, and the strength of each of them.

    ``refined`` is Leiden's step between moving and aggregation. The first round is made ``tries`` times, each in its
    own order, the second by ids if no degree stands out. The best two go on; of Leiden's, only the better one after
    some rounds. A round starts from the communities of the one before. ``steps`` are the compiled ones unless given.

    >>> import dromos as dr
    >>> two = dr.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], directed=False)
    >>> communities(two, resolution=1.0, seed=0, refined=True, rounds=1)["community"].tolist()
    [0, 0, 0, 1, 1, 1]
    """
    order = hubs_first(graph)
    if order is not None:
        graph = order.graph
    weights = weights_between(graph) if graph.weights is None else graph.weights.astype(np.float64)
    stop, team = None, 1  # Python's steps would only take turns, and handle Ctrl-C by themselves
    if steps is None:
        stop, team = np.zeros(1, np.int64), _threads_with_room(graph, num_threads(threads))
        steps = CompiledSteps(stop, rises=refined and rise_is_worth_compiling())
    bottom = Level.of(graph.offsets, graph.targets, weights, strengths(graph, team))
    everything = float(bottom.strength.sum())
    singles = np.arange(graph.num_vertices, dtype=graph.targets.dtype)

    def answer(levels: list[Array]) -> dict[str, Any]:
        if order is not None:
            levels = [steps.numbered(order.restore(level))[0] for level in levels]
        return {"community": levels[-1], "levels": levels}

    if everything <= 0:
        return answer([singles])

    def by_gain(find: Callable[[Steps, int], Found], count: int) -> list[Found]:
        def found_on(number: int, threads: int) -> Found:
            return find(steps.on(threads), number)

        found = (
            _side_by_side(found_on, _shared(team, count), stop)
            if is_large(bottom)
            else _dealt(found_on, count, min(team, count), stop)
        )
        return sorted(found, key=lambda one: -one.gain)

    by_number = is_even(graph) and not is_large(bottom)  # a batch's vertices should not be neighbors
    search = Search(
        bottom, singles, resolution / everything, everything, seed, refined, rounds, tries, by_number=by_number
    )
    best = search.best(by_gain)
    if not best.climb.parts:
        return answer([singles])
    return {**answer(search.hierarchy(steps, best)), "sums": best.sums(everything)}


def _threads_with_room(graph: Graph, threads: int) -> int:
    """As many of the threads as have room for their private data."""
    needed = _THREAD_BYTES * graph.num_vertices
    if needed * threads < _LITTLE_MEMORY:
        return threads
    return max(1, min(threads, sizes.available_memory() // _MEMORY_SHARE // needed))


def rise_is_worth_compiling() -> bool:
    """Not in a process's first calls, unless the code is cached: compiling takes what a hundred calls save."""
    kept = disk_cache.cache_folder() / "kernels"
    return next(_calls) >= _FEW_CALLS or any(kept.glob("communities_rise_kernels.*"))


def weights_between(graph: Graph) -> Array:
    """An empty array of the type of weights between communities: counts of arcs, in as few bytes as hold them all."""
    return np.empty(0, np.int32 if graph.num_arcs < 1 << 31 else np.int64)


def _shared(team: int, count: int) -> list[list[int]]:
    """The number of threads for each of ``count`` rounds, with rounds that run in parallel in one list.

    >>> _shared(2, 3), _shared(16, 3)
    ([[1, 1], [2]], [[6, 5, 5]])
    """

    def waves(width: int) -> list[list[int]]:
        sizes = [min(width, count - done) for done in range(0, count, width)]
        return [[team // size + (number < team % size) for number in range(size)] for size in sizes]

    def cost(width: int) -> float:
        return sum(1 / min(wave) + _NOT_SHARED for wave in waves(width))

    return min(map(waves, range(min(team, count), 0, -1)), key=lambda found: cost(len(found[0])))


def _side_by_side(find: Callable[[int, int], Found], waves: list[list[int]], stop: Array | None) -> list[Found]:
    """Run ``find`` for each round and its threads."""
    found: list[Found | None] = [None] * sum(map(len, waves))
    done = 0
    for wave in waves:

        def work(place: int, _: int, wave: list[int] = wave, done: int = done) -> None:
            found[done + place] = find(done + place, wave[place])

        run_team(work, threads=len(wave), stop=stop)
        done += len(wave)
    return [one for one in found if one is not None]


def _dealt(find: Callable[[int, int], Found], count: int, team: int, stop: Array | None) -> list[Found]:
    """As :func:`_side_by_side`, for rounds on one thread each; a thread that is done takes the next one."""
    found: list[Found | None] = [None] * count
    numbers = iter(range(count))

    def work(_: int, __: int) -> None:
        for number in numbers:
            found[number] = find(number, 1)

    run_team(work, threads=team, stop=stop)
    return [one for one in found if one is not None]
