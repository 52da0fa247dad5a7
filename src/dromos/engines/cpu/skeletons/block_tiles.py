"""Messages along arcs that are sorted by blocks of rows and tiles of sources (``arc_blocks``)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.hooks import identity, load_message, merge, store_message
from dromos.engines.cpu.skeletons.offers import gather_offers
from dromos.intrinsics import load
from dromos.jit import inline

# ---- everything above is replaced by a program's own hooks

SPAN = 15  # bits of a source's number in its tile
NOWHERE = 4294967295  # the place of a source without arcs


@inline
def put_in_order(places, M, T, thread, threads):
    """Write a thread's share of the messages to the places of their sources."""
    for u in range(places.size * thread // threads, places.size * (thread + 1) // threads):
        place = load(places, u)
        if place != np.uint32(NOWHERE):
            store_message(T, np.int64(place), load_message(M, u))


@inline
def place_of_row(blocks, row, first):
    """Where the messages of a row are merged, in a block that begins with row ``first``."""
    row_places = blocks[2]
    return np.int64(load(row_places, row)) if row_places.size else np.int64(row - first)


@inline
def clear_merged(blocks, merged, own, block):
    """Reset the accumulators of a block's rows for the next block."""
    for at in range(own, own + load(blocks[1], block)):
        store_message(merged, at, identity())


@inline
def gather_tile(blocks, M, merged, own, tile, base):
    """Merge the messages along the arcs of a tile, whose sources begin at ``base``, into those of a block's rows."""
    (
        firsts, row_counts, row_places, tiles, word_starts, long_starts, segment_starts, words, long_sources,
        segment_rows, segment_ends,
    ) = blocks  # fmt: skip
    begin = load(long_starts, tile)
    for segment in range(load(segment_starts, tile), load(segment_starts, tile + 1)):
        end = np.int64(load(segment_ends, segment))
        row = own + np.int64(load(segment_rows, segment))
        store_message(
            merged, row, merge(load_message(merged, row), gather_offers(M, long_sources, base, begin, end, False))
        )
        begin = end
    for arc in range(load(word_starts, tile), load(word_starts, tile + 1)):
        word = load(words, arc)
        row = own + np.int64(word >> np.uint32(SPAN))
        message = load_message(M, base + np.int64(word & np.uint32((1 << SPAN) - 1)))
        store_message(merged, row, merge(load_message(merged, row), message))
