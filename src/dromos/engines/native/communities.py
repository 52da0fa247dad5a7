"""Communities of high modularity: Louvain and Leiden.

No program can say it: what a vertex gains by a move depends on the moves before it, and a step compares the sums of
weights to all communities around a vertex, which no message of fixed size carries. Memory: 12 bytes for each arc of the
graph of communities, some 80 for each vertex; one thread works.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.community_levels import Level, Steps
from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["communities"]


class _CompiledSteps:
    """The steps as kernels."""

    def move(self, level: Level, scale: float, community: Array, total: Array, size: Array, order: Array) -> Array:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_kernels as kernels

        n, ids = level.size, level.targets.dtype
        empty = np.flatnonzero(size == 0)
        free = np.zeros(n + 1, np.int64)
        free[: len(empty)], free[n] = empty, len(empty)
        waiting, stop = np.ones(n, np.uint8), np.zeros(1, np.int64)
        run_team(
            kernels.move, *level, scale, community, total, size, order, waiting, free, np.zeros(n), np.empty(n, ids),
            np.empty(0, ids), stop, threads=1, stop=stop,
        )  # fmt: skip
        return community

    def refine(self, level: Level, scale: float, community: Array, total: Array, order: Array) -> Array:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_kernels as kernels

        n, ids = level.size, level.targets.dtype
        part, stop = np.empty(n, ids), np.zeros(1, np.int64)
        run_team(
            kernels.refine, *level, scale, community, total, order, part, np.empty(n), np.empty(n, np.int64),
            np.empty(n), np.zeros(n), np.empty(n, ids), stop, threads=1, stop=stop,
        )  # fmt: skip
        return part

    def aggregate(self, level: Level, group: Array, starts: Array, order: Array) -> tuple[Array, Array, Array]:
        """See :class:`Steps`."""
        from dromos.engines.native import communities_kernels as kernels

        offsets, stop = np.empty(len(starts), np.int64), np.zeros(1, np.int64)
        targets, weights = np.empty(len(level.targets), level.targets.dtype), np.empty(len(level.targets))
        run_team(
            kernels.aggregate, level.offsets, level.targets, level.weights, group, starts, order, offsets, targets,
            weights, np.zeros(level.size), np.empty(level.size, group.dtype), stop, threads=1, stop=stop,
        )  # fmt: skip
        used = int(offsets[-1])
        return offsets, targets[:used].copy(), weights[:used].copy()


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
    order of its own, and the best is kept; a round after it starts from the communities of the one before. ``steps``
    are the compiled ones unless given.

    >>> import dromos as dr
    >>> two = dr.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], directed=False)
    >>> communities(two, resolution=1.0, seed=0, refined=True, rounds=1)["community"].tolist()
    [0, 0, 0, 1, 1, 1]
    """
    weights = np.empty(0) if graph.weights is None else graph.weights.astype(np.float64)
    steps = _CompiledSteps() if steps is None else steps
    bottom = Level.of(graph.offsets, graph.targets, weights, _strength(graph))
    everything = float(bottom.strength.sum())
    community = np.arange(graph.num_vertices, dtype=graph.targets.dtype)
    levels = [community]
    scale = resolution / everything if everything > 0 else 0.0
    for number in range(rounds if everything > 0 else 0):
        before = levels
        orders = [[seed, number]] + [[seed, number, other] for other in range(1, 1 if number else tries)]
        found = [
            _round(steps, bottom, before[-1].copy(), scale, np.random.default_rng(order), refined) for order in orders
        ]
        levels = found[0] if len(found) == 1 else max(found, key=lambda each: _gain(bottom, each[-1], scale))
        same = np.array_equal(levels[-1], before[-1])
        if number and not refined:  # such a round has one level; those of the first, cut to fit, lie below it
            levels = _within(before, levels[-1])
        if same:
            break
    return {"community": levels[-1], "levels": levels}


def _gain(level: Level, community: Array, scale: float) -> float:
    """The weight inside communities less what chance would give: the higher, the higher the modularity."""
    inner = np.repeat(community, np.diff(level.offsets)) == community[level.targets]
    inside = level.weights[inner].sum() if len(level.weights) else np.count_nonzero(inner)
    total = np.bincount(community, weights=level.strength)
    return float(inside - scale * (total @ total))


def _within(levels: list[Array], top: Array) -> list[Array]:
    """Levels cut by the communities of ``top``, and ``top``; none twice."""
    found = [top]
    for level in reversed(levels):
        cut = _numbered(level.astype(np.int64) * (int(top.max()) + 1) + top)[0].astype(top.dtype)
        if not np.array_equal(cut, found[-1]):
            found.append(cut)
    return found[::-1]


def _strength(graph: Graph) -> Array:
    """The sum of the weights at each vertex; a self-loop counts twice."""
    src = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    loops = src == graph.targets
    weights = None if graph.weights is None else graph.weights
    strength = np.bincount(src, weights=weights, minlength=graph.num_vertices).astype(np.float64)
    twice = np.bincount(src[loops], weights=None if weights is None else weights[loops], minlength=graph.num_vertices)
    total: Array = strength + twice
    return total


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
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    src = np.repeat(np.arange(level.size), np.diff(level.offsets))
    inner = community[src] == community[level.targets]
    if len(level.weights):
        inner &= level.weights > 0
    ends = src[inner], level.targets[inner]
    links = sp.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(level.size, level.size))
    piece: Array = connected_components(links, directed=False)[1].astype(community.dtype)
    return piece


def _aggregated(steps: Steps, level: Level, part: Array, parts: int) -> Level:
    order = np.argsort(part, kind="stable").astype(part.dtype)
    starts = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=parts))])
    strength = np.bincount(part, weights=level.strength, minlength=parts)
    return Level.of(*steps.aggregate(level, part, starts, order), strength)


def _numbered(group: Array) -> tuple[Array, int]:
    """Groups numbered by their first vertex, and how many there are."""
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(len(first), group.dtype)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse], len(first)


def _first_of(community: Array, part: Array, parts: int) -> Array:
    """The community of each part: that of any of its vertices."""
    found = np.empty(parts, community.dtype)
    found[part] = community
    return found
