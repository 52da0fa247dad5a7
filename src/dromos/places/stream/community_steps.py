"""The steps of Louvain and Leiden on a graph on disk: the first level by blocks of rows, those above in memory.

The state of vertices and communities is in memory. A pass moves vertices whose neighbors moved since they were last
visited, and reads the pages that hold their rows. The blocks follow from the graph, and the random numbers of each
from the seed, so the communities depend on neither the number of threads nor the pages that the budget holds.

The graph of Leiden's parts may have almost as many edges as the first one, as on R-MAT. If it does not fit the
budget, the connected pieces of communities are aggregated instead, from there on: communities stay connected, and
levels above are refined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines.native.community_levels import Level, Rise
from dromos.engines.native.community_steps import CompiledSteps
from dromos.errors import ResourceError
from dromos.graph.summary import enough_bytes, human_bytes
from dromos.parallel import run_team
from dromos.places.stream.community_pairs import Pairs, estimated_pairs
from dromos.places.stream.community_sizes import LevelSizes, more_memory_for
from dromos.places.stream.row_blocks import RowBlock, RowBlocks
from dromos.places.stream.row_reader import RowReader

__all__ = ["StoredLevel", "StoredSteps"]

LITTLE: Final = 1e-4
"""The last pass is one that gains less modularity than this."""
_DOUBT: Final = 1.05
"""A safety factor on an estimate of pairs; a larger error is not expected."""

Answer = TypeVar("Answer")
Step = tuple[int, int, str, float, int]


class StoredLevel(Level):
    """The first level, whose rows are on disk. All vertices without edges are merged into one vertex of it."""

    __slots__ = ()

    @property
    def size(self) -> int:
        """The number of vertices of the level."""
        count = int(np.count_nonzero(self.strength))
        return count + (count < len(self.strength))


class StoredSteps:
    """See :class:`dromos.engines.native.community_levels.Steps`.

    ``stop``: the flag of ``inner``, which has the steps on levels in memory; ``told`` gets a record of each reading.
    ``sizes``: of levels in memory. ``spare``: bytes of the budget that are free while no vertices of the first level
    move.
    """

    def __init__(
        self,
        reader: RowReader,
        blocks: RowBlocks,
        inner: CompiledSteps,
        stop: Array,
        threads: int,
        sizes: LevelSizes,
        *,
        spare: int,
        progress: Callable[[int, int], Any] | None,
    ) -> None:
        self._reader, self._blocks, self._inner, self._stop = reader, blocks, inner, stop
        self._threads, self._sizes, self._spare, self._progress = threads, sizes, spare, progress
        self._num_arcs, self._is_too_fine = blocks.arcs_from(0), False
        self._held = 0  # bytes of levels in memory
        self._held_for_threads = 0  # the part of them that one thread would not need
        self.told: list[Step] = []

    def on(self, threads: int) -> StoredSteps:
        """The same steps, for any number of threads: only one reader has the memory."""
        return self

    def move(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """See :class:`Steps`."""
        if not isinstance(level, StoredLevel):
            return self._in_memory(lambda: self._inner.move(level, scale, community, seed))
        self._reader.hold(0)  # levels of the previous round are freed
        self._move(level, scale, community, np.random.default_rng(seed))
        return self.numbered(community)

    def _move(self, level: StoredLevel, scale: float, community: Array, random: np.random.Generator) -> None:
        kernels, n, ids = _kernels(), len(community), community.dtype
        table, size, free = np.zeros(2 * n), np.zeros(n, ids), np.empty(n + 1, ids)
        kernels.begin_moves(level.strength, community, table, size, free)
        flags = (level.strength > 0).view(np.uint8)
        least = LITTLE * float(level.strength.sum()) / 2
        (order, seen), told = self._scratch(ids), np.zeros(kernels.ENTRIES)
        is_first = True
        while True:
            gain = moves = 0.0
            for block, number in self._pass("vertices move", random, None if is_first else flags):
                kernels.move_rows(
                    *block.rows, level.strength, scale, number, community, table, size, free, flags, order, seen, told
                )
                gain, moves = gain + told[kernels.GAIN], moves + told[kernels.MOVES]
            if gain < least or not moves:
                return
            flags >>= 1
            is_first = False

    def refine(self, level: Level, scale: float, community: Array, seed: int) -> tuple[Array, int]:
        """See :class:`Steps`."""
        if not isinstance(level, StoredLevel):
            return self._in_memory(lambda: self._inner.refine(level, scale, community, seed))
        if not self._is_too_fine:
            part, count = self.numbered(self._parts(level, scale, community, np.random.default_rng(seed)))
            self._is_too_fine = self._sizes.needed(self._pairs(part, count), count) > self._most
            if not self._is_too_fine:
                return part, count
        return self.numbered(self.pieces(level, community))

    def _parts(self, level: StoredLevel, scale: float, community: Array, random: np.random.Generator) -> Array:
        kernels, n, ids = _kernels(), len(community), community.dtype
        label, table = np.empty(2 * n, ids), np.zeros(4 * n)
        label[0::2], label[1::2] = community, np.arange(n, dtype=ids)
        total = np.bincount(community, weights=level.strength, minlength=n)
        for block in self._all("parts begin"):
            kernels.start_parts(*block.rows, level.strength, community, label, table)
        order, seen = self._scratch(ids)
        for block, number in self._pass("parts are joined", random):
            kernels.join_parts(
                *block.rows, level.strength, scale, number, total, label, table, order, seen
            )  # fmt: skip
        return _together(label[1::2].copy(), level)

    def pieces(self, level: Level, community: Array) -> Array:
        """See :class:`Steps`."""
        if not isinstance(level, StoredLevel):
            return self._inner.pieces(level, community)
        kernels, parent = _kernels(), np.arange(len(community), dtype=community.dtype)
        for block in self._all("pieces are joined"):
            kernels.join_pieces(*block.rows, community, parent)
        kernels.end_pieces(parent)
        return _together(parent, level)

    def aggregate(self, level: Level, group: Array, groups: int) -> Level:
        """See :class:`Steps`."""
        if not isinstance(level, StoredLevel):
            return self._aggregate_again(level, group, groups)
        clock, before = Stopwatch(), self._reader.bytes_read
        pairs = Pairs(group, groups, self._sizes.sums, partial(self._hold, group, groups))
        pairs.add_all(self._blocks, self._check)
        found = pairs.level(np.bincount(group, weights=level.strength, minlength=groups))
        self._tell("communities are aggregated", len(group), clock, before)
        threads = self._threads if self._sizes.climb(pairs.count, groups, self._threads) <= self._most else 1
        self._held = self._sizes.climb(pairs.count, groups, threads)
        self._held_for_threads = self._held - self._sizes.climb(pairs.count, groups, 1)
        self._hold(group, groups, self._held)
        self._inner = self._inner.on(threads)
        return found

    def _aggregate_again(self, level: Level, group: Array, groups: int) -> Level:
        """The graph of groups of a level in memory."""
        self._hold_beside(min(len(level.targets), groups * (groups - 1)))
        found = self._in_memory(lambda: self._inner.aggregate(level, group, groups))
        if self._sizes.keeps:  # otherwise the level below, which is larger, is freed
            self._held += len(found.targets) * self._sizes.arc
        return found

    def rise(self, level: Level, scale: float, community: Array, seeds: Array) -> Rise:
        """See :class:`Steps`."""
        if self._held + 2 * len(level.targets) * self._sizes.arc > self._most:
            return Rise([], level, community, is_top=False)  # single steps do the same
        self._hold_beside(2 * len(level.targets))
        return self._in_memory(lambda: self._inner.rise(level, scale, community, seeds))

    def numbered(self, group: Array) -> tuple[Array, int]:
        """See :class:`Steps`."""
        return self._inner.numbered(group)

    def cut(self, fine: Array, coarse: Array) -> Array:
        """See :class:`Steps`."""
        return self._inner.cut(fine, coarse)

    def _pass(
        self, said: str, random: np.random.Generator, flags: Array | None = None
    ) -> Iterator[tuple[RowBlock, np.uint64]]:
        """All blocks, or those of vertices with a flag, in random order, with a random number for each.

        In the order of ids, which often correlate with degrees, communities come out worse.
        """
        clock, before = Stopwatch(), self._reader.bytes_read
        order, vertices = random.permutation(self._blocks.count), 0
        numbers = random.integers(1 << 62, size=len(order)).astype(np.uint64)
        for block in self._blocks.read_in(order, flags):
            self._check()
            vertices += len(block.offsets) - 1
            yield block, numbers[block.number]
        self._tell(f"{said} along rows on disk", vertices, clock, before)

    def _all(self, said: str) -> Iterator[RowBlock]:
        """All blocks in turn."""
        clock, before = Stopwatch(), self._reader.bytes_read
        for block in self._blocks.read():
            self._check()
            yield block
        self._tell(f"{said} along rows on disk", 0, clock, before)

    def _tell(self, said: str, vertices: int, clock: Stopwatch, before: int) -> None:
        self.told.append((1, vertices, said, clock.seconds(), self._reader.bytes_read - before))
        if self._progress is not None:
            self._progress(len(self.told), 0)

    def _check(self) -> None:
        if self._stop[0]:
            raise KeyboardInterrupt

    def _in_memory(self, step: Callable[[], Answer]) -> Answer:
        """The result of a step, run on a thread that this one waits for, so that Ctrl-C is handled."""
        found: list[Answer] = []
        run_team(lambda _, __: found.append(step()), threads=1, stop=self._stop)
        return found[0]

    def _scratch(self, ids: np.dtype[Any]) -> tuple[Array, Array]:
        """Scratch arrays for the order of a block's rows, and for the communities around a vertex."""
        return np.empty(self._blocks.most_rows, np.int32), np.empty(self._blocks.longest + 1, ids)

    @property
    def _most(self) -> int:
        """The bytes available for a graph of communities and what is made of it."""
        return self._spare + self._reader.most

    def _hold(self, group: Array, groups: int, size: int) -> None:
        """Make room for ``size`` bytes; if there is not enough, raise an error with the memory that would do."""
        if size <= self._most:
            self._reader.hold(max(0, size - self._spare))
            return
        pairs = self._pairs(group, groups)
        what = f"the graph of the {groups:,} communities of the first level, with about {pairs:,} edges,"
        raise self._too_little(what, max(self._sizes.needed(pairs, groups), size))

    def _hold_beside(self, arcs: int) -> None:
        """Make room for this many arcs beside the existing levels; by switching to one thread, if necessary."""
        size = self._held + arcs * self._sizes.arc
        if size > self._most and self._held_for_threads:
            size, self._held = size - self._held_for_threads, self._held - self._held_for_threads
            self._held_for_threads, self._inner = 0, self._inner.on(1)
        if size > self._most:
            raise self._too_little("a graph of communities", size)
        self._reader.hold(max(0, size - self._spare))

    def _too_little(self, what: str, size: int) -> ResourceError:
        enough = self._reader.memory + more_memory_for(size - self._most)
        return ResourceError(
            f"memory={human_bytes(self._reader.memory)} is too little: {what} takes more than the "
            f"{human_bytes(self._most)} that are left for it; give {enough_bytes(enough)}",
            needed=enough,
        )

    def _pairs(self, group: Array, groups: int) -> int:
        """An upper estimate of the number of edges of the graph of groups."""
        blocks = self._all("edges between communities are counted")
        return int(estimated_pairs(group, groups, blocks, self._num_arcs) * _DOUBT)


def _together(group: Array, level: StoredLevel) -> Array:
    """Groups in which all vertices without edges are in the group of the first one."""
    alone = level.strength == 0
    if alone.any():
        group[alone] = group[int(np.argmax(alone))]
    return group


def _kernels() -> Any:
    from dromos.engines.native import communities_block_kernels

    return communities_block_kernels
