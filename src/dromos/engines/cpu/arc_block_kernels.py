"""Kernels that sort the arcs of in-rows into blocks and tiles; see ``arc_blocks``.

First each arc becomes a word and is written to the *bin* of its block and tile; a bin belongs to one thread. The arcs
of a row are next to each other there, so one look ahead tells whether they are many.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, prefetch, store
from dromos.jit import inline, kernel

ARCS = 1 << 16  # that a thread takes at a time
BINS = 16  # likewise
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


@kernel
def count_arcs(thread, threads, offsets, shift, sources, longest, firsts, tiles, span, counts, cursor):
    """Count the arcs of each bin, at its index plus one. Rows with more than ``longest`` arcs are left out.

    The arcs of a row begin ``shift`` before its offset.
    """
    while True:
        block = atomic_add(cursor, 0, 1)
        if block >= firsts.size - 1:
            break
        base = block * tiles + 1
        for row in range(load(firsts, block), load(firsts, block + 1)):
            begin, end = np.int64(load(offsets, row)) - shift, np.int64(load(offsets, row + 1)) - shift
            if end - begin <= longest:
                for arc in range(begin, end):
                    at = base + np.int64(load(sources, arc) >> span)
                    store(counts, at, load(counts, at) + 1)


@kernel
def fill_bins(
    thread, threads, offsets, shift, sources, longest, firsts, numbers, tiles, span, places, binned, cursor
):  # fmt: skip
    """Write the word of each arc to its bin; ``places`` are where bins begin, and are advanced.

    ``numbers`` are those of the rows in their blocks; empty: by id.
    """
    within = (np.uint32(1) << span) - np.uint32(1)
    while True:
        block = atomic_add(cursor, 0, 1)
        if block >= firsts.size - 1:
            break
        base, first = block * tiles, load(firsts, block)
        for row in range(first, load(firsts, block + 1)):
            begin, end = np.int64(load(offsets, row)) - shift, np.int64(load(offsets, row + 1)) - shift
            if end - begin <= longest:
                number = (load(numbers, row) if numbers.size else np.uint32(row - first)) << span
                for arc in range(begin, end):
                    source = load(sources, arc)
                    at = base + np.int64(source >> span)
                    place = load(places, at)
                    store(places, at, place + 1)
                    store(binned, place, number | source & within)


@inline
def _segment_end(binned, begin, end, span, long):
    """Where the words of the row of the first one end; ``begin`` if there are fewer than ``long``."""
    row = load(binned, begin) >> span
    if begin + long > end or load(binned, begin + long - 1) >> span != row:
        return begin
    last = begin + long
    while last < end and load(binned, last) >> span == row:
        last += 1
    return last


@kernel
def count_segments(thread, threads, binned, starts, span, long, words, long_arcs, segments, cursor):
    """Count the words, the arcs in segments and the segments of each bin, at its index plus one."""
    while True:
        position = atomic_add(cursor, 0, BINS)
        if position >= starts.size - 1:
            break
        for index in range(position, min(position + BINS, starts.size - 1)):
            arc, end = load(starts, index), load(starts, index + 1)
            inside = found = np.int64(0)
            count = end - arc
            while arc < end:
                last = _segment_end(binned, arc, end, span, long)
                if last == arc:
                    arc += 1
                else:
                    inside += last - arc
                    found += 1
                    arc = last
            store(words, index + 1, count - inside)
            store(long_arcs, index + 1, inside)
            store(segments, index + 1, found)


@kernel
def split_bins(
    thread, threads, binned, starts, span, long, word_starts, long_starts, segment_starts, words, long_sources,
    segment_rows, segment_ends, cursor,
):  # fmt: skip
    """Write the words and the segments of each bin to where those of its tile begin."""
    within = (np.uint32(1) << span) - np.uint32(1)
    while True:
        position = atomic_add(cursor, 0, BINS)
        if position >= starts.size - 1:
            break
        for index in range(position, min(position + BINS, starts.size - 1)):
            arc, end = load(starts, index), load(starts, index + 1)
            word, place, segment = load(word_starts, index), load(long_starts, index), load(segment_starts, index)
            while arc < end:
                last = _segment_end(binned, arc, end, span, long)
                if last == arc:
                    store(words, word, load(binned, arc))
                    word += 1
                    arc += 1
                else:
                    store(segment_rows, segment, load(binned, arc) >> span)
                    while arc < last:
                        store(long_sources, place, np.uint16(load(binned, arc) & within))
                        place += 1
                        arc += 1
                    store(segment_ends, segment, np.uint32(place))
                    segment += 1
