"""Random walks on whole arrays: all walks take a step at once. The draws are those of the compiled kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import Tell
from dromos.engines.running_sums import running_sums
from dromos.engines.splitmix import STEP, mixed
from dromos.graph import Graph

__all__ = ["TRIES", "Drawing", "first_numbers", "unit", "walks"]

_UNIT: Final = 2.0**-53
TRIES: Final = 1000
"""How often a step is drawn before all neighbors are examined."""


def walks(
    graph: Graph, *, starts: Array, length: int, p: float, q: float, seed: int, tell: Tell | None = None
) -> Mapping[str, Array]:
    """One row per start: the vertices of a walk of ``length`` steps from it, -1 after its end.

    Unless ``p`` and ``q`` are 1, the rows of the graph are sorted.

    >>> import dromos as dr
    >>> walks(dr.Graph.from_edges([0, 1], [1, 2]), starts=np.arange(2), length=2, p=1, q=1, seed=0)["walk"].tolist()
    [[0, 1, 2], [1, 2, -1]]
    """
    found = np.full((len(starts), length + 1), -1, graph.targets.dtype)
    drawing = Drawing(graph.offsets.astype(np.int64), graph.targets, graph.weights, graph.num_vertices, p, q)
    at, before = starts.astype(np.int64), np.full(len(starts), -1, np.int64)
    number, random = np.arange(len(starts)), first_numbers(seed, len(starts))
    found[:, 0] = at
    for step in range(1, length + 1):
        on = drawing.leaves[at]
        at, before, number, random = at[on], before[on], number[on], random[on]
        at, before = drawing.step(at, before, random), at
        found[number, step] = at
        if tell is not None:
            tell(step / length)
    return {"walk": found}


def first_numbers(seed: int, count: int) -> Array:
    """The initial random state of each walk."""
    return mixed(mixed(np.array([seed], np.uint64) + STEP) ^ np.arange(count, dtype=np.uint64))


def unit(x: Array) -> Array:
    """Numbers in [0, 1)."""
    found: Array = (mixed(x) >> np.uint64(11)).astype(np.float64) * _UNIT
    return found


class Drawing:
    """Draws arcs in proportion to their weights, and vertices by the bias of node2vec."""

    def __init__(
        self, offsets: Array, targets: Array, weights: Array | None, num_vertices: int, p: float = 1.0, q: float = 1.0
    ) -> None:
        self._offsets, self._targets, self._n = offsets, targets, num_vertices
        self._sums = None if weights is None else running_sums(offsets, weights)
        self._back, self._away, self._top = 1.0 / p, 1.0 / q, max(1.0 / p, 1.0, 1.0 / q)
        self._plain = p == 1.0 and q == 1.0
        begin, end = self._offsets[:-1], self._offsets[1:]
        self.leaves: Array = begin < end
        if self._sums is not None:
            rows = np.flatnonzero(self.leaves)
            self.leaves[rows] = self._sums[end[rows] - 1] > 0
        if not self._plain:
            self._keys = np.repeat(np.arange(self._n), np.diff(self._offsets)) * self._n + self._targets

    def step(self, at: Array, before: Array, random: Array) -> Array:
        """The next vertex of each walk; ``random`` is advanced."""
        found = np.empty(len(at), np.int64)
        open_walks, tries = np.arange(len(at)), 0
        while len(open_walks):
            random[open_walks] += STEP
            if tries == TRIES:
                for walk in open_walks.tolist():
                    found[walk] = self._of_all(int(at[walk]), int(before[walk]), float(unit(random[[walk]])[0]))
                break
            v, previous = at[open_walks], before[open_walks]
            u = self.drawn(v, unit(random[open_walks]))
            found[open_walks] = u
            if self._plain:
                break
            biased = previous >= 0
            open_walks, u, previous = open_walks[biased], u[biased], previous[biased]
            bias = self._bias(previous, u)
            random[open_walks] += STEP
            open_walks, tries = open_walks[unit(random[open_walks]) * self._top >= bias], tries + 1
        return found

    def _bias(self, before: Array, u: Array) -> Array:
        return np.where(u == before, self._back, np.where(self._joined(before, u), 1.0, self._away))

    def _of_all(self, v: int, before: int, chance: float) -> int:
        """The next vertex of a walk at ``v``, chosen among all neighbors."""
        begin, end = int(self._offsets[v]), int(self._offsets[v + 1])
        near = self._targets[begin:end].astype(np.int64)
        counts = self._bias(np.full(len(near), before), near)
        if self._sums is not None:
            counts = counts * np.diff(self._sums[begin:end], prepend=0.0)
        running = np.cumsum(counts)
        place = int(np.searchsorted(running, chance * running[-1], side="right"))
        return int(near[min(place, len(near) - 1)])

    def drawn(self, v: Array, chance: Array) -> Array:
        """A neighbor of each vertex, chosen by a number in 0..1."""
        return self._targets[self._arcs(v, chance)].astype(np.int64)

    def _arcs(self, v: Array, chance: Array) -> Array:
        begin, end = self._offsets[v], self._offsets[v + 1]
        if self._sums is None:
            place: Array = begin + (chance * (end - begin)).astype(np.int64)
            return place
        wanted = chance * self._sums[end - 1]
        low, high = begin, end - 1
        while np.any(low < high):
            middle = (low + high) >> 1
            after = (self._sums[middle] <= wanted) & (low < high)
            low, high = np.where(after, middle + 1, low), np.where(after, high, middle)
        return low

    def _joined(self, u: Array, v: Array) -> Array:
        """Whether there is an arc from ``u`` to ``v``."""
        wanted = u * self._n + v
        place = np.minimum(np.searchsorted(self._keys, wanted), len(self._keys) - 1)
        found: Array = self._keys[place] == wanted
        return found
