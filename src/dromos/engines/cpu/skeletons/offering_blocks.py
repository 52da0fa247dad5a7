"""The pull of ``offering`` along arcs that are sorted by blocks of rows and tiles of sources (``arc_blocks``).

For programs in which all vertices are always active and offers are made early. A thread takes a block, merges the
messages of its rows tile by tile in its own section of ``merged``, and updates the rows. Hubs, whose rows are so long
that the other threads would wait for one, are in no block: they are gathered in pieces, as in ``offering``.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.block_tiles import SPAN, clear_merged, gather_tile, place_of_row, put_in_order
from dromos.engines.cpu.skeletons.common import (
    FIRST,
    FOLD,
    HUBS,
    MESSAGES,
    OVERFLOWS,
    SECOND,
    STOP,
    THIRD,
    first_arc,
    take_work,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import (
    HAS_REDUCTIONS,
    WANTS_ALWAYS,
    converged_at,
    identity,
    in_superstep,
    load_message,
    reduce_fold_from,
    reduce_start,
    reduce_store,
    store_message,
    wants_at,
    with_reductions,
)  # fmt: skip
from dromos.engines.cpu.skeletons.offering import (
    SHARES,
    STEPS,
    fold_all,
    fold_shares,
    gather_pieces,
    make_offers,
    settle,
    settle_hub,
)
from dromos.intrinsics import load, load_relaxed, nanoseconds, store_relaxed
from dromos.jit import LINE, barrier, kernel, publish, published

# ---- everything above is replaced by a program's own hooks


@kernel
def pull_blocks(
    thread, threads, in_graph, blocks, rows, longest, S, E, K, M, N, places, T, fresh, merged, parts, hubs, pieces,
    member, stamp, counters, memory, report, sums, horizon, times,
):  # fmt: skip
    """Run up to ``horizon`` supersteps; ``rows`` is the size of a thread's section of ``merged``.

    ``places`` are the places of the sources in the tiles, and ``T`` holds their messages; empty: by id. ``hubs`` are
    the vertices with more than ``longest`` arcs. ``fresh``, ``parts``, ``pieces``, ``sums``, ``times`` and the report
    are those of ``offering.pull``.
    """
    firsts, tiles = blocks[0], blocks[3]
    in_offsets, sources, in_weights = in_graph
    n = in_offsets.size - 1
    folds = (n + FOLD - 1) // FOLD
    shares = folds + hubs.size
    own = thread * rows
    all_fit = True
    number = steps = messages = np.int64(0)
    for row in range(rows):
        store_message(merged, own + row, identity())
    if thread == 0:
        times[0] = nanoseconds()
    if fresh:
        make_offers(S, E, K, M, member, stamp, n, thread, threads)
        number += 1
        barrier(memory, thread, threads, number)
    while True:
        # two pairs of cursors in turn, as in ``offering``
        cursor, long_rows = (FIRST, HUBS) if steps & 1 == 0 else (SECOND, THIRD)
        if thread == 0:
            store_relaxed(counters, (SECOND if steps & 1 == 0 else FIRST) * LINE, np.int64(0))
            store_relaxed(counters, (THIRD if steps & 1 == 0 else HUBS) * LINE, np.int64(0))
        if places.size:
            put_in_order(places, M, T, thread, threads)
            number += 1
            barrier(memory, thread, threads, number)
        gather_pieces(M, in_offsets, sources, parts, hubs, pieces, counters, long_rows, True)
        while True:
            block = take_work(counters, cursor, 1)
            if block >= firsts.size - 1:
                break
            first, last = load(firsts, block), load(firsts, block + 1)
            offers = T if places.size else M
            for tile in range(tiles):
                gather_tile(blocks, offers, merged, own, block * tiles + tile, tile << SPAN)
            for fold in range(first, last, FOLD):
                R = reduce_start()
                for v in range(fold, min(fold + FOLD, last)):
                    message, arcs = identity(), first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
                    if arcs > longest:
                        continue
                    if WANTS_ALWAYS or wants_at(S, K, v):
                        message = load_message(merged, own + place_of_row(blocks, v, first))
                        messages += arcs
                    fits, active, before = settle(S, E, K, N, False, member, stamp, v, message)
                    all_fit &= fits
                    R = reduce_fold_from(R, before, S, K, v)
                reduce_store(R, sums, fold // FOLD)
            clear_merged(blocks, merged, own, block)
        if hubs.size:
            number += 1
            barrier(memory, thread, threads, number)
            for hub in range(thread, hubs.size, threads):
                fits, active, gathered = settle_hub(
                    S, E, K, N, False, member, stamp, in_offsets, parts, hubs, pieces, hub, sums, folds + hub
                )  # fmt: skip
                all_fit &= fits
                messages += gathered
        steps += 1
        if HAS_REDUCTIONS:
            number += 1
            barrier(memory, thread, threads, number)
            fold_shares(sums, shares, thread, threads)
        number += 1
        publish(memory, thread, number, 0, load_relaxed(counters, STOP * LINE))
        barrier(memory, thread, threads, number)
        if HAS_REDUCTIONS:
            K = with_reductions(K, fold_all(sums, shares))
        if thread == 0:
            times[steps] = nanoseconds()
        if steps >= horizon or published(memory, 0, number, 0) != 0 or converged_at(K):
            break
        K = in_superstep(K, np.int64(K[0]) + 1)
        M, N = N, M
    if HAS_REDUCTIONS and thread == 0:
        reduce_store(fold_all(sums, shares), sums, shares + SHARES)
    report[thread * LINE + MESSAGES] = messages
    report[thread * LINE + OVERFLOWS] = 0 if all_fit else 1
    report[thread * LINE + STEPS] = steps
