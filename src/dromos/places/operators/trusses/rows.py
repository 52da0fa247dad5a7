"""The rows of a graph as sets, gathered from blocks, with a number for every edge."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.places.operators.blocks import Blocks, Rows

__all__ = ["Reading", "WholeRows", "greater_ids"]


class WholeRows(NamedTuple):
    """The other neighbors of every vertex, in ascending order, and the edges to them."""

    offsets: Array
    targets: Array
    base: Array
    """The number of each vertex's first edge to a greater id; the following edges have consecutive numbers."""
    place: Array
    """The edge of each arc to a lesser id, in the order of arcs: that of arc a of vertex v at ``a - base[v]``."""

    def row(self, v: int) -> tuple[Array, Array]:
        """The neighbors of a vertex, and the edges to them."""
        (begin, end), (first, last) = self.offsets[v : v + 2].tolist(), self.base[v : v + 2].tolist()
        edges = np.concatenate([self.place[begin - first : end - last], np.arange(first, last)])
        return self.targets[begin:end], edges


class Reading:
    """Gathers rows, and records what they were like."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._found = np.zeros(2, np.int64)  # arcs that do not count, and blocks whose rows were unsorted

    def whole_rows(self) -> WholeRows:
        """The rows of all processes; the caller fills in the edges."""
        blocks = self._blocks
        bounds = blocks.bounds()
        arcs = int(blocks.degree[bounds[0][0] : bounds[-1][1]].sum()) if bounds else 0
        targets, lengths, above, size = np.empty(arcs, blocks.dtype), [], [], 0
        for first, last in bounds:
            ids, length, greater = self._as_sets(blocks.gather(first, last))
            targets[size : size + len(ids)] = ids
            size += len(ids)
            lengths.append(length)
            above.append(greater)
        blocks.add_up(self._found)
        nothing = [np.empty(0, np.int64)]
        offsets, base = (_starts(blocks.collect(np.concatenate(nothing + counts))) for counts in (lengths, above))
        edges = int(base[-1])
        place = np.empty(edges, np.int32 if edges < np.iinfo(np.int32).max else np.int64)
        return WholeRows(offsets, blocks.collect(targets[:size]), base, place)

    def _as_sets(self, rows: Rows) -> tuple[Array, Array, Array]:
        """The other members of rows, each once and ascending; how many each row has, and how many of greater ids."""
        sources, targets, count = rows.sources, rows.targets, rows.last - rows.first
        keys = (sources - rows.first) * self._blocks.shape.num_vertices + targets
        other = sources != targets
        rising = bool((keys[1:] >= keys[:-1]).all())
        if not rising or not other.all() or not (keys[1:] > keys[:-1]).all():
            keys = keys[other]
            if not rising:
                keys.sort()
            keys = keys[np.flatnonzero(np.diff(keys, prepend=-1))]
            self._found += len(targets) - len(keys), not rising
            sources, targets = np.divmod(keys, self._blocks.shape.num_vertices)
            sources += rows.first
        own = sources - rows.first
        return targets, np.bincount(own, minlength=count), np.bincount(own[targets > sources], minlength=count)

    def restore_order(self, base: Array, target: Array, truss: Array) -> None:
        """Permute columns by edge from the order of ids to that of the rows, if these are sets in another order."""
        dropped, unordered = self._found.tolist()
        if dropped or not unordered:
            return
        blocks = self._blocks
        for rows in blocks.rows():
            sources, edges = rows.sources, slice(int(base[rows.first]), int(base[rows.last]))
            once = np.flatnonzero(rows.targets > sources)
            ids, numbers = rows.targets[once], truss[edges].copy()
            target[edges] = ids
            truss[edges][np.lexsort((ids, sources[once]))] = numbers
        bounds = base[blocks.ranges()].tolist()
        blocks.share(target, bounds)
        blocks.share(truss, bounds)


def greater_ids(blocks: Blocks, rows: WholeRows) -> Array:
    """The end of greater id of every edge."""
    found = np.empty(int(rows.base[-1]), rows.targets.dtype)
    for first, last in blocks.bounds_within(0, len(rows.base) - 1):
        ids = rows.targets[rows.offsets[first] : rows.offsets[last]]
        sources = np.repeat(np.arange(first, last), np.diff(rows.offsets[first : last + 1]))
        found[rows.base[first] : rows.base[last]] = ids[ids > sources]
    return found


def rows_among(blocks: Blocks, rows: WholeRows, kept: Array) -> WholeRows:
    """The rows with only the edges that are ``kept``, which are renumbered in the same order."""
    n, edges, size = len(rows.base) - 1, int(np.count_nonzero(kept)), 0
    targets, lengths, above = np.empty(2 * edges, rows.targets.dtype), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for first, last in blocks.bounds_within(0, n):
        (begin, end), (low, high) = rows.offsets[[first, last]].tolist(), rows.base[[first, last]].tolist()
        ids = rows.targets[begin:end]
        sources = np.repeat(np.arange(first, last), np.diff(rows.offsets[first : last + 1]))
        greater = ids > sources
        stays = np.empty(len(ids), bool)
        stays[greater] = kept[low:high]
        stays[~greater] = kept[rows.place[begin - low : end - high]]
        ids, sources, greater = ids[stays], sources[stays] - first, greater[stays]
        targets[size : size + len(ids)] = ids
        size += len(ids)
        lengths[first:last] = np.bincount(sources, minlength=last - first)
        above[first:last] = np.bincount(sources[greater], minlength=last - first)
    return WholeRows(_starts(lengths), targets, _starts(above), np.empty(edges, rows.place.dtype))


def _starts(lengths: Array) -> Array:
    return np.concatenate([[0], np.cumsum(lengths)])
