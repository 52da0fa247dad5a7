"""The steps of Louvain and Leiden in plain Python; see :mod:`dromos.engines.native.community_steps`.

They make the same moves and sums in the same order, so that the communities are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array, order_of
from dromos.engines.native import communities as driver
from dromos.engines.native.community_climbs import pieces
from dromos.engines.native.community_levels import LEAST_GAIN, Level, Rise, is_large
from dromos.engines.native.community_numbers import cut, numbered, shuffled
from dromos.engines.native.plain_community_moves import BatchMoves, Rows, moved_one_by_one
from dromos.graph import Graph

__all__ = ["PlainSteps", "communities"]


class _Arcs(NamedTuple):
    """Arcs as columns, in the order of their sources."""

    sources: Array
    targets: Array
    weights: Array

    def where(self, keep: Array) -> _Arcs:
        return self if keep.all() else _Arcs(self.sources[keep], self.targets[keep], self.weights[keep])

    def rows(self, size: int) -> Rows:
        ends = np.cumsum(np.bincount(self.sources, minlength=size)).tolist()
        return Rows([0, *ends[:-1]], ends, self.targets.tolist(), self.weights.tolist())


class PlainSteps:
    """See :class:`dromos.engines.native.community_levels.Steps`."""

    def __init__(self) -> None:
        self._level: Level | None = None

    def on(self, threads: int) -> PlainSteps:
        """Itself: Python's threads would only take turns."""
        return self

    def _prepare(self, level: Level) -> None:
        """Make lists of a level's arcs: all of them, and those of weight above zero, which count."""
        if self._level is level:
            return
        sources = np.repeat(np.arange(level.size), np.diff(level.offsets))
        weights = level.weights if len(level.weights) else np.ones(len(sources))
        others = _Arcs(sources, level.targets, weights).where(sources != level.targets)
        self._level, self._arcs = level, others.where(others.weights > 0)
        self._counted = self._all = others.rows(level.size)
        if self._arcs is not others:
            self._counted = self._arcs.rows(level.size)

    def move(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """Move vertices to the community around them that gains most, until no move gains."""
        self._prepare(level)
        total = np.bincount(community, weights=level.strength, minlength=level.size)
        size, order = np.bincount(community, minlength=level.size), shuffled(level.size, seed, level.targets.dtype)
        given = (level, self._counted, self._all, scale, community, total, size, order)
        return numbered(BatchMoves(*given).run() if is_large(level) else moved_one_by_one(*given))

    def refine(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """Merge vertices within their communities, starting from single ones, into well-connected parts."""
        self._prepare(level)
        n = level.size
        total = np.bincount(community, weights=level.strength, minlength=n)
        order = shuffled(n, seed, level.targets.dtype)
        begin, end, targets, weights = self._counted
        inner = self._arcs.where(community[self._arcs.sources] == community[self._arcs.targets])
        inside = np.bincount(inner.sources, weights=inner.weights, minlength=n)
        # a vertex with too few edges, to which none was joined, stays alone; one that was joined also stays
        may_move = (inside > 0) & (inside >= scale * level.strength * (total[community] - level.strength))
        group, totals, strength, outside = community.tolist(), total.tolist(), level.strength.tolist(), inside.tolist()
        refined, part, size = list(range(n)), strength.copy(), [1] * n
        for v in order[may_move[order]].tolist():
            if size[v] != 1:
                continue
            k, here, around = strength[v], group[v], totals[group[v]]
            first, last = begin[v], end[v]
            sums: dict[int, float] = {}
            for u, weight in zip(targets[first:last], weights[first:last], strict=True):
                if group[u] == here:
                    sums[refined[u]] = sums.get(refined[u], 0.0) + weight
            best, gain, joined = v, LEAST_GAIN * k, 0.0
            for r, weight in sums.items():
                gained = weight - scale * k * part[r]
                if gained > gain and outside[r] >= scale * part[r] * (around - part[r]):
                    best, gain, joined = r, gained, weight
            if best != v:
                refined[v] = best
                part[best] += k
                size[best] += 1
                size[v] = 0
                outside[best] += outside[v] - 2 * joined
        return numbered(np.array(refined, community.dtype))

    def aggregate(self, level: Level, group: Array, groups: int) -> Level:
        """The graph of groups, with neighbors in the order of first occurrence.

        By whole arrays: ``bincount`` also adds in the order of the arcs.
        """
        self._prepare(level)
        place = np.empty(level.size, np.int64)
        place[order_of(group)] = np.arange(level.size)
        arcs = self._arcs
        by_member = np.argsort(place[arcs.sources], kind="stable")
        a, b = group[arcs.sources][by_member].astype(np.int64), group[arcs.targets][by_member]
        outer = a != b
        keys, first, which = np.unique((a * groups + b)[outer], return_index=True, return_inverse=True)
        sums = np.bincount(which, weights=arcs.weights[by_member][outer], minlength=len(keys))
        by_first = np.argsort(first, kind="stable")
        source, target = np.divmod(keys[by_first], max(groups, 1))
        offsets = np.zeros(groups + 1, np.int64)
        np.cumsum(np.bincount(source, minlength=groups), out=offsets[1:])
        strength = np.bincount(group, weights=level.strength, minlength=groups)
        return Level.of(offsets, target.astype(level.targets.dtype), sums[by_first], strength)

    def rise(self, level: Level, scale: float, community: Array, seeds: Array) -> Rise:
        """Do no levels: in Python, the calls cost nothing compared to the steps."""
        return Rise([], level, community, is_top=False)

    def pieces(self, level: Level, community: Array) -> Array:
        """By whole arrays."""
        return pieces(level, community)

    def numbered(self, group: Array) -> tuple[Array, int]:
        """By whole arrays."""
        return numbered(group)

    def cut(self, fine: Array, coarse: Array) -> Array:
        """By whole arrays."""
        return cut(fine, coarse)


def communities(
    graph: Graph,
    *,
    resolution: float,
    seed: int,
    refined: bool,
    rounds: int,
    tries: int = 1,
) -> Mapping[str, Any]:
    """As :func:`dromos.engines.native.communities.communities`, without a compiler.

    >>> import dromos as dr
    >>> two = dr.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], directed=False)
    >>> communities(two, resolution=1.0, seed=0, refined=True, rounds=1)["community"].tolist()
    [0, 0, 0, 1, 1, 1]
    """
    return driver.communities(
        graph, resolution=resolution, seed=seed, refined=refined, rounds=rounds, tries=tries, steps=PlainSteps()
    )
