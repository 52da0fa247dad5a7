"""The steps of Louvain and Leiden on levels whose rows are divided among processes, and on levels in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.communities import rise_is_worth_compiling
from dromos.engines.native.community_levels import Level, Rise, Steps
from dromos.engines.native.community_steps import CompiledSteps
from dromos.engines.native.plain_communities import PlainSteps
from dromos.engines.splitmix import STEP, mixed
from dromos.graph.slices import equal_edge_bounds
from dromos.parallel import num_threads
from dromos.places.operators.blocks import Blocks, Rows
from dromos.places.operators.communities import Form, Joins, Moves
from dromos.vectors import dot

__all__ = ["BATCHES", "LITTLE", "MOST_PASSES", "BlockLevel", "BlockSteps"]

BATCHES: Final = 16
"""The number of batches of vertices: those of one batch do not see each other's moves."""
LITTLE: Final = 1e-4
"""The last pass is one that gains less modularity than this."""
MOST_PASSES: Final = 64
TOGETHER = 1 << 20
"""From this many arcs on, each process has some rows of a level; with fewer, every process has all of it."""


class BlockLevel(Level):
    """A level of which each process has some rows; ``weights`` has the weight of all arcs between vertices."""

    own: Rows
    bounds: Sequence[int]
    """Where the vertices of each process begin, and where the last end."""

    @classmethod
    def of_rows(cls, own: Rows, bounds: Sequence[int], strength: Array, weight: float) -> BlockLevel:
        """A level with these rows of this process."""
        found = cls(np.empty(0, np.int64), own.targets[:0], np.array([weight]), strength)
        found.own, found.bounds = own, bounds
        return found


class BlockSteps:
    """See :class:`dromos.engines.native.community_levels.Steps`; every process makes the same calls."""

    def __init__(self, blocks: Blocks, form: Form, *, is_compiled: bool) -> None:
        self._blocks, self._form = blocks, form
        self._inner: Steps = PlainSteps()
        if is_compiled:
            compiled = CompiledSteps(np.zeros(1, np.int64), rises=rise_is_worth_compiling())
            self._inner = compiled.on(num_threads(blocks.threads))
        counts = np.int32 if blocks.shape.num_arcs < 1 << 31 else np.int64
        self._sums = np.dtype(np.float64 if blocks.weighted else counts)

    def on(self, threads: int) -> BlockSteps:
        """The same steps: all threads work on one level, one level after the other."""
        return self

    # ---- vertices move ---------------------------------------------------------------------------------------------

    def move(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """See :class:`Steps`."""
        if not isinstance(level, BlockLevel):
            return self._inner.move(level, scale, community, seed)
        batch, least = _batches(level.size, seed), LITTLE * float(level.strength.sum())
        called, moved = level.strength > 0, np.zeros(level.size, bool)
        gain, _ = self._looked_around(level, scale, community, moved)
        for _ in range(MOST_PASSES):
            before, moved[:] = community.copy(), False
            self._pass(level, scale, community, batch, called, moved)
            if not moved.any():
                break
            now, called = self._looked_around(level, scale, community, moved)
            if now < gain:  # moves of one batch interfered with each other
                community = before
            if now < gain + least:
                break
            gain = now
        return self.numbered(community)

    def _pass(
        self, level: BlockLevel, scale: float, community: Array, batch: Array, called: Array, moved: Array
    ) -> None:  # fmt: skip
        """Move the vertices in ``called``, batch by batch; ``moved`` marks those that moved."""
        n, strength = level.size, level.strength
        total = np.bincount(community, strength, minlength=n)
        size = np.bincount(community, minlength=n)
        moves = Moves(strength, scale, community, total)

        def chosen(vertices: Array) -> Array:
            best, old = self._form.best_moves(level.own, vertices, moves), community[vertices]
            apart = (size[old] == 1) & (size[best] == 1) & (best > old)  # two singletons would swap places
            best[apart] = old[apart]
            return best

        for own in _in_batches(level.own, called, batch):
            vertices, best = self._collected(own, chosen, community)
            k, old = strength[vertices], community[vertices]
            community[vertices] = best
            for change, where in ((-k, old), (k, best)):
                np.add.at(total, where, change)
            for sign, where in ((-1, old), (1, best)):
                np.add.at(size, where, sign)
            moved[vertices] = True

    def _looked_around(self, level: BlockLevel, scale: float, community: Array, moved: Array) -> tuple[float, Array]:
        """A value that grows with the modularity; and which of the own vertices have a neighbor that moved."""
        inside, called = self._around(level, community, moved)
        total = np.bincount(community, level.strength, minlength=level.size)
        return float(inside.sum()) - dot(scale * total, total), called

    def _around(self, level: BlockLevel, community: Array, moved: Array) -> tuple[Array, Array]:
        """The weight of edges within the community, for all vertices; and the own vertices to look at again."""
        inside, called = np.zeros(level.size), np.zeros(level.size, bool)
        here = slice(level.own.first, level.own.last)
        inside[here], called[here] = self._form.around(level.own, community, moved)
        self._blocks.share(inside, level.bounds)
        return inside, called

    def _collected(self, own: Array, choose: Callable[[Array], Array], before: Array) -> tuple[Array, Array]:
        """The choices of vertices of all processes that differ from ``before``."""
        best = choose(own) if len(own) else before[:0]
        others = np.flatnonzero(best != before[own])
        return self._blocks.collect(own[others]), self._blocks.collect(best[others])

    # ---- parts of communities join ---------------------------------------------------------------------------------

    def refine(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """See :class:`Steps`."""
        if not isinstance(level, BlockLevel):
            return self._inner.refine(level, scale, community, seed)
        n, strength, batch = level.size, level.strength, _batches(level.size, seed)
        inside, _ = self._around(level, community, np.zeros(n, bool))
        whole = np.bincount(community, strength, minlength=n)
        part, total, cut = np.arange(n, dtype=community.dtype), strength.copy(), inside.copy()
        may_join = (inside > 0) & (inside >= scale * strength * (whole[community] - strength))
        is_alone, mobile = np.ones(n, bool), np.zeros(n, bool)
        joins = Joins(strength, scale, community, whole, part, total, cut, mobile)
        for number, own in enumerate(_in_batches(level.own, may_join, batch)):
            np.equal(batch, number, out=mobile)
            mobile &= may_join
            mobile &= is_alone
            vertices, best = self._collected(
                own[is_alone[own]], lambda vertices: self._form.best_joins(level.own, vertices, joins), part
            )
            if not len(vertices):
                continue
            part[vertices] = best
            is_alone[vertices] = is_alone[best] = False
            np.add.at(total, best, strength[vertices])
            np.add.at(cut, best, inside[vertices] - self._within(level.own, vertices, part))
        return self.numbered(part)

    def _within(self, rows: Rows, vertices: Array, part: Array) -> Array:
        """How much the weight between parts and the rest decreases for each joined vertex, of all processes."""
        new = np.zeros(len(part), bool)
        new[vertices] = True
        own = vertices[slice(*np.searchsorted(vertices, (rows.first, rows.last)))]
        late, early = self._form.joined(rows, own, part, new)
        return self._blocks.collect(late + 2 * early)  # of two that join at once, each counts the weight between them

    def pieces(self, level: Level, community: Array) -> Array:
        """See :class:`Steps`."""
        if not isinstance(level, BlockLevel):
            return self._inner.pieces(level, community)
        own = np.arange(level.size, dtype=community.dtype)
        self._form.pieces(level.own, community, own)
        joined = np.flatnonzero(own != np.arange(level.size))
        children, parents = self._blocks.collect(joined), self._blocks.collect(own[joined])
        parent = np.arange(level.size, dtype=community.dtype)
        order = np.argsort(children, kind="stable")
        counts = np.bincount(children, minlength=level.size)
        trees = Rows(0, level.size, np.concatenate([[0], np.cumsum(counts)]), parents[order])
        self._form.pieces(trees, community, parent)
        while not np.array_equal(parent, parent[parent]):  # point each vertex directly to the least of its tree
            parent = parent[parent]
        return parent

    # ---- the levels above ------------------------------------------------------------------------------------------

    def aggregate(self, level: Level, group: Array, groups: int) -> Level:
        """See :class:`Steps`."""
        if not isinstance(level, BlockLevel):
            return self._inner.aggregate(level, group, groups)
        found = self._inner.aggregate(self._whole(level), group, groups)
        found = found._replace(weights=found.weights.astype(self._sums))  # even if there are no arcs
        bounds = [0, groups]
        if self._blocks.processes > 1:
            found, bounds = self._dealt(found)
        found = self._sorted(found)
        sums = np.array([len(found.targets), found.weights.sum()], np.float64)
        self._blocks.add_up(sums)
        arcs, weight = sums.tolist()
        if arcs >= TOGETHER:
            rows = _rows_of(found, bounds[self._blocks.process], bounds[self._blocks.process + 1])
            return BlockLevel.of_rows(rows, bounds, found.strength, weight)
        lengths = np.diff(found.offsets)
        self._blocks.add_up(lengths)
        columns = (self._blocks.collect(column) for column in (found.targets, found.weights))
        return Level.of(np.concatenate([[0], np.cumsum(lengths)]), *columns, found.strength)

    def _whole(self, level: BlockLevel) -> Level:
        """A level with the own rows; those of other processes are empty."""
        own, offsets = level.own, np.zeros(level.size + 1, np.int64)
        offsets[own.first : own.last + 1], offsets[own.last + 1 :] = own.offsets, own.offsets[-1]
        weights = np.empty(0, self._sums) if own.weights is None else own.weights
        return Level.of(offsets, own.targets, weights, level.strength)

    def _dealt(self, found: Level) -> tuple[Level, list[int]]:
        """The rows found by all processes, redistributed so that each gets its own; and where these begin."""
        lengths = np.diff(found.offsets)
        self._blocks.add_up(lengths)
        bounds = equal_edge_bounds(np.concatenate([[0], np.cumsum(lengths)]), self._blocks.processes).tolist()
        sizes = np.diff(found.offsets[bounds]).tolist()
        sources, targets, weights = (self._blocks.deal(column, sizes) for column in _arcs(found))
        rows = self._form.by_target((targets, sources, weights), found.strength)
        groups = np.arange(found.size, dtype=targets.dtype)
        merged = self._inner.aggregate(rows, groups, found.size)
        return merged._replace(weights=merged.weights.astype(self._sums)), bounds

    def _sorted(self, level: Level) -> Level:
        """The same with the targets of each row in ascending order, independent of which process had which."""
        other_way = self._form.by_target(_arcs(level), level.strength)
        return self._form.by_target(_arcs(other_way), level.strength)

    def rise(self, level: Level, scale: float, community: Array, seeds: Array) -> Rise:
        """See :class:`Steps`."""
        if isinstance(level, BlockLevel):
            return Rise([], level, community, is_top=False)
        return self._inner.rise(level, scale, community, seeds)

    def numbered(self, group: Array) -> tuple[Array, int]:
        """See :class:`Steps`."""
        return self._inner.numbered(group)

    def cut(self, fine: Array, coarse: Array) -> Array:
        """See :class:`Steps`."""
        return self._inner.cut(fine, coarse)


def _batches(count: int, seed: int) -> Array:
    """The batch of each vertex, by a hash."""
    ids = np.arange(count, dtype=np.uint64)
    return (mixed((ids + np.uint64(1)) * STEP + np.uint64(seed)) >> np.uint64(60)).astype(np.uint8)


def _in_batches(own: Rows, flags: Array, batch: Array) -> Iterator[Array]:
    """Yield the own vertices that have a flag, batch by batch."""
    vertices = np.flatnonzero(flags[own.first : own.last]) + own.first
    order = np.argsort(batch[vertices], kind="stable")
    yield from np.split(vertices[order], np.cumsum(np.bincount(batch[vertices], minlength=BATCHES))[:-1])


def _arcs(level: Level) -> tuple[Array, Array, Array]:
    """Sources, targets and weights."""
    sources = np.repeat(np.arange(level.size, dtype=level.targets.dtype), np.diff(level.offsets))
    return sources, level.targets, level.weights


def _rows_of(level: Level, first: int, last: int) -> Rows:
    """The rows of a level, which has no others; weights are 64-bit numbers, as those of a graph."""
    offsets = level.offsets[first : last + 1]
    return Rows(first, last, offsets, level.targets, level.weights.astype(np.float64))
