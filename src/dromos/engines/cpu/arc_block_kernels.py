"""Kernels that sort the arcs of in-rows into blocks and tiles; see ``arc_blocks``. A block belongs to one thread."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, store
from dromos.jit import inline, kernel


@inline
def _add(counts, index, number):
    store(counts, index, load(counts, index) + np.int64(number))


@inline
def _segment_end(sources, begin, end, span, long):
    """Where the arcs from ``begin`` on leave the tile of the first; ``begin`` if there are fewer than ``long``."""
    tile = load(sources, begin) >> span
    # rows are mostly sorted, so this check alone mostly decides, without a loop
    if begin + long > end or load(sources, begin + long - 1) >> span != tile:
        return begin
    last = begin + 1
    while last < end and load(sources, last) >> span == tile:
        last += 1
    return last if last - begin >= long else begin


@inline
def _row_of(listed, first, number):
    """The row with a number in the block that begins at ``first``; ``listed`` is empty if rows are numbered by id."""
    return first + (np.int64(load(listed, first + number)) if listed.size else np.int64(number))


@kernel
def count_arcs(
    thread, threads, offsets, sources, longest, firsts, counts, listed, tiles, span, long, words, long_arcs, segments,
    cursor,
):  # fmt: skip
    """Count the arcs in short segments, those in long ones and the long segments of each tile, at its index plus one.

    ``counts`` rows of each block are numbered. Rows with more than ``longest`` arcs are left out.
    """
    while True:
        block = atomic_add(cursor, 0, 1)
        if block >= firsts.size - 1:
            break
        base = block * tiles + 1
        first = load(firsts, block)
        for number in range(load(counts, block)):
            row = _row_of(listed, first, number)
            arc, end = np.int64(load(offsets, row)), np.int64(load(offsets, row + 1))
            if end - arc > longest:
                continue
            while arc < end:
                last = _segment_end(sources, arc, end, span, long)
                tile = base + np.int64(load(sources, arc) >> span)
                if last == arc:
                    _add(words, tile, 1)
                    arc += 1
                else:
                    _add(long_arcs, tile, last - arc)
                    _add(segments, tile, 1)
                    arc = last


@kernel
def fill_arcs(
    thread, threads, offsets, sources, longest, firsts, counts, listed, tiles, span, long, word_places, long_places,
    segment_places, words, long_sources, segment_rows, segment_ends, cursor,
):  # fmt: skip
    """Write the arcs of each tile; the places are where the sections of tiles begin, and are advanced."""
    within = (np.uint32(1) << span) - np.uint32(1)
    while True:
        block = atomic_add(cursor, 0, 1)
        if block >= firsts.size - 1:
            break
        first = load(firsts, block)
        for index in range(load(counts, block)):
            row, number = _row_of(listed, first, index), np.uint32(index)
            arc, end = np.int64(load(offsets, row)), np.int64(load(offsets, row + 1))
            if end - arc > longest:
                continue
            while arc < end:
                last = _segment_end(sources, arc, end, span, long)
                tile = block * tiles + np.int64(load(sources, arc) >> span)
                if last == arc:
                    store(words, load(word_places, tile), number << span | load(sources, arc) & within)
                    _add(word_places, tile, 1)
                    arc += 1
                else:
                    place = load(long_places, tile)
                    _add(long_places, tile, last - arc)
                    while arc < last:
                        store(long_sources, place, np.uint16(load(sources, arc) & within))
                        place += 1
                        arc += 1
                    segment = load(segment_places, tile)
                    _add(segment_places, tile, 1)
                    store(segment_rows, segment, number)
                    store(segment_ends, segment, np.uint32(place))
