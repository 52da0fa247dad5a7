"""In-arcs sorted by blocks of rows and tiles of sources, so that a gather stays within a core's own cache.

A pull reads a value of each arc's source. If these values exceed a core's private cache, nearly every read goes to the
shared cache or to memory, and a core has a dozen such reads in flight at most.

Here a thread processes a block of rows tile by tile. The arcs of one tile have their sources in a range of
``1 << SPAN``, whose values stay in the private cache meanwhile:

- If a row has few arcs in a tile, each arc is one word: the row's number in the block above the source's number in the
  tile.
- If a row has many arcs in a tile, they form a segment: 16 bits per arc, summed in a register.
- Rows that are too long for one thread are left out. Their vertices are the *hubs* here, and are gathered piece by
  piece along the rows of the graph.

Sources are assigned to tiles by id, or those of many arcs first if that is better
(:mod:`dromos.engines.cpu.source_order`). In that case the rows of a block are numbered likewise
(:mod:`dromos.engines.cpu.row_numbers`), since a row of many arcs has some in nearly every tile.

The order in which a row's messages are merged depends on the graph alone, not on the blocks, which are made for a
number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.cpu.memory import huge_zeros
from dromos.engines.cpu.row_numbers import rows_by_arcs, rows_by_id
from dromos.engines.cpu.skeletons import constants
from dromos.engines.cpu.source_order import BY_ID, SEGMENT, SourceOrder, better_order, tiles_of_sources
from dromos.engines.cpu.topology import HUB_LENGTH, Hubs
from dromos.errors import InvalidArgumentError
from dromos.identity_cache import IdentityCache
from dromos.parallel import run_team

__all__ = [
    "BLOCKS_FROM",
    "BLOCKS_VARIABLE",
    "LEAST_ARCS",
    "LEAST_PULLS",
    "MOST_ROWS",
    "SORTING_BYTES",
    "ArcBlocks",
    "arc_blocks",
    "blocks_on_any_graph",
    "grouping_bytes",
    "is_worth_blocks",
    "may_be_worth_blocks",
    "sort_arcs",
]

BLOCKS_VARIABLE = "DROMOS_ARC_BLOCKS"
"""0: never sort arcs into blocks, which saves their memory; 1 (default): sort them if it is worth it."""

_SPAN, _FOLD = *constants("block_tiles", "SPAN"), *constants("common", "FOLD")
MOST_ROWS: Final = 1 << (32 - _SPAN)
"""The most rows of a block: a word holds a row's number in its block and a source's number in its tile."""
_PER_THREAD: Final = 4  # least number of blocks per thread
_TOGETHER: Final = 2  # blocks per thread that are sorted at a time
SORTING_BYTES: Final = 4
"""Bytes per arc while arcs are sorted, beside what they are sorted into."""
_PIECE: Final = 1 << 14  # least arcs of a row that are grouped by tile at a time: 64 KiB, in a core's own cache
_PER_TILE: Final = 4 * SEGMENT  # the least average number per tile, so that most of them are in segments
LEAST_VALUES = 4 << 20
"""Least size in bytes of the gathered values; a core's private cache holds less, or the greater part of it."""
LEAST_ARCS = 1 << 12
"""Least average number of arcs per tile: with fewer, fetching the source values takes longer than gathering them."""
LEAST_DEGREE = 8
"""Least average degree: sorted or not, short rows cost as much for their vertices as for their arcs."""
LONGEST_ROW = 256
"""A row with more than one in so many of all arcs is split: a row of a block belongs to one thread."""
_SHARE: Final = 8  # arcs in blocks take at most this fraction (one in so many) of the machine's memory
BLOCKS_FROM: Final = 1
"""The first superstep along arcs in blocks in a run of unknown length: a single superstep goes along rows."""
LEAST_PULLS: Final = 6
"""The least possible supersteps of a run that sorts. On two cores, such a run takes as long with sorting as without.
Many cores with large caches would need 7 to 20 supersteps, but the loss is small, and later runs find the arcs sorted.
"""
_kept = IdentityCache()
_any_graph = False


@dataclass(frozen=True, eq=False)
class ArcBlocks:
    """The in-arcs of a graph; tile ``t`` of block ``b`` has the number ``b * tiles + t``."""

    threads: int
    longest: int
    """The most arcs of a row; longer rows belong to hubs."""
    hubs: Hubs
    firsts: Array
    """The first row of each block, and the end of the last block."""
    row_counts: Array
    """How many rows of each block are numbered."""
    row_places: Array
    """The number of each row in its block; rows without arcs here share the one after the last. Empty: by id."""
    order: SourceOrder
    """The order of sources in tiles."""
    tiles: int
    word_starts: Array
    """Where the words of each tile begin, and where the last ones end; likewise for the next two."""
    long_starts: Array
    segment_starts: Array
    words: Array
    long_sources: Array
    segment_rows: Array
    segment_ends: Array

    @property
    def rows(self) -> int:
        """The most row numbers of a block, plus one for rows that have none."""
        return int(self.row_counts.max(initial=0)) + 1

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        columns = (*self.arrays(), self.order.places)
        return sum(column.nbytes for column in columns if isinstance(column, np.ndarray))

    def arrays(self) -> tuple[Any, ...]:
        """The arguments of a kernel."""
        return (
            self.firsts, self.row_counts, self.row_places, np.int64(self.tiles), self.word_starts, self.long_starts,
            self.segment_starts, self.words, self.long_sources, self.segment_rows, self.segment_ends,
        )  # fmt: skip


def is_worth_blocks(offsets: Array, sources: Array, value_bytes: int) -> bool:
    """Whether to gather along these in-rows in blocks, with ``value_bytes`` for each vertex.

    This depends on the graph, the type of the values, the machine and ``DROMOS_ARC_BLOCKS``, never on the number of
    threads, since the digits of sums depend on it.

    >>> import dromos as dr
    >>> ring = dr.generators.cycle(5)
    >>> is_worth_blocks(ring.offsets.astype(np.uint32), ring.targets.astype(np.uint32), 8)
    False
    """
    n, arcs = len(offsets) - 1, len(sources)
    if sources.dtype != np.uint32 or not may_be_worth_blocks(n, arcs, n * value_bytes):
        return False
    dense = _any_graph or arcs >= LEAST_ARCS * -(-n // MOST_ROWS) * tiles_of_sources(n)
    return dense and 4 * arcs <= _memory() // _SHARE


@contextmanager
def blocks_on_any_graph() -> Iterator[None]:
    """Use blocks on small graphs too inside this context, to have their kernels on disk.

    >>> with blocks_on_any_graph():
    ...     may_be_worth_blocks(10, 20, 80)
    True
    """
    global _any_graph
    before, _any_graph = _any_graph, True
    try:
        yield
    finally:
        _any_graph = before


def may_be_worth_blocks(num_rows: int, num_arcs: int, table_bytes: int) -> bool:
    """As :func:`is_worth_blocks`, by what does not depend on the blocks; ``table_bytes`` is the size of the values.

    >>> may_be_worth_blocks(1 << 20, 1 << 24, 8 << 20), may_be_worth_blocks(1 << 20, 1 << 20, 8 << 20)
    (True, False)
    """
    allowed = os.environ.get(BLOCKS_VARIABLE) or "1"
    if allowed not in ("0", "1"):
        raise InvalidArgumentError(f"{BLOCKS_VARIABLE}={allowed!r} is neither 0 nor 1")
    large = _any_graph or (table_bytes >= LEAST_VALUES and num_arcs >= LEAST_DEGREE * num_rows)
    return allowed == "1" and large and num_arcs < 1 << 32


def arc_blocks(graph: Any, out_offsets: Array, offsets: Array, sources: Array, threads: int) -> ArcBlocks:
    """The in-arcs of ``graph`` in blocks for ``threads``, kept while it lives, for one number of threads at a time.

    >>> import dromos as dr
    >>> ring = dr.generators.cycle(5)
    >>> offsets = ring.offsets.astype(np.uint32)
    >>> blocks = arc_blocks(ring, offsets, offsets, ring.targets.astype(np.uint32), 1)
    >>> blocks.firsts.tolist(), blocks.words.tolist()[:3]
    ([0, 5], [1, 4, 32768])
    """
    known = _kept.of(graph)
    found: ArcBlocks | None = known.get("blocks")
    if found is None or found.threads != threads:
        found = known["blocks"] = _made(out_offsets, offsets, sources, threads)
    return found


def _made(out_offsets: Array, offsets: Array, sources: Array, threads: int) -> ArcBlocks:
    longest = max(HUB_LENGTH, len(sources) // LONGEST_ROW)
    hubs = Hubs(offsets, longest)
    order = better_order(out_offsets, offsets, sources, threads)
    firsts = _first_rows(_without(offsets, hubs), threads, numbered=order is not BY_ID)
    return sort_arcs(
        offsets, sources, len(offsets) - 1, firsts, hubs, threads,
        longest=longest, order=order, numbered=order is not BY_ID, together=_TOGETHER * threads,
    )  # fmt: skip


def sort_arcs(
    offsets: Array,
    sources: Array,
    num_sources: int,
    firsts: Array,
    hubs: Hubs,
    threads: int,
    *,
    longest: int,
    order: SourceOrder = BY_ID,
    numbered: bool = False,
    in_place: bool = False,
    together: int | None = None,
    after: Callable[[int], None] | None = None,
    new: Callable[[int, Any], Array] = huge_zeros,
) -> ArcBlocks:
    """Sort the arcs of rows into the blocks that begin at ``firsts``, without rows of more than ``longest`` arcs.

    ``numbered``: rows of a block are numbered by how many arcs they have. ``in_place``: ``sources`` may be overwritten;
    otherwise :data:`SORTING_BYTES` are taken meanwhile for each arc of the blocks that are sorted at a time. These are
    ``together`` blocks, by default all. ``after(row)`` is called when all rows before ``row`` are sorted: their arcs
    are not read again, and may be released. ``new(count, dtype)`` allocates the arrays that grow with the arcs.
    """
    tiles, blocks = tiles_of_sources(order.count or num_sources), len(firsts) - 1
    number = rows_by_arcs if numbered else rows_by_id
    numbers = number(offsets, firsts, longest, threads, new)
    together = together or max(blocks, 1)
    sorter = _Sorter(
        offsets, sources, firsts, longest, numbers.places, order, tiles, threads, together, in_place=in_place
    )
    columns = _Columns(blocks * tiles, len(sources) if together < blocks else None, new)
    for first in range(0, blocks, together):
        last = min(first + together, blocks)
        sorter.sort(first, last, columns)
        if after is not None:
            after(int(firsts[last]))
    return ArcBlocks(threads, longest, hubs, firsts, numbers.counts, numbers.places, order, tiles, *columns.arrays())


class _Columns:
    """The words and segments of all tiles, as they are appended.

    If they come in several parts, their total size is not known before the last one. So ``most`` arcs can be held, and
    memory that is not written is never allocated by the system.
    """

    def __init__(self, bins: int, most: int | None, new: Callable[[int, Any], Array]) -> None:
        self.starts = [np.zeros(bins + 1, np.int64) for _ in range(3)]
        self._new, self._used = new, [0, 0, 0]
        self._columns: list[Array] = []
        if most is not None:
            self._allocate(most, most, most // SEGMENT)

    def _allocate(self, words: int, in_segments: int, segments: int) -> None:
        shapes = (words, np.uint32), (segments, np.uint32), (segments, np.uint32), (in_segments, np.uint16)
        self._columns = [self._new(*shape) for shape in shapes]

    def append(self, first: int, counts: list[Array]) -> tuple[list[Array], tuple[Array, ...]]:
        """Make room for tiles from ``first`` on; return where each of them begins, and the columns."""
        own = [np.cumsum(column) + used for column, used in zip(counts, self._used, strict=True)]
        self._used = [int(column[-1]) for column in own]
        for starts, column in zip(self.starts, own, strict=True):
            starts[first : first + len(column)] = column
        if not self._columns:
            self._allocate(*self._used)
        words, rows, ends, long_sources = self._columns
        return own, (words, long_sources, rows, ends)

    def arrays(self) -> tuple[Array, ...]:
        """The starts of tiles, words, the sources in segments, and the rows and ends of segments."""
        if not self._columns:
            self._allocate(*self._used)
        words, in_segments, segments = self._used
        rows, ends = (column[:segments] for column in self._columns[1:3])
        columns = self._columns[0][:words], self._columns[3][:in_segments], rows, ends
        return tuple(map(read_only, (*self.starts, *columns)))


class _Sorter:
    """Sorts the arcs of some blocks at a time."""

    def __init__(
        self, offsets: Array, sources: Array, firsts: Array, longest: int, numbers: Array, order: SourceOrder,
        tiles: int, threads: int, together: int, *, in_place: bool,
    ) -> None:  # fmt: skip
        self._offsets, self._sources, self._firsts, self._longest = read_only(offsets), sources, firsts, longest
        self._numbers, self._order, self._tiles, self._threads = read_only(numbers), order, tiles, threads
        begins = offsets[firsts[:-1:together]].astype(np.int64)
        most = int(np.diff(begins, append=int(offsets[firsts[-1]])).max(initial=0))
        self._grouped = None if in_place else huge_zeros(most, np.uint32)
        self._piece = _piece(tiles)
        self._rows = np.empty((threads, min(self._piece, most)), np.uint32)
        self._counts, self._nexts = np.zeros((threads, tiles), np.int32), np.empty((threads, tiles), np.int64)

    def sort(self, first: int, last: int, columns: _Columns) -> None:
        """Append the words and segments of the blocks ``first..last`` to ``columns``."""
        from dromos.engines.cpu import arc_block_kernels as kernels

        low, high = (int(self._offsets[row]) for row in (self._firsts[first], self._firsts[last]))
        placed, tiles = self._sources[low:high], self._tiles
        grouped = placed if self._grouped is None else self._grouped[: high - low]
        if self._order is not BY_ID:
            self._run(kernels.look_up_places, read_only(placed), self._order.places, grouped)
            placed = grouped
        firsts = read_only(self._firsts[first : last + 1])
        how = tiles, np.uint32(_SPAN), SEGMENT, self._piece
        counts = [np.zeros((last - first) * tiles + 1, np.int64) for _ in range(3)]
        self._run(
            kernels.group_arcs, self._offsets, np.int64(low), read_only(placed), self._longest, firsts, *how,
            self._rows, self._counts, self._nexts, grouped, *counts,
        )  # fmt: skip
        own, into = columns.append(first * tiles, counts)
        self._run(
            kernels.fill_tiles, self._offsets, np.int64(low), read_only(grouped), self._longest, firsts, self._numbers,
            *how, *own, *into,
        )  # fmt: skip

    def _run(self, kernel: Any, *args: Any) -> None:
        run_team(kernel, *args, np.zeros(1, np.int64), threads=self._threads)


def _piece(tiles: int) -> int:
    return max(_PIECE, _PER_TILE * tiles)


def grouping_bytes(num_sources: int, threads: int) -> int:
    """The most memory that the threads take to group arcs by tile, beside :data:`SORTING_BYTES` per arc.

    >>> grouping_bytes(1 << 22, 2)
    134144
    """
    tiles = tiles_of_sources(num_sources)
    return threads * (4 * _piece(tiles) + 12 * tiles)


def _without(offsets: Array, hubs: Hubs) -> Array:
    """The offsets of the rows if the rows of hubs were empty."""
    if not hubs.vertices.size:
        return offsets
    lengths = np.diff(offsets)
    lengths[hubs.vertices] = 0
    return np.concatenate([offsets[:1], np.cumsum(lengths, dtype=offsets.dtype)])


def _first_rows(offsets: Array, threads: int, *, numbered: bool = False) -> Array:
    """Rows in blocks of about equal numbers of arcs, several per thread; vertices that fold together share a block.

    ``numbered``: only rows with arcs are numbered, and the limit on a block's rows counts only these.
    """
    n, arcs = len(offsets) - 1, int(offsets[-1])
    most = arcs // (threads * _PER_THREAD) + 1
    found = [0]
    with_arcs = np.add.accumulate(offsets[1:] > offsets[:-1], dtype=np.uint32) if numbered else None
    while found[-1] < n:
        first, limit = found[-1], found[-1] + MOST_ROWS
        if with_arcs is not None:
            before = int(with_arcs[first - 1]) if first else 0
            limit = int(np.searchsorted(with_arcs, np.uint32(before + MOST_ROWS), side="right"))
            limit = limit // _FOLD * _FOLD if limit < n else n
        end = int(np.searchsorted(offsets, offsets.dtype.type(min(int(offsets[first]) + most, arcs)), side="right")) - 1
        end = max(end // _FOLD * _FOLD, first + _FOLD)
        found.append(min(end if end < n - _FOLD else n, limit, n))
    return read_only(np.array(found, np.int64))


def _memory() -> int:
    """The machine's memory in bytes."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 1 << 33
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
