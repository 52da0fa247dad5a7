"""Louvain and Leiden on a graph on disk, within a budget.

Moving, refinement and aggregation read the first level from disk, window by window; levels above it are in memory
(:mod:`dromos.places.stream.community_steps`). Tries run one after the other. Each try of Louvain completes all its
rounds before the next begins, so that the levels of only one try are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.native.communities import rise_is_worth_compiling, weights_between
from dromos.engines.native.community_levels import Steps
from dromos.engines.native.community_rounds import FINALISTS, Found, Search
from dromos.engines.native.community_steps import CompiledSteps
from dromos.engines.native.within import row_weights
from dromos.graph.store.stored import StoredGraph
from dromos.graph.summary import enough_bytes
from dromos.parallel import num_threads
from dromos.places.stream.community_sizes import LevelSizes, more_memory_for
from dromos.places.stream.community_steps import StoredLevel, StoredSteps
from dromos.places.stream.compiler_pages import release_compiler_pages
from dromos.places.stream.row_blocks import RowBlocks, block_size
from dromos.places.stream.row_reader import RowReader

__all__ = ["communities", "communities_later", "communities_state"]

_STRENGTH: Final = 8
_GROUPS: Final = 10
"""Ids per vertex: where it begins, its community while it moves, and for each of three tries its community and its
parts on the levels above, the first of which has an entry for each vertex."""
_MOVING: Final = 17, 2
"""While vertices move: bytes for sums, totals and flags, and ids for members and free numbers."""
_REFINING: Final = 40, 3
"""While they are refined: bytes for sums of parts and totals of communities, and ids for labels and their copy."""
_BLOCK_ROW: Final = 16  # bytes of a block's row: its offset, and its place in the order


def communities_state(graph: StoredGraph, options: Mapping[str, Any], threads: int | None) -> int:
    """Bytes for the state of all vertices, and for one block of rows that windows cut; excludes the result."""
    ids, degree = graph.targets.dtype.itemsize, graph.out_degree
    arc = ids + (0 if graph.weights is None else graph.weights.dtype.itemsize)
    rows, arcs = block_size(graph.num_vertices, graph.num_arcs)
    longest = max(int(degree.max(initial=0)), min(arcs, graph.num_arcs))
    vertices = graph.num_vertices * (_STRENGTH + ids * _GROUPS) + _step_bytes(graph, options["refined"])
    return vertices + longest * (arc + ids) + rows * _BLOCK_ROW


def communities_later(graph: StoredGraph, options: Mapping[str, Any]) -> str:
    """What the graph of communities may take, if no two edges join the same pair and two vertices make a community."""
    sizes = _level_sizes(graph, options["refined"], options["rounds"])
    most = more_memory_for(sizes.needed(graph.num_edges, graph.num_vertices // 2))
    return f", and at most about {enough_bytes(most)} more for the graph of communities, whose size shows on the way"


def _level_sizes(graph: StoredGraph, refined: bool, rounds: int) -> LevelSizes:
    sums = weights_between(graph).dtype if graph.weights is None else np.dtype(np.float64)
    return LevelSizes(graph.targets.dtype, sums, keeps=not refined and rounds > 1)


def _step_bytes(graph: StoredGraph, refined: bool) -> int:
    """What a step takes beyond the memory held between steps."""
    step, ids = _REFINING if refined else _MOVING, graph.targets.dtype.itemsize
    return graph.num_vertices * (step[0] + ids * step[1])


def communities(
    reader: RowReader,
    graph: StoredGraph,
    *,
    resolution: float,
    seed: int,
    refined: bool,
    rounds: int,
    tries: int,
    threads: int | None,
    progress: Callable[[int, int], Any] | None,
    **_: Any,
) -> Mapping[str, Any]:
    """As :func:`dromos.engines.native.communities.communities`, with other communities; ``steps``: for the trace."""
    ids = graph.targets.dtype
    no_weights = weights_between(graph)
    strength, loops = _strengths(reader, graph, threads)
    everything = float(strength.sum())
    alone = strength == 0
    singles = np.arange(graph.num_vertices, dtype=ids)
    if alone.any():
        singles[alone] = int(np.argmax(alone))
    stop, team = np.zeros(1, np.int64), num_threads(threads)
    steps = StoredSteps(
        reader, RowBlocks(reader, graph.out_prefix, no_weights),
        CompiledSteps(stop, rises=refined and rise_is_worth_compiling()), stop, team,
        _level_sizes(graph, refined, rounds), spare=_step_bytes(graph, refined), progress=progress,
    )  # fmt: skip

    def answer(levels: list[Array], sums: tuple[float, Array]) -> Mapping[str, Any]:
        for number, level in enumerate(levels):  # replaces the others, which are not needed any more
            levels[number] = steps.numbered(_apart(level, alone))[0]
        return {"community": levels[-1], "levels": levels, "sums": sums, "steps": steps.told}

    if everything <= 0:
        return answer([singles], (loops, strength))

    def by_gain(find: Callable[[Steps, int], Found], count: int) -> list[Found]:
        found: list[Found] = []
        for number in range(count):
            found = sorted([*found, find(steps, number)], key=lambda one: -one.gain)[:FINALISTS]
        return found

    bottom = StoredLevel(graph.offsets, graph.targets, np.empty(0), read_only(strength))
    scale = resolution / everything
    search = Search(bottom, singles, scale, everything, seed, refined, rounds, tries, one_by_one=not refined)
    release_compiler_pages()
    best = search.best(by_gain)
    reader.hold(0)
    if not best.climb.parts:
        return answer([singles], (loops, strength))
    return answer(search.hierarchy(steps, best), best.sums(everything))


def _strengths(reader: RowReader, graph: StoredGraph, threads: int | None) -> tuple[Array, float]:
    """The sum of the weights at each vertex, self-loops counted twice; and the weight of all self-loops."""
    if graph.weights is None and not graph.has_self_loops:
        return graph.out_degree.astype(np.float64), 0.0
    nowhere = np.zeros(graph.num_vertices, graph.targets.dtype)
    found = row_weights(graph, nowhere, threads, reader.slices(graph.out_prefix))
    return found.total + found.loops, float(found.loops.sum())


def _apart(group: Array, alone: Array) -> Array:
    """Groups in which each vertex without edges has its own; before, all of them shared one."""
    count = int(np.count_nonzero(alone))
    group = group.copy()
    group[alone] = np.arange(count) + (int(group.max(initial=-1)) + 1)
    return group
