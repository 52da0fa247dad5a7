"""The pull of ``slices`` along rows that were sorted into blocks and tiles (``arc_blocks``).

For programs in which all vertices are always active, want messages and are updated, and a message depends on its source
alone: no vertices are listed, and ``settle_part`` of ``slices`` takes the messages from ``A``.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.block_tiles import NOWHERE, SPAN, clear_merged, gather_tile, place_of_row
from dromos.engines.cpu.skeletons.common import FIRST, STOP, take_work
from dromos.engines.cpu.skeletons.hooks import compute_at, identity, load_message, merge, store_message, weight_one
from dromos.intrinsics import load, load_relaxed
from dromos.jit import LINE, kernel

# ---- everything above is replaced by a program's own hooks


@kernel
def make_offers_in_order(thread, threads, places, S, E, K, offers):
    """Compute the messages of all vertices, each at the place of its source in the tiles."""
    for u in range(places.size * thread // threads, places.size * (thread + 1) // threads):
        place = load(places, u)
        if place != np.uint32(NOWHERE):
            store_message(offers, np.int64(place), compute_at(S, E, K, u, u, np.int64(0), weight_one()))


@kernel
def pull_sorted(thread, threads, start, blocks, rows, offers, A, merged, counters):
    """Merge the messages to the rows of ``blocks``, the first of which is that of ``start``, into ``A``.

    A thread takes a block, and merges tile by tile in its own ``rows`` places of ``merged``.
    """
    firsts, tiles = blocks[0], blocks[3]
    own = thread * rows
    for row in range(rows):
        store_message(merged, own + row, identity())
    while load_relaxed(counters, STOP * LINE) == 0:
        block = take_work(counters, FIRST, 1)
        if block >= firsts.size - 1:
            break
        for tile in range(tiles):
            gather_tile(blocks, offers, merged, own, block * tiles + tile, tile << SPAN)
        first, last = load(firsts, block), load(firsts, block + 1)
        for row in range(first, last):
            v, at = start + row, own + place_of_row(blocks, row, first)
            store_message(A, v, merge(load_message(A, v), load_message(merged, at)))
        clear_merged(blocks, merged, own, block)
