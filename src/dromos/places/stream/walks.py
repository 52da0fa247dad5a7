"""Random walks on a graph on disk: all walks take a step, then all take the next.

For a step along unweighted edges, the row offsets give the position of its arc, and only the pages that hold such arcs
are read. With weights, whole rows are copied, in groups that fit. With the bias of node2vec, the rows of the previous
vertices are searched in their pages. Draws are the same as those of the walks in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.running_sums import running_sums
from dromos.engines.splitmix import STEP
from dromos.engines.vectorised.walks import TRIES, Drawing, first_numbers, unit
from dromos.graph.store.stored import StoredGraph
from dromos.places.stream.row_reader import RowReader, ranges_that_fit

__all__ = ["walks", "walks_state"]

_STATE_BYTES: Final = 64
"""Bytes per walk: its current and previous vertex, its number, its random number, and those of walks drawn again."""
_DRAW_BYTES: Final = 160  # per draw: random numbers, positions, what is drawn, and bounds while a row is searched
_ARC_BYTES: Final = 40  # per arc of a weighted row: the arc, sums, the dividend and the divisor
_MORE_TRIES: Final = 4


def walks_state(graph: StoredGraph, options: Mapping[str, Any], threads: int | None) -> int:
    """Bytes that walks take from step to step, excluding the result."""
    return len(options["starts"]) * _STATE_BYTES


def walks(
    reader: RowReader,
    graph: StoredGraph,
    *,
    starts: Array,
    length: int,
    p: float,
    q: float,
    seed: int,
    progress: Callable[[int, int], Any] | None,
    **_: Any,
) -> Mapping[str, Any]:
    """As :func:`dromos.engines.native.walks.walks`."""
    offsets = reader.offsets[graph.out_prefix]
    found = np.full((len(starts), length + 1), -1, graph.targets.dtype)
    at, before = starts.astype(np.int64), np.full(len(starts), -1, np.int64)
    number, random = np.arange(len(starts)), first_numbers(seed, len(starts))
    found[:, 0] = at
    stepping = _Stepping(reader, graph, p, q)
    for step in range(1, length + 1):
        on = offsets[at] < offsets[at + 1]
        at, before, number, random = at[on], before[on], number[on], random[on]
        after = stepping.first(at, random) if step == 1 else stepping.next(at, before, random)
        found[number, step] = after
        on = after >= 0
        at, before, number, random = after[on], at[on], number[on], random[on]
        if progress is not None:
            progress(step, length)
    return {"walk": found}


class _Stepping:
    """Finds the next vertices of walks, as many at a time as there is memory for.

    They are -1 where no edge has a weight above zero. ``random`` is advanced.
    """

    def __init__(self, reader: RowReader, graph: StoredGraph, p: float, q: float) -> None:
        self._reader, self._graph, self._prefix = reader, graph, graph.out_prefix
        self._offsets = reader.offsets[self._prefix]
        self._back, self._away, self._top = 1.0 / p, 1.0 / q, max(1.0 / p, 1.0, 1.0 / q)
        self._biased = (p, q) != (1.0, 1.0)

    def first(self, at: Array, random: Array) -> Array:
        """A neighbor of each vertex, in proportion to the weight of its edge."""
        random += STEP
        after, order = np.empty(len(at), np.int64), np.argsort(at, kind="stable")
        for some in self._shares(len(at), _DRAW_BYTES):
            walks = order[some]
            after[walks] = self._drawn(at[walks], unit(random[walks]))
        return after

    def next(self, at: Array, before: Array, random: Array) -> Array:
        """The vertex after each ``at``, for walks that were at ``before``.

        A step is drawn until the bias accepts it. Its random numbers are known beforehand, so several draws of a walk
        are made at once, in growing numbers: what they need is read once.
        """
        if not self._biased:
            return self.first(at, random)
        after, left, done, tries = np.full(len(at), -1, np.int64), np.argsort(at, kind="stable"), 0, 1
        while len(left) and done < TRIES:
            tries = min(tries, TRIES - done)
            rest = []
            for some in self._shares(len(left), _DRAW_BYTES * tries):
                walks = left[some]
                drawn, accepted = self._tried(at[walks], before[walks], random[walks], tries)
                hit, place = accepted.any(axis=1), accepted.argmax(axis=1)
                after[walks[hit]] = drawn[hit, place[hit]]
                random[walks] += np.where(hit, place + 1, tries).astype(np.uint64) * np.uint64(2) * STEP
                rest.append(walks[~hit & (drawn[:, 0] >= 0)])
            left, done, tries = np.concatenate(rest), done + tries, tries * _MORE_TRIES
        random[left] += STEP  # of an array: a single number would warn that it wraps around
        for walk in left.tolist():
            after[walk] = self._of_all(int(at[walk]), int(before[walk]), float(unit(random[[walk]])[0]))
        return after

    def _shares(self, count: int, size: int) -> Iterator[slice]:
        """Ranges of walks that take ``size`` bytes each; walks from nearby vertices are together."""
        step = max(1, self._reader.work // size)
        for first in range(0, count, step):
            yield slice(first, min(first + step, count))

    def _tried(self, at: Array, before: Array, random: Array, tries: int) -> tuple[Array, Array]:
        """``tries`` draws for each walk, and which of them the bias accepts."""
        turns = np.arange(tries, dtype=np.uint64) * np.uint64(2)
        chance = unit(random[:, None] + (turns + np.uint64(1)) * STEP)
        limit = unit(random[:, None] + (turns + np.uint64(2)) * STEP) * self._top
        drawn = self._drawn(np.repeat(at, tries), chance.ravel())
        bias = self._bias(np.repeat(before, tries), drawn)
        return drawn.reshape(chance.shape), limit < bias.reshape(chance.shape)

    def _bias(self, before: Array, u: Array) -> Array:
        joined = self._reader.are_joined(self._prefix, before, u)
        return np.where(u == before, self._back, np.where(joined, 1.0, self._away))

    def _drawn(self, at: Array, chance: Array) -> Array:
        """A neighbor of each vertex, by a number in 0..1 for each."""
        if self._graph.weights is None:
            begin = self._offsets[at].astype(np.int64)
            degree = self._offsets[at + 1].astype(np.int64) - begin
            arcs = begin + (chance * degree).astype(np.int64)
            return self._reader.targets_at(self._prefix, arcs).astype(np.int64)
        found = np.full(len(at), -1, np.int64)
        vertices = np.unique(at)
        for first, last in self._groups(vertices):
            rows = self._reader.rows_of(self._prefix, vertices[first:last])
            drawing = Drawing(rows.offsets, rows.targets, rows.weights, self._graph.num_vertices)
            here = np.flatnonzero((at >= vertices[first]) & (at <= vertices[last - 1]))
            numbers = np.searchsorted(rows.vertices, at[here])
            leaves = drawing.leaves[numbers]
            found[here[leaves]] = drawing.drawn(numbers[leaves], chance[here[leaves]])
        return found

    def _of_all(self, v: int, before: int, chance: float) -> int:
        """The vertex after ``v`` where the bias accepts hardly any draw: by looking at all neighbors."""
        next(self._groups(np.array([v])))
        rows = self._reader.rows_of(self._prefix, np.array([v]))
        near = rows.targets.astype(np.int64)
        counts = np.concatenate(
            [self._bias(np.full(len(near[some]), before), near[some]) for some in self._shares(len(near), _DRAW_BYTES)]
        )
        if rows.weights is not None:
            counts = counts * np.diff(running_sums(rows.offsets, rows.weights), prepend=0.0)
        running = np.cumsum(counts)
        place = int(np.searchsorted(running, chance * running[-1], side="right"))
        return int(near[min(place, len(near) - 1)])

    def _groups(self, vertices: Array) -> Iterator[tuple[int, int]]:
        """Ranges of ``vertices`` (ascending) whose rows fit."""
        sizes = (self._offsets[vertices + 1] - self._offsets[vertices]).astype(np.int64) * _ARC_BYTES
        if (longest := int(sizes.max(initial=0))) > self._reader.work:
            raise self._reader.too_little("the longest row that a walk draws from by weights", longest)
        return ranges_that_fit(sizes, self._reader.work)
