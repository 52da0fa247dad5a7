"""Local moving in plain Python: one vertex after the other, and in batches.

See :mod:`dromos.engines.native.communities_move_kernels` and :mod:`dromos.engines.native.communities_batch_kernels`.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.community_levels import (
    HUB,
    LEAST_GAIN,
    ONE_IN_EXACT,
    ROOM,
    STALE_PASSES,
    Level,
    batch_of,
    hubs_before,
)

__all__ = ["BatchMoves", "Rows", "moved_one_by_one"]

_STAYS, _ALONE = -1, -2


class Rows(NamedTuple):
    """Arcs as lists; those of vertex ``v`` are from ``begin[v]`` up to ``end[v]``."""

    begin: list[int]
    end: list[int]
    targets: list[int]
    weights: list[float]

    def of(self, v: int) -> zip[tuple[int, float]]:
        """The neighbors of a vertex, with weights."""
        first, last = self.begin[v], self.end[v]
        return zip(self.targets[first:last], self.weights[first:last], strict=True)


def moved_one_by_one(
    level: Level, counted: Rows, near: Rows, scale: float, community: Array, total: Array, size: Array, order: Array
) -> Array:
    """Move vertices to the community around them that gains most, until no move gains.

    ``counted`` are arcs of weight above zero, ``near`` are all arcs; neither has self-loops.
    """
    strength, group, totals, sizes = level.strength.tolist(), community.tolist(), total.tolist(), size.tolist()
    free = np.flatnonzero(size == 0).tolist()
    may_move = (np.diff(level.offsets) > 0) | (size[community] > 1)  # the others are alone and stay so
    queue, waiting, touched = order[may_move[order]].tolist(), [True] * level.size, [False] * level.size
    room, degree = [0.0] * level.size, np.diff(level.offsets).tolist()
    while queue:
        for v in queue:  # grows during the loop
            waiting[v] = touched[v] = False
            old, k = group[v], strength[v]
            sums: dict[int, float] = {}
            for u, weight in counted.of(v):
                c = group[u]
                sums[c] = sums.get(c, 0.0) + weight
            least, share = LEAST_GAIN * k, scale * k
            best, gain = old, sums.pop(old, 0.0) - share * (totals[old] - k)
            second = 0.0 if sizes[old] > 1 else -np.inf  # being alone is an option too
            for c, weight in sums.items():
                gained = weight - share * totals[c]
                if gained > gain + least:
                    second = max(second, gain)
                    best, gain = c, gained
                else:
                    second = max(second, gained)
            if gain < -least and sizes[old] > 1:  # better alone
                best = free.pop()
                gain, second = 0.0, gain
            room[v] = gain - second if degree[v] >= HUB else -1.0
            if best == old:
                continue
            group[v] = best
            totals[best] += k
            totals[old] -= k
            sizes[best] += 1
            sizes[old] -= 1
            if sizes[old] == 0:
                totals[old] = 0.0  # exactly 0, without rounding errors
                free.append(old)
            for u, weight in near.of(v):
                if waiting[u] or group[u] == best:
                    continue
                room[u] -= weight + weight if group[u] == old else weight
                if room[u] >= 0:
                    touched[u] = True
                else:
                    waiting[u] = True
                    queue.append(u)
        queue = [v for v in range(level.size) if touched[v]]
        for v in queue:
            waiting[v] = True
    return np.array(group, community.dtype)


class BatchMoves:
    """Local moving in batches; arguments as of :func:`moved_one_by_one`."""

    def __init__(
        self, level: Level, counted: Rows, near: Rows, scale: float, community: Array, total: Array, size: Array,
        order: Array,
    ) -> None:  # fmt: skip
        order, self._hubs = hubs_before(level, order)
        self._order, places = order.tolist(), np.empty(level.size, np.int64)
        places[order] = np.arange(level.size)
        self._places: list[int] = places.tolist()
        self._counted, self._near, self._scale, self._batch = counted, near, scale, batch_of(level)
        self._strength, self._everything = level.strength.tolist(), float(level.strength.sum())
        self._degree: list[int] = np.diff(level.offsets).tolist()
        self._group, self._totals, self._sizes = community.tolist(), total.tolist(), size.tolist()
        self._free: list[int] = np.flatnonzero(size == 0).tolist()
        self._flags, self._room = [True] * level.size, [-1] * self._hubs
        self._dtype = community.dtype

    def run(self) -> Array:
        """Run the moves; return the communities."""
        passes = 0
        while True:
            listed = [r for r, flag in enumerate(self._flags) if flag and (r >= self._hubs or self._room[r] < 0)]
            if not listed:
                return np.array(self._group, self._dtype)
            hubs, batches = bisect_left(listed, self._hubs), -(-len(listed) // self._batch)
            others = len(listed) - hubs
            for at in range(batches):
                first, last = hubs + others * at // batches, hubs + others * (at + 1) // batches
                batch = [*listed[hubs * at // batches : hubs * (at + 1) // batches], *listed[first:last]]
                self._move(batch, passes >= STALE_PASSES)
            passes += 1

    def _move(self, batch: list[int], exact: bool) -> None:
        choices = []
        for r in batch:
            self._flags[r] = False
            choices.append(self._choice(r))
        arcs = [self._degree[self._order[r]] for r in batch]
        wanted = sum(count for count, (best, _) in zip(arcs, choices, strict=True) if best != _STAYS)
        exact = exact or ONE_IN_EXACT * wanted <= sum(arcs)
        movers = []
        for r, (best, edges) in zip(batch, choices, strict=True):
            if best == _STAYS:
                continue
            if exact:
                best, _ = self._choice(r)
            elif not self._still_gains(r, best, edges):
                best = _STAYS
                self._flags[r] = True
                if r < self._hubs:
                    self._room[r] = -1
            if best != _STAYS:
                movers.append((self._order[r], self._make(self._order[r], best)))
        for v, old in movers:
            self._flag_around(v, old)

    def _choice(self, r: int) -> tuple[int, float]:
        """The community that gains most, and the weight of its edges minus those to the community left."""
        v = self._order[r]
        old, k = self._group[v], self._strength[v]
        sums: dict[int, float] = {}
        for u, weight in self._counted.of(v):
            c = self._group[u]
            sums[c] = sums.get(c, 0.0) + weight
        least, share = LEAST_GAIN * k, self._scale * k
        here = sums.get(old, 0.0)
        best, gain, edges = old, here - share * (self._totals[old] - k), here
        alone = self._sizes[old] == 1
        second = -np.inf if alone else 0.0  # being alone is an option too
        for c, weight in sums.items():
            gained = weight - share * self._totals[c]
            if c != old:
                if gained > gain + least:
                    second = max(second, gain)
                    best, gain, edges = c, gained, weight
                else:
                    second = max(second, gained)
        lead = gain - second
        if gain < -least and not alone:
            best, edges, lead = _ALONE, 0.0, -gain
        if r < self._hubs:
            self._room[r] = int(min(lead / self._everything * ROOM, ROOM))
        return (_STAYS, 0.0) if best == old else (best, edges - here)

    def _still_gains(self, r: int, best: int, edges: float) -> bool:
        v = self._order[r]
        old, k = self._group[v], self._strength[v]
        there = 0.0 if best == _ALONE else self._totals[best]
        gain = edges - self._scale * k * (there - self._totals[old] + k)
        gone = self._sizes[old] == 1 if best == _ALONE else self._sizes[best] == 0
        return not gone and gain > LEAST_GAIN * k

    def _make(self, v: int, best: int) -> int:
        """Make a move; return the community that was left."""
        old: int = self._group[v]
        k = self._strength[v]
        if best == _ALONE:
            best = self._free.pop()
        self._group[v] = best
        self._totals[best] += k
        self._sizes[best] += 1
        self._sizes[old] -= 1
        self._totals[old] -= k
        if self._sizes[old] == 0:
            self._totals[old] = 0.0  # exactly 0, without rounding errors
            self._free.append(old)
        return old

    def _flag_around(self, v: int, old: int) -> None:
        best = self._group[v]
        for u, weight in self._near.of(v):
            there = self._group[u]
            if there == best:
                continue
            r = self._places[u]
            if r < self._hubs and self._room[r] >= 0:
                self._room[r] -= 1 + int((weight + weight if there == old else weight) / self._everything * ROOM)
            self._flags[r] = True
