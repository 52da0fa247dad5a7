"""The steps of Louvain and Leiden on blocks of rows with NumPy: sums by vertex and group, by sorting."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.community_levels import LEAST_GAIN, Level
from dromos.places.operators.blocks import Rows
from dromos.places.operators.communities import Form, Joins, Moves

__all__ = ["form"]


def form(num_vertices: int, threads: int | None = None) -> Form:
    """See :mod:`dromos.places.operators.communities`."""
    return _Vectorised()


class _Arcs:
    """The arcs of some rows, without self-loops and arcs of zero weight; ``row`` is the index of the requested row."""

    def __init__(self, rows: Rows, vertices: Array) -> None:
        begin, end = rows.offsets[vertices - rows.first], rows.offsets[vertices - rows.first + 1]
        lengths = end - begin
        self.row = np.repeat(np.arange(len(vertices)), lengths)
        place = np.arange(len(self.row)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + np.repeat(begin, lengths)
        self.target = rows.targets[place]
        self.weight = _weights(rows)[place]
        self.keep((self.target != vertices[self.row]) & (self.weight > 0))

    def keep(self, some: Array) -> None:
        self.row, self.target, self.weight = self.row[some], self.target[some], self.weight[some]

    def by_group(self, group: Array, count: int) -> tuple[Array, Array, Array]:
        """Rows and groups of the targets, each pair once, ascending; and the sum of weights of each pair."""
        keys = self.row * count + group[self.target]
        pairs, place = np.unique(keys, return_inverse=True)
        return pairs // count, pairs % count, np.bincount(place, self.weight, minlength=len(pairs))


class _Vectorised:
    def around(self, rows: Rows, community: Array, moved: Array) -> tuple[Array, Array]:
        """See :mod:`dromos.places.operators.communities`."""
        count = rows.last - rows.first
        arcs = _Arcs(rows, np.arange(rows.first, rows.last))
        within = community[arcs.target] == community[arcs.row + rows.first]
        called = np.zeros(count, bool)
        called[arcs.row[~within & moved[arcs.target]]] = True
        return np.bincount(arcs.row[within], arcs.weight[within], count), called

    def best_moves(self, rows: Rows, vertices: Array, moves: Moves) -> Array:
        """See :mod:`dromos.places.operators.communities`."""
        row, to, weight = _Arcs(rows, vertices).by_group(moves.community, len(moves.strength))
        k, own = moves.strength[vertices], moves.community[vertices]
        share = moves.scale * k
        at_home = to == own[row]
        stays = np.zeros(len(vertices))
        stays[row[at_home]] = weight[at_home]
        stays -= share * (moves.total[own] - k)
        row, to = row[~at_home], to[~at_home]
        gain = weight[~at_home] - share[row] * moves.total[to]
        return _greatest(row, to, gain, own, stays + LEAST_GAIN * k)

    def best_joins(self, rows: Rows, vertices: Array, joins: Joins) -> Array:
        """See :mod:`dromos.places.operators.communities`."""
        arcs = _Arcs(rows, vertices)
        arcs.keep(joins.community[arcs.target] == joins.community[vertices[arcs.row]])
        row, to, weight = arcs.by_group(joins.part, len(joins.strength))
        k, other = joins.strength[vertices], joins.total[to]
        well = joins.cut[to] >= joins.scale * other * (joins.whole[joins.community[to]] - other)
        fine = well & ~joins.mobile[to]
        row, to = row[fine], to[fine]
        gain = weight[fine] - joins.scale * k[row] * other[fine]
        return _greatest(row, to, gain, vertices.astype(joins.part.dtype), LEAST_GAIN * k)

    def joined(self, rows: Rows, vertices: Array, part: Array, new: Array) -> tuple[Array, Array]:
        """See :mod:`dromos.places.operators.communities`."""
        arcs = _Arcs(rows, vertices)
        arcs.keep(part[arcs.target] == part[vertices[arcs.row]])
        late = new[arcs.target]
        to_new, to_old = (np.bincount(arcs.row[some], arcs.weight[some], len(vertices)) for some in (late, ~late))
        return to_new.astype(np.float64), to_old.astype(np.float64)  # empty sums are integers

    def by_target(self, arcs: tuple[Array, Array, Array], strength: Array) -> Level:
        """See :mod:`dromos.places.operators.communities`."""
        sources, targets, weights = arcs
        order = np.argsort(targets, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=len(strength)))])
        return Level.of(offsets, sources[order], weights[order], strength)

    def pieces(self, rows: Rows, community: Array, parent: Array) -> None:
        """See :mod:`dromos.places.operators.communities`."""
        arcs = _Arcs(rows, np.arange(rows.first, rows.last))
        a, b = arcs.row + rows.first, arcs.target
        within = community[a] == community[b]
        for v, u in zip(a[within].tolist(), b[within].tolist(), strict=True):
            while parent[v] != v:
                v = parent[v]
            while parent[u] != u:
                u = parent[u]
            parent[max(u, v)] = min(u, v)


def _weights(rows: Rows) -> Array:
    return np.ones(len(rows.targets)) if rows.weights is None else rows.weights


def _greatest(row: Array, to: Array, gain: Array, else_to: Array, more_than: Array) -> Array:
    """The choice of greatest gain for each row, the least if tied; ``else_to`` if the gain is not ``more_than``."""
    order = np.lexsort((-to, gain, row))
    last = order[np.flatnonzero(np.append(row[order][1:] != row[order][:-1], True))] if len(order) else order
    last = last[gain[last] > more_than[row[last]]]
    found = else_to.copy()
    found[row[last]] = to[last]
    return found
