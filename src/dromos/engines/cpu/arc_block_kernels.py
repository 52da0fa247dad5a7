"""Kernels that sort the arcs of in-rows into blocks and tiles; see ``arc_blocks``.

The places of sources are looked up first, in a pass whose stores do not depend on what was looked up: some processors
let no load pass a store whose address is not known yet. The next pass brings the arcs of a row that lie in the same
tile next to each other, and counts what each tile gets; then every arc can be written to where it belongs. A block
belongs to one thread in each.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, prefetch, store
from dromos.jit import inline, kernel

ARCS = 1 << 16  # that a thread takes at a time
AHEAD = 64  # arcs between the prefetch of a place and its use: more than a processor looks ahead by itself


@kernel
def look_up_places(thread, threads, sources, places, placed, cursor):
    """Write the place of each arc's source; ``placed`` may be the same memory as ``sources``."""
    arcs = sources.size
    while True:
        first = atomic_add(cursor, 0, ARCS)
        if first >= arcs:
            break
        last = min(first + ARCS, arcs)
        for arc in range(first, last):
            prefetch(places, np.int64(load(sources, min(arc + AHEAD, last - 1))))
            store(placed, arc, load(places, load(sources, arc)))


@inline
def _count(words, long_arcs, segments, at, count, long):
    """Count the arcs of a row in a tile."""
    if count >= long:
        store(long_arcs, at, load(long_arcs, at) + count)
        store(segments, at, load(segments, at) + 1)
    else:
        store(words, at, load(words, at) + count)


@inline
def _group(placed, first, last, grouped, row, counts, nexts, span, long, base, words, long_arcs, segments):
    """Write the places of the arcs ``first..last`` of a row, grouped by tile, and count them.

    ``row`` has room for them, ``counts`` and ``nexts`` have an entry per tile; the counts are 0 before and after.
    """
    for i in range(last - first):
        place = load(placed, first + i)
        store(row, i, place)
        tile = np.int64(place >> span)
        store(counts, tile, load(counts, tile) + 1)
    free = first
    if last - first >= counts.size:
        for tile in range(counts.size):
            count = np.int64(load(counts, tile))
            store(counts, tile, 0)
            store(nexts, tile, free)
            free += count
            _count(words, long_arcs, segments, base + tile, count, long)
    else:
        for i in range(last - first):
            tile = np.int64(load(row, i) >> span)
            count = np.int64(load(counts, tile))
            if count > 0:
                store(counts, tile, 0)
                store(nexts, tile, free)
                free += count
                _count(words, long_arcs, segments, base + tile, count, long)
    for i in range(last - first):
        place = load(row, i)
        tile = np.int64(place >> span)
        at = load(nexts, tile)
        store(nexts, tile, at + 1)
        store(grouped, at, place)


@kernel
def group_arcs(
    thread, threads, offsets, shift, placed, longest, firsts, tiles, span, long, piece, rows, counts, nexts, grouped,
    words, long_arcs, segments, cursor,
):  # fmt: skip
    """Write the places of the arcs of each row, grouped by tile; count the words and segments of each tile.

    The arcs of a row begin ``shift`` before its offset; rows with more than ``longest`` arcs are left out. Rows are
    grouped in pieces of ``piece`` arcs. Those of a piece in the same tile are a segment if they are ``long`` or more;
    the others become words. What is counted for tile ``t`` of block ``b`` is at ``b * tiles + t + 1``. ``grouped`` may
    be the same memory as ``placed``; ``rows``, ``counts`` and ``nexts`` have memory for each thread.
    """
    row_memory, own_counts, own_nexts = rows[thread], counts[thread], nexts[thread]
    while True:
        block = atomic_add(cursor, 0, 1)
        if block >= firsts.size - 1:
            break
        base = block * tiles + 1
        for row in range(load(firsts, block), load(firsts, block + 1)):
            begin, end = np.int64(load(offsets, row)) - shift, np.int64(load(offsets, row + 1)) - shift
            if end - begin <= longest:
                for first in range(begin, end, piece):
                    last = min(first + piece, end)
                    if last - first < long:
                        for arc in range(first, last):
                            place = load(placed, arc)
                            at = base + np.int64(place >> span)
                            store(words, at, load(words, at) + 1)
                            store(grouped, arc, place)
                    else:
                        _group(
                            placed, first, last, grouped, row_memory, own_counts, own_nexts, span, long, base, words,
                            long_arcs, segments,
                        )  # fmt: skip


@kernel
def fill_tiles(
    thread, threads, offsets, shift, grouped, longest, firsts, numbers, tiles, span, long, piece, word_places,
    long_places, segment_places, words, long_sources, segment_rows, segment_ends, cursor,
):  # fmt: skip
    """Write the words and segments of each tile; ``…_places`` are where those of a tile begin, and are advanced.

    ``numbers`` are those of the rows in their blocks; empty: by id. Other arguments as for :func:`group_arcs`.
    """
    within = (np.uint32(1) << span) - np.uint32(1)
    while True:
        block = atomic_add(cursor, 0, 1)
        if block >= firsts.size - 1:
            break
        base, start = block * tiles, load(firsts, block)
        for row in range(start, load(firsts, block + 1)):
            begin, end = np.int64(load(offsets, row)) - shift, np.int64(load(offsets, row + 1)) - shift
            if end - begin <= longest:
                number = load(numbers, row) if numbers.size else np.uint32(row - start)
                for first in range(begin, end, piece):
                    last, arc = min(first + piece, end), first
                    while arc < last:
                        place = load(grouped, arc)
                        tile = place >> span
                        at = base + np.int64(tile)
                        if arc + long <= last and load(grouped, arc + long - 1) >> span == tile:
                            to = load(long_places, at)
                            while arc < last and load(grouped, arc) >> span == tile:
                                store(long_sources, to, np.uint16(load(grouped, arc) & within))
                                to += 1
                                arc += 1
                            store(long_places, at, to)
                            segment = load(segment_places, at)
                            store(segment_rows, segment, number)
                            store(segment_ends, segment, np.uint32(to))
                            store(segment_places, at, segment + 1)
                        else:
                            word = load(word_places, at)
                            store(words, word, number << span | place & within)
                            store(word_places, at, word + 1)
                            arc += 1
