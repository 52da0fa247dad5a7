"""In-arcs sorted by blocks of rows and tiles of sources, so that a gather stays within a core's own cache.

A pull reads a value of each arc's source. Where these values take more than the cache that a core has for itself,
nearly every one of them comes from the cache that all share, or from memory, and a core waits for a dozen at a time at
most. Here a thread takes a block of rows and goes through its arcs tile by tile: those of one tile have their sources
in a range of ``1 << SPAN``, whose values stay in the cache meanwhile. Arcs of a row with few others in the tile are one
word each, the row's number in the block above that of the source in the tile. Rows with many arcs in a tile have a
segment: 16 bits per arc, added up in a register. Rows that are too long for one thread are left out; their vertices are
the *hubs* here, and are gathered piece by piece along the rows of the graph.

The order in which a row's messages are merged depends on the graph alone: not on the blocks, which are made for a
number of threads.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.cpu.memory import huge_zeros
from dromos.engines.cpu.skeletons import constants
from dromos.engines.cpu.topology import HUB_LENGTH, Hubs
from dromos.errors import InvalidArgumentError
from dromos.identity_cache import IdentityCache
from dromos.parallel import run_team

__all__ = ["BLOCKS_VARIABLE", "ArcBlocks", "arc_blocks", "is_worth_blocks"]

BLOCKS_VARIABLE = "DROMOS_ARC_BLOCKS"
"""0: no arcs are sorted into blocks, which saves their memory; 1, the default: where it is worth it."""

_SPAN, _FOLD = *constants("offering_blocks", "SPAN"), *constants("common", "FOLD")
_ROWS: Final = 1 << (32 - _SPAN)  # a word holds a row's number in its block and a source's in its tile
_LONG: Final = 16  # arcs of a row in a tile that make a segment
_PER_THREAD: Final = 4  # blocks, at least
LEAST_VALUES = 4 << 20
"""Bytes of what is gathered; less than that a core's own cache holds, or the greater part of it."""
LEAST_ARCS = 1 << 12
"""Arcs of a tile, on average: with fewer, fetching the values of its sources takes longer than gathering them."""
LEAST_DEGREE = 8
"""Arcs of a row, on average: sorted or not, short rows cost as much for their vertices as for their arcs."""
LONGEST_ROW = 256
"""A row with more than one in so many of all arcs is cut into pieces: a row of a block belongs to one thread."""
_SHARE: Final = 16  # of the machine's memory, arcs in blocks take no more than this part
_kept = IdentityCache()


@dataclass(frozen=True, eq=False)
class ArcBlocks:
    """The in-arcs of a graph; tile ``t`` of block ``b`` has the number ``b * tiles + t``."""

    threads: int
    longest: int
    """Arcs of a row; those with more are the hubs'."""
    hubs: Hubs
    firsts: Array
    """The first row of each block, and the end of the last."""
    tiles: int
    word_starts: Array
    """Where the words of each tile begin, and where the last ones end; likewise the next two."""
    long_starts: Array
    segment_starts: Array
    words: Array
    long_sources: Array
    segment_rows: Array
    segment_ends: Array

    @property
    def rows(self) -> int:
        """Of the largest block."""
        return int(np.diff(self.firsts).max(initial=0))

    def arrays(self) -> tuple[Any, ...]:
        """What a kernel takes."""
        return (
            self.firsts, np.int64(self.tiles), self.word_starts, self.long_starts, self.segment_starts, self.words,
            self.long_sources, self.segment_rows, self.segment_ends,
        )  # fmt: skip


def is_worth_blocks(offsets: Array, sources: Array, value_bytes: int) -> bool:
    """Whether a graph with these in-rows is to be gathered in blocks, if there are ``value_bytes`` for each vertex.

    By the graph, the type of the values, the machine and ``DROMOS_ARC_BLOCKS``, never by the number of threads: the
    digits of sums depend on it.

    >>> import dromos as dr
    >>> ring = dr.generators.cycle(5)
    >>> is_worth_blocks(ring.offsets.astype(np.uint32), ring.targets.astype(np.uint32), 8)
    False
    """
    allowed = os.environ.get(BLOCKS_VARIABLE) or "1"
    if allowed not in ("0", "1"):
        raise InvalidArgumentError(f"{BLOCKS_VARIABLE}={allowed!r} is neither 0 nor 1")
    n, arcs = len(offsets) - 1, len(sources)
    if (
        allowed == "0"
        or n * value_bytes < LEAST_VALUES
        or arcs < LEAST_DEGREE * n
        or sources.dtype != np.uint32
        or arcs >= 1 << 32
    ):
        return False
    tiles = -(-n // _ROWS) * -(-n >> _SPAN)
    return arcs >= LEAST_ARCS * tiles and 4 * arcs <= _memory() // _SHARE


def arc_blocks(graph: Any, offsets: Array, sources: Array, threads: int) -> ArcBlocks:
    """The in-arcs of ``graph`` in blocks for so many threads, kept as long as it lives; for one number of threads.

    >>> import dromos as dr
    >>> ring = dr.generators.cycle(5)
    >>> blocks = arc_blocks(ring, ring.offsets.astype(np.uint32), ring.targets.astype(np.uint32), 1)
    >>> blocks.firsts.tolist(), blocks.words.tolist()[:3]
    ([0, 5], [1, 4, 32768])
    """
    known = _kept.of(graph)
    found: ArcBlocks | None = known.get("blocks")
    if found is None or found.threads != threads:
        found = known["blocks"] = _made(offsets, sources, threads)
    return found


def _made(offsets: Array, sources: Array, threads: int) -> ArcBlocks:
    from dromos.engines.cpu import arc_block_kernels as kernels

    tiles = max(1, -(-(len(offsets) - 1) >> _SPAN))
    longest = max(HUB_LENGTH, len(sources) // LONGEST_ROW)
    hubs = Hubs(offsets, longest)
    firsts = _first_rows(_without(offsets, hubs), threads)
    size, cursor = (len(firsts) - 1) * tiles + 1, np.zeros(1, np.int64)
    counts = [np.zeros(size, np.int64) for _ in range(3)]
    given = (read_only(offsets), read_only(sources), longest, firsts, tiles, np.uint32(_SPAN), _LONG)
    run_team(kernels.count_arcs, *given, *counts, cursor, threads=threads)
    starts = [np.cumsum(column) for column in counts]
    in_words, in_segments, segments = (int(column[-1]) for column in starts)
    words, long_sources = huge_zeros(in_words, np.uint32), huge_zeros(in_segments, np.uint16)
    rows, ends = huge_zeros(segments, np.uint32), huge_zeros(segments, np.uint32)
    cursor[0] = 0
    places = [column.copy() for column in starts]
    run_team(kernels.fill_arcs, *given, *places, words, long_sources, rows, ends, cursor, threads=threads)
    columns = map(read_only, (*starts, words, long_sources, rows, ends))
    return ArcBlocks(threads, longest, hubs, firsts, tiles, *columns)


def _without(offsets: Array, hubs: Hubs) -> Array:
    """The offsets of the rows if those of hubs were empty."""
    if not hubs.vertices.size:
        return offsets
    lengths = np.diff(offsets)
    lengths[hubs.vertices] = 0
    return np.concatenate([offsets[:1], np.cumsum(lengths, dtype=offsets.dtype)])


def _first_rows(offsets: Array, threads: int) -> Array:
    """Rows in blocks of about as many arcs, several for each thread; the reductions of whole folds are in one block."""
    n, arcs = len(offsets) - 1, int(offsets[-1])
    most = arcs // (threads * _PER_THREAD) + 1
    found = [0]
    while found[-1] < n:
        first = found[-1]
        end = int(np.searchsorted(offsets, offsets.dtype.type(min(int(offsets[first]) + most, arcs)), side="right")) - 1
        end = max(end // _FOLD * _FOLD, first + _FOLD)
        found.append(min(end if end < n - _FOLD else n, first + _ROWS, n))
    return read_only(np.array(found, np.int64))


def _memory() -> int:
    """Bytes that the machine has."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return 1 << 33
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
