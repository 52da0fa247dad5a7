"""A pull of messages that depend on their source alone: made once per vertex, gathered along the in-arcs.

A vertex outside the frontier offers the identity, so the gathering loop has no conditions. Since it reads only the
offers, a vertex is updated in place as soon as its row is done, with its old state in registers.

Shared memory. ``M`` are the offers of this superstep, only read; ``N`` those of the next, each written by the thread
that took the vertex. Long rows are gathered in pieces, whose messages are kept in ``parts`` and merged in the order of
the arcs: the result depends on the graph alone, not on the number of threads. The same holds for reductions: each
block of ``FOLD`` vertices has its place in ``sums``, followed by a place for each hub; they are folded share by share.

If all vertices are always active, several supersteps run in one call: ``M`` and ``N`` are swapped after a barrier, and
every thread folds the same reductions, so that all make the same decision whether to go on.

*In place*, ``N`` is ``M``: a new offer is seen by all gathers after it. That is for programs in which a field changes
monotonically by messages of one word. There an offer that was already used does no harm, so it may stay. A thread that
uses an older offer misses nothing: the offering vertex is active, so there is another pass after the end of this call,
in which all vertices gather again. Offers are read and written by relaxed atomics for that.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.common import (
    BLOCK,
    FIRST,
    FOLD,
    HUB,
    HUBS,
    IN_DEGREES,
    MESSAGES,
    OUT_DEGREES,
    OVERFLOWS,
    PIECE,
    QUEUE,
    SECOND,
    STOP,
    THIRD,
    append,
    first_arc,
    flush,
    take_work,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import (
    ALWAYS_ACTIVE,
    HAS_REDUCTIONS,
    HAS_SENT,
    OFFERS_EARLY,
    WANTS_ALWAYS,
    active_from,
    compute_at,
    converged_at,
    identity,
    in_superstep,
    load_message,
    merge,
    old_values,
    reduce_fold_from,
    reduce_fold_stored,
    reduce_start,
    reduce_store,
    sent_store,
    store_message,
    update_store,
    wants_at,
    weight_one,
    with_reductions,
)  # fmt: skip
from dromos.engines.cpu.skeletons.offers import gather_offers
from dromos.intrinsics import load, load_relaxed, nanoseconds, store_relaxed
from dromos.jit import LINE, barrier, inline, kernel, publish, published

# ---- everything above is replaced by a program's own hooks

STEPS = 4  # word of a thread's report: the supersteps done
SHARES = 64  # groups of places whose reductions are folded together: the same for any number of threads
# Vertices that a thread takes at a time: first many, towards the end few. Each turn is an atomic on a line that all
# threads write, some 70 ns with 16 of them, so turns should be few. A turn has more vertices if rows are short, for
# about as much work.
MANY, MANY_SHORT = 1024, 4096
SHORT = 8  # arcs of a row, on average
TURNS = 4  # turns of each thread, if the rest were dealt in pieces of the present size


@inline
def take_rows(counters, which, n, arcs, threads):
    """The next vertices that no thread has taken, ``first..last``; none are left if ``first`` is not below ``n``.

    ``n`` rows have ``arcs`` arcs.
    """
    many = np.int64(MANY_SHORT if arcs < SHORT * n else MANY)
    left = n - load_relaxed(counters, which * LINE)
    size = max(min(left // (TURNS * threads), many) // FOLD, np.int64(1)) * FOLD
    first = take_work(counters, which, size)
    return first, min(first + size, n)


@inline
def fold_shares(sums, places, thread, threads):
    """Fold the reductions of all places into those of ``SHARES`` shares, which are stored after the places."""
    for share in range(thread, SHARES, threads):
        R = reduce_start()
        for place in range(places * share // SHARES, places * (share + 1) // SHARES):
            R = reduce_fold_stored(R, sums, place)
        reduce_store(R, sums, places + share)


@inline
def fold_all(sums, places):
    """The reductions over all shares."""
    R = reduce_start()
    for share in range(SHARES):
        R = reduce_fold_stored(R, sums, places + share)
    return R


@inline
def settle(S, E, K, N, in_place, member, stamp, v, message):
    """Update ``v`` by its merged message; return whether every number fitted, if it is active, its state before."""
    before = old_values(S, v)
    fits = True
    if HAS_SENT and (ALWAYS_ACTIVE or load(member, v) == stamp):
        fits &= sent_store(S, S, K, v)
    fits &= update_store(S, S, K, v, message)
    active = ALWAYS_ACTIVE or active_from(before, S, K, v)
    if OFFERS_EARLY:
        if active:
            store_message(N, v, compute_at(S, E, K, v, v, np.int64(0), weight_one()))
        elif not in_place:
            store_message(N, v, identity())
    return fits, active, before


@inline
def make_offers(S, E, K, M, member, stamp, n, thread, threads):
    """Compute the offers of a thread's share of the vertices."""
    for u in range(n * thread // threads, n * (thread + 1) // threads):
        if ALWAYS_ACTIVE or load(member, u) == stamp:
            store_message(M, u, compute_at(S, E, K, u, u, np.int64(0), weight_one()))
        else:
            store_message(M, u, identity())


@inline
def gather_pieces(M, in_offsets, sources, parts, hubs, pieces, counters, which, far):
    """Gather pieces of the hubs' rows that no thread has taken, into ``parts``."""
    hub = np.int64(0)
    while hubs.size:
        piece = take_work(counters, which, 1)
        if piece >= load(pieces, hubs.size):
            break
        while piece >= load(pieces, hub + 1):
            hub += 1
        v = np.int64(load(hubs, hub))
        begin = first_arc(in_offsets, v) + (piece - load(pieces, hub)) * PIECE
        end = min(begin + PIECE, first_arc(in_offsets, v + 1))
        store_message(parts, piece, gather_offers(M, sources, np.int64(0), begin, end, far))


@inline
def settle_hub(S, E, K, N, in_place, member, stamp, in_offsets, parts, hubs, pieces, hub, sums, place):
    """Update a hub by the messages of its pieces; return whether every number fitted, if it is active, messages."""
    v = np.int64(load(hubs, hub))
    message, messages = identity(), np.int64(0)
    if WANTS_ALWAYS or wants_at(S, K, v):
        messages = first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
        for piece in range(load(pieces, hub), load(pieces, hub + 1)):
            message = merge(message, load_message(parts, piece))
    fits, active, before = settle(S, E, K, N, in_place, member, stamp, v, message)
    reduce_store(reduce_fold_from(reduce_start(), before, S, K, v), sums, place)
    return fits, active, messages


@kernel
def pull(
    thread, threads, graph, in_graph, S, E, K, M, N, far, in_place, fresh, parts, hubs, pieces, member, stamp,
    following, buffer, counters, memory, report, sums, horizon, times,
):  # fmt: skip
    """Run one superstep, or up to ``horizon`` if all vertices are always active and offers are made early.

    ``far``: ``M`` does not fit in a core's cache. ``fresh``: ``M`` is computed first; otherwise the previous superstep
    has left it in its ``N``. ``hubs`` are the vertices with long rows; the pieces of ``hubs[i]`` are numbered from
    ``pieces[i]`` on. ``sums`` has a place for each block and each hub, then ``SHARES``, and one for the reductions of
    the last superstep. ``times`` gets the clock at the beginning of each superstep, and at the end.
    """
    offsets, targets, weights, all_in_offsets = graph
    in_offsets, sources, in_weights = in_graph
    n = in_offsets.size - 1
    blocks = (n + FOLD - 1) // FOLD
    places = blocks + hubs.size
    base = thread * BLOCK
    following_stamp = np.uint8(stamp + np.uint8(1))
    all_fit = True
    queued = out = inn = messages = np.int64(0)
    number = steps = np.int64(0)
    if thread == 0:
        times[0] = nanoseconds()
    if fresh:
        make_offers(S, E, K, M, member, stamp, n, thread, threads)
        number += 1
        barrier(memory, thread, threads, number)
    while True:
        # two pairs of cursors in turn: all threads left the other pair at one barrier, and reach it after another
        rows, long_rows = (FIRST, HUBS) if steps & 1 == 0 else (SECOND, THIRD)
        if thread == 0:
            store_relaxed(counters, (SECOND if steps & 1 == 0 else FIRST) * LINE, np.int64(0))
            store_relaxed(counters, (THIRD if steps & 1 == 0 else HUBS) * LINE, np.int64(0))
        gather_pieces(M, in_offsets, sources, parts, hubs, pieces, counters, long_rows, far)
        while True:
            first, last = take_rows(counters, rows, n, sources.size, threads)
            if first >= n:
                break
            end = first_arc(in_offsets, first)
            for block in range(first, last, FOLD):
                R = reduce_start()
                for v in range(block, min(block + FOLD, last)):
                    begin = end
                    end = first_arc(in_offsets, v + 1)
                    message = identity()
                    if end - begin > HUB:
                        continue
                    if WANTS_ALWAYS or wants_at(S, K, v):
                        messages += end - begin
                        message = gather_offers(M, sources, np.int64(0), begin, end, far)
                    fits, active, before = settle(S, E, K, N, in_place, member, stamp, v, message)
                    all_fit &= fits
                    R = reduce_fold_from(R, before, S, K, v)
                    if not ALWAYS_ACTIVE and active:
                        member[v] = following_stamp
                        queued = append(following, counters, QUEUE, buffer, base, queued, v)
                        out += first_arc(offsets, v + 1) - first_arc(offsets, v)
                        inn += end - begin
                reduce_store(R, sums, block // FOLD)
        if hubs.size:
            number += 1
            barrier(memory, thread, threads, number)
            for hub in range(thread, hubs.size, threads):
                fits, active, gathered = settle_hub(
                    S, E, K, N, in_place, member, stamp, in_offsets, parts, hubs, pieces, hub, sums, blocks + hub
                )  # fmt: skip
                all_fit &= fits
                messages += gathered
                if not ALWAYS_ACTIVE and active:
                    v = np.int64(load(hubs, hub))
                    member[v] = following_stamp
                    queued = append(following, counters, QUEUE, buffer, base, queued, v)
                    out += first_arc(offsets, v + 1) - first_arc(offsets, v)
                    inn += first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
        steps += 1
        if HAS_REDUCTIONS:
            number += 1
            barrier(memory, thread, threads, number)
            fold_shares(sums, places, thread, threads)
        if HAS_REDUCTIONS or steps < horizon:
            number += 1
            publish(memory, thread, number, 0, load_relaxed(counters, STOP * LINE))
            barrier(memory, thread, threads, number)
        if HAS_REDUCTIONS:
            K = with_reductions(K, fold_all(sums, places))
        if thread == 0:
            times[steps] = nanoseconds()
        if steps >= horizon or published(memory, 0, number, 0) != 0 or converged_at(K):
            break
        K = in_superstep(K, np.int64(K[0]) + 1)
        M, N = N, M
    if HAS_REDUCTIONS and thread == 0:
        reduce_store(fold_all(sums, places), sums, places + SHARES)
    flush(following, counters, QUEUE, buffer, base, queued)
    report[thread * LINE + MESSAGES] = messages
    report[thread * LINE + OUT_DEGREES] = out
    report[thread * LINE + IN_DEGREES] = inn
    report[thread * LINE + OVERFLOWS] = 0 if all_fit else 1
    report[thread * LINE + STEPS] = steps
