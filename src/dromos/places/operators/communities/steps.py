"""The steps of Louvain and Leiden on a first level of which each process has some rows, and on levels in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.communities import rise_is_worth_compiling
from dromos.engines.native.community_levels import Level, Rise, Steps
from dromos.engines.native.community_steps import CompiledSteps
from dromos.engines.native.plain_communities import PlainSteps
from dromos.engines.splitmix import STEP, mixed
from dromos.parallel import num_threads
from dromos.places.operators.blocks import Blocks, Rows
from dromos.places.operators.communities import Form, Joins, Moves
from dromos.vectors import dot

__all__ = ["BATCHES", "LITTLE", "MOST_PASSES", "BlockLevel", "BlockSteps"]

BATCHES: Final = 16
"""Into which vertices are divided: those of one batch do not see each other's moves."""
LITTLE: Final = 1e-4
"""Modularity: a pass that gains less is the last."""
MOST_PASSES: Final = 64


class BlockLevel(Level):
    """The first level, whose rows are with the processes."""

    __slots__ = ()


class BlockSteps:
    """See :class:`dromos.engines.native.community_levels.Steps`; every process makes the same calls."""

    def __init__(self, blocks: Blocks, own: Rows, form: Form, *, is_compiled: bool) -> None:
        self._blocks, self._own, self._form = blocks, own, form
        self._inner: Steps = PlainSteps()
        if is_compiled:
            compiled = CompiledSteps(np.zeros(1, np.int64), rises=rise_is_worth_compiling())
            self._inner = compiled.on(num_threads(blocks.threads))
        counts = np.int32 if blocks.shape.num_arcs < 1 << 31 else np.int64
        self._weights = np.empty(0, counts) if own.weights is None else own.weights

    def on(self, threads: int) -> BlockSteps:
        """One after the other: all threads are on one level."""
        return self

    # ---- vertices move ---------------------------------------------------------------------------------------------

    def move(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """See :class:`Steps`."""
        if not isinstance(level, BlockLevel):
            return self._inner.move(level, scale, community, seed)
        batch, least = self._batches(seed), LITTLE * float(level.strength.sum())
        called, moved = level.strength > 0, np.zeros(level.size, bool)
        gain, _ = self._looked_around(level, scale, community, moved)
        for _ in range(MOST_PASSES):
            before, moved[:] = community.copy(), False
            self._pass(level, scale, community, batch, called, moved)
            if not moved.any():
                break
            now, called = self._looked_around(level, scale, community, moved)
            if now < gain:  # moves of one batch were in each other's way
                community = before
            if now < gain + least:
                break
            gain = now
        return self.numbered(community)

    def _pass(
        self, level: Level, scale: float, community: Array, batch: Array, called: Array, moved: Array
    ) -> None:  # fmt: skip
        """Let the vertices that are ``called`` move, batch by batch; ``moved`` gets those that did."""
        n, strength = level.size, level.strength
        total = np.bincount(community, strength, minlength=n)
        size = np.bincount(community, minlength=n)
        moves = Moves(strength, scale, community, total, size)

        def chosen(vertices: Array) -> Array:
            best, old = self._form.best_moves(self._own, vertices, moves), community[vertices]
            apart = (size[old] == 1) & (size[best] == 1) & (best > old)  # two that are alone would change places
            best[apart] = old[apart]
            return best

        for own in self._in_batches(called, batch):
            vertices, best = self._collected(own, chosen, community)
            k, old = strength[vertices], community[vertices]
            community[vertices] = best
            for change, where in ((-k, old), (k, best)):
                np.add.at(total, where, change)
            for sign, where in ((-1, old), (1, best)):
                np.add.at(size, where, sign)
            moved[vertices] = True

    def _looked_around(self, level: Level, scale: float, community: Array, moved: Array) -> tuple[float, Array]:
        """The higher, the higher the modularity; and which of the own vertices have a neighbour that moved."""
        inside, called = self._around(community, moved)
        total = np.bincount(community, level.strength, minlength=level.size)
        return float(inside.sum()) - dot(scale * total, total), called

    def _around(self, community: Array, moved: Array) -> tuple[Array, Array]:
        """Of all vertices, the weight of edges to others of their community; of the own ones, who has to look again."""
        inside, called = np.zeros(len(community)), np.zeros(len(community), bool)
        here = slice(self._own.first, self._own.last)
        inside[here], called[here] = self._form.around(self._own, community, moved)
        self._blocks.share(inside)
        return inside, called

    def _batches(self, seed: int) -> Array:
        """The batch of each vertex, by a hash."""
        ids = np.arange(self._blocks.shape.num_vertices, dtype=np.uint64)
        return (mixed((ids + np.uint64(1)) * STEP + np.uint64(seed)) >> np.uint64(60)).astype(np.uint8)

    def _in_batches(self, flags: Array, batch: Array) -> Iterator[Array]:
        """The own vertices that have a flag, one batch after the other."""
        first = self._own.first
        vertices = np.flatnonzero(flags[first : self._own.last]) + first
        order = np.argsort(batch[vertices], kind="stable")
        yield from np.split(vertices[order], np.cumsum(np.bincount(batch[vertices], minlength=BATCHES))[:-1])

    def _collected(self, own: Array, choose: Callable[[Array], Array], before: Array) -> tuple[Array, Array]:
        """What vertices choose, of all processes: those that choose something else than ``before``."""
        best = choose(own) if len(own) else before[:0]
        others = np.flatnonzero(best != before[own])
        return self._blocks.collect(own[others]), self._blocks.collect(best[others])

    # ---- parts of communities join ---------------------------------------------------------------------------------

    def refine(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """See :class:`Steps`."""
        if not isinstance(level, BlockLevel):
            return self._inner.refine(level, scale, community, seed)
        n, strength, batch = level.size, level.strength, self._batches(seed)
        inside, _ = self._around(community, np.zeros(n, bool))
        whole = np.bincount(community, strength, minlength=n)
        part, total, cut = np.arange(n, dtype=community.dtype), strength.copy(), inside.copy()
        may_join = (inside > 0) & (inside >= scale * strength * (whole[community] - strength))
        is_alone, mobile = np.ones(n, bool), np.zeros(n, bool)
        joins = Joins(strength, scale, community, whole, part, total, cut, mobile)
        for number, own in enumerate(self._in_batches(may_join, batch)):
            np.equal(batch, number, out=mobile)
            mobile &= may_join
            mobile &= is_alone
            vertices, best = self._collected(
                own[is_alone[own]], lambda vertices: self._form.best_joins(self._own, vertices, joins), part
            )
            if not len(vertices):
                continue
            part[vertices] = best
            is_alone[vertices] = is_alone[best] = False
            np.add.at(total, best, strength[vertices])
            np.add.at(cut, best, inside[vertices] - self._within(vertices, part))
        return self.numbered(part)

    def _within(self, vertices: Array, part: Array) -> Array:
        """By how much the weight between parts and the rest is less for each vertex that joined, of all processes."""
        new = np.zeros(len(part), bool)
        new[vertices] = True
        own = vertices[slice(*np.searchsorted(vertices, (self._own.first, self._own.last)))]
        late, early = self._form.joined(self._own, own, part, new)
        return self._blocks.collect(late + 2 * early)  # of two that join at once each counts what is between them

    def pieces(self, level: Level, community: Array) -> Array:
        """See :class:`Steps`."""
        if not isinstance(level, BlockLevel):
            return self._inner.pieces(level, community)
        own = np.arange(level.size, dtype=community.dtype)
        self._form.pieces(self._own, community, own)
        joined = np.flatnonzero(own != np.arange(level.size))
        children, parents = self._blocks.collect(joined), self._blocks.collect(own[joined])
        parent = np.arange(level.size, dtype=community.dtype)
        order = np.argsort(children, kind="stable")
        counts = np.bincount(children, minlength=level.size)
        trees = Rows(0, level.size, np.concatenate([[0], np.cumsum(counts)]), parents[order])
        self._form.pieces(trees, community, parent)
        while not np.array_equal(parent, parent[parent]):  # each vertex straight to the least of its tree
            parent = parent[parent]
        return parent

    # ---- the levels above ------------------------------------------------------------------------------------------

    def aggregate(self, level: Level, group: Array, groups: int) -> Level:
        """See :class:`Steps`."""
        if not isinstance(level, BlockLevel):
            return self._inner.aggregate(level, group, groups)
        found = self._inner.aggregate(self._own_level(level), group, groups)
        if self._blocks.processes > 1:
            theirs = self._form.by_target(self._collected_arcs(found), found.strength)
            found = self._inner.aggregate(theirs, np.arange(groups, dtype=group.dtype), groups)
        return self._form.by_target(_arcs(found), found.strength)  # the same order of rows, whoever had which

    def _own_level(self, level: Level) -> Level:
        """The first level with the own rows; those of others are empty."""
        own = self._own
        offsets = np.zeros(level.size + 1, np.int64)
        offsets[own.first : own.last + 1], offsets[own.last + 1 :] = own.offsets, own.offsets[-1]
        return Level.of(offsets, own.targets, self._weights, level.strength)

    def _collected_arcs(self, found: Level) -> tuple[Array, Array, Array]:
        """The arcs that the processes found between groups."""
        sources, targets, weights = (self._blocks.collect(column) for column in _arcs(found))
        return sources, targets, weights

    def rise(self, level: Level, scale: float, community: Array, seeds: Array) -> Rise:
        """See :class:`Steps`."""
        return self._inner.rise(level, scale, community, seeds)

    def numbered(self, group: Array) -> tuple[Array, int]:
        """See :class:`Steps`."""
        return self._inner.numbered(group)

    def cut(self, fine: Array, coarse: Array) -> Array:
        """See :class:`Steps`."""
        return self._inner.cut(fine, coarse)


def _arcs(level: Level) -> tuple[Array, Array, Array]:
    """Sources, targets and weights."""
    sources = np.repeat(np.arange(level.size, dtype=level.targets.dtype), np.diff(level.offsets))
    return sources, level.targets, level.weights
