"""The intersection of rows: common neighbors of the ends of edges, which close triangles.

The contract: ``intersect(left, right, counts)`` takes two blocks of rows that are sets. For each row x of ``left``,
each of its members y that is a row of ``right``, and each member z of both rows, it adds one to ``counts`` at x, y and
z; it returns the number of such z. ``plain`` defines the meaning; ``cpu`` marks a row of ``left`` and looks up the
members of rows of ``right``, on all threads. :mod:`.walks` is the same with weights.

Triangles are counted over a graph whose edges lead from the vertex of lower degree to the other (ids break ties): each
triangle is then one x, y, z, and no row is longer than the square root of twice the edges. Oriented rows are held while
there is room for them, and all blocks are read against them; a graph that is larger is read as often as it takes.
Memory: counts and degrees, one byte per vertex and thread, one block, and the held rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from dromos.dtypes import Array
from dromos.places.operators.blocks import Blocks, Rows

__all__ = ["Intersect", "count_triangles", "form_of", "held_ranges", "intersect_of"]

Intersect: TypeAlias = Callable[[Rows, Rows, Array], int]
"""Takes two blocks, and the counts to add to; returns how many members rows had in common."""

_FORMS = {"cpu": "cpu", "cuda": "cpu", "numpy": "plain", "reference": "plain"}


def intersect_of(leaf: str, num_vertices: int, threads: int | None = None) -> Intersect:
    """The form of a leaf engine, for a graph with ``num_vertices`` vertices."""
    found: Intersect = form_of(leaf).intersect(num_vertices, threads)
    return found


def form_of(leaf: str) -> Any:
    """The module with the forms of a leaf engine."""
    return import_module(f"dromos.places.operators.intersection.{_FORMS[leaf]}")


def count_triangles(blocks: Blocks, leaf: str) -> Mapping[str, Any]:
    """Triangles through each vertex of an undirected graph, and in all of it; and each vertex's number of neighbors.

    Self-loops are left out, and parallel edges count once.
    """
    n = blocks.shape.num_vertices
    counts, total = np.zeros(n, np.int64), np.zeros(1, np.int64)
    intersect = intersect_of(leaf, n, blocks.threads)
    orient = _Orientation(blocks)
    for held in blocks.of_everybody(held_ranges(blocks, orient)):
        for rows in blocks.rows():
            total += intersect(orient(rows), held, counts)
    for values in (counts, total):
        blocks.add_up(values)
    blocks.share(orient.degree)
    return {"triangles": counts, "total": int(total[0]), "degree": orient.degree}


class _Orientation:
    """Rows with only the members of higher degree (or of equal degree and higher id), each once."""

    def __init__(self, blocks: Blocks) -> None:
        self._rank, self._n = blocks.degree, blocks.shape.num_vertices
        self.degree = blocks.degree.copy()
        """The number of other neighbors of a vertex; valid once its block was seen."""
        flags = getattr(blocks.shape, "known_flags", None)
        self._simple = flags is not None and flags.parallel_edges is False and flags.self_loops is False

    def __call__(self, rows: Rows) -> Rows:
        sources, targets = rows.sources, rows.targets
        if not self._simple:
            other = sources != targets
            pairs = np.sort(sources[other] * self._n + targets[other], kind="stable")  # most are in order already
            pairs = pairs[np.flatnonzero(np.diff(pairs, prepend=-1))]
            sources, targets = pairs // self._n, (pairs % self._n).astype(targets.dtype)
            self.degree[rows.first : rows.last] = np.bincount(sources - rows.first, minlength=rows.last - rows.first)
        here, there = self._rank[sources], self._rank[targets]
        up = (there > here) | ((there == here) & (targets > sources))
        lengths = np.bincount(sources[up] - rows.first, minlength=rows.last - rows.first)
        return Rows(rows.first, rows.last, np.concatenate([[0], np.cumsum(lengths)]), targets[up])


def held_ranges(blocks: Blocks, orient: Callable[[Rows], Rows]) -> Iterator[Rows]:
    """Yield oriented rows of consecutive ranges of vertices, each as large as there is room for.

    A range is overwritten by the next one.
    """
    held = _Held(min(blocks.held, int(blocks.degree.sum())), blocks.dtype)
    for rows in blocks.rows():
        part = orient(rows)
        if held.lengths and held.size + len(part.targets) > blocks.held:
            yield held.taken()
        if len(part.targets) > blocks.held:
            yield part
        else:
            held.add(part)
    if held.lengths:
        yield held.taken()


class _Held:
    """Rows of a range of vertices, concatenated as they come."""

    def __init__(self, room: int, dtype: np.dtype[np.generic]) -> None:
        self._targets = np.empty(room, dtype)
        self._weights: Array | None = None
        self._first, self._last, self.size = 0, 0, 0
        self.lengths: list[Array] = []

    def add(self, rows: Rows) -> None:
        """Append rows after those of the vertices before."""
        begin, end = self.size, self.size + len(rows.targets)
        self._targets[begin:end] = rows.targets
        if rows.weights is not None:
            if self._weights is None:
                self._weights = np.empty(len(self._targets))
            self._weights[begin:end] = rows.weights
        if not self.lengths:
            self._first = rows.first
        self.lengths.append(np.diff(rows.offsets))
        self._last, self.size = rows.last, end

    def taken(self) -> Rows:
        """All of them; the next rows begin a new range."""
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(self.lengths))])
        weights = None if self._weights is None else self._weights[: self.size]
        found = Rows(self._first, self._last, offsets, self._targets[: self.size], weights)
        self.lengths, self.size = [], 0
        return found
