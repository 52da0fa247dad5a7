"""Relaxation in the order of a field: delta-stepping, for programs that lower one field by a minimum.

Vertices wait in bins by the value of the field. All threads together empty the lowest bin again and again. A thread
whose own part of the current bin stays small goes on with it alone, without a barrier (bucket fusion).

Shared memory. The field is read by all threads (relaxed) and lowered by an atomic minimum. A reader may see an older,
larger value: its work is then repeated, because the thread that lowered the value has put the vertex into the right
bin. There is no mark that could be missed: a thread that lowers a value puts the vertex into one of its own bins.
Either it takes the vertex out again itself, and sees its own value, or all threads see it after a barrier. So relaxed
is enough.

Bins are private: a ring of lists of blocks from the thread's own pool. To empty a bin, each thread copies its part to
its own window of ``window`` and publishes the size; after a barrier all threads take chunks of all windows. There are
two barriers per round, and every decision is made from published values. The ring holds the bins ``now .. now + bins -
1``. Later entries wait in one more list, whose lowest bin is recorded; the list is sorted into the ring when that bin
is reached. So the number of bins affects time, never correctness.

An entry whose value has fallen below the current bin is stale: it was put elsewhere when its value fell. Only if
messages are smaller than their source's value (negative weights) is a value put into the current bin that belongs
before it. From then on (BELOW) there is no order to follow, and values may fall forever. So no thread relaxes any more,
all waiting vertices are the next frontier, and the caller goes on without bins. A thread that does not see that flag
yet has an older entry of the vertex; the newer one is in the bin of the thread that set the flag.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.common import IN_DEGREES, MESSAGES, ONE, OUT_DEGREES, QUEUE, STOP, first_arc, reserve
from dromos.engines.cpu.skeletons.hooks import PRIORITY, bucket, compute_from, weight_at
from dromos.intrinsics import atomic_add, atomic_min, atomic_swap, load, load_relaxed, prefetch, store, store_relaxed
from dromos.jit import LINE, barrier, inline, kernel, publish, published

# ---- everything above is replaced by a program's own hooks

ENTRIES = 64  # entries of a block
ALONE = 1024  # a thread goes on alone with its own part of the bin while it is smaller than this
LONG = 8  # arcs; a longer row is filtered first
FILTER = 256  # arcs filtered at once
NONE = np.int64(1) << np.int64(62)  # later than every bin
STOPPED = -NONE  # before every bin
ROUNDS, POOL_FULL = 4, 5  # words of a thread's report
BELOW = 0  # counter: a value was put into a bin after its own
# Words of a thread's bookkeeping. Each bin, and the list beyond them, has three more: count, tail, first block.
FREE, USED, FULL, BEYOND, BINS = 0, 1, 2, 3, 16


@inline
def put_in(books, pool, links, mine, blocks, slot, v):
    """Append ``v`` to bin ``slot`` of the thread whose bookkeeping begins at ``mine[0]``."""
    book, pool_base, link_base = mine
    entry = book + BINS + 3 * slot
    count = load(books, entry)
    tail = load(books, entry + 1)
    if count & (ENTRIES - 1) == 0:
        block = load(books, book + FREE)
        if block >= 0:
            store(books, book + FREE, np.int64(load(links, link_base + block)))
        else:
            block = load(books, book + USED)
            if block >= blocks:
                store(books, book + FULL, np.int64(1))
                return
            store(books, book + USED, block + 1)
        if count == 0:
            store(books, entry + 2, block)
        else:
            store(links, link_base + (tail - 1) // ENTRIES, block)
        tail = block * ENTRIES
    store(pool, pool_base + tail, v)
    store(books, entry, count + 1)
    store(books, entry + 1, tail + 1)


@inline
def empty(books, pool, links, mine, slot, window, at):
    """Copy bin ``slot`` to ``window[at:]`` and release its blocks; return the number of entries."""
    book, pool_base, link_base = mine
    entry = book + BINS + 3 * slot
    count = load(books, entry)
    block = load(books, entry + 2)
    free = load(books, book + FREE)
    done = np.int64(0)
    while done < count:
        size = min(np.int64(ENTRIES), count - done)
        first = pool_base + block * ENTRIES
        for i in range(size):
            store(window, at + done + i, load(pool, first + i))
        done += size
        after = np.int64(load(links, link_base + block))
        store(links, link_base + block, free)
        free = block
        block = after
    store(books, book + FREE, free)
    store(books, entry, np.int64(0))
    return count


@inline
def put_by_bin(books, pool, links, mine, blocks, v, place, now, bins):
    """Append ``v`` to the bin ``place``, which is ``now`` or a later one, or to the list beyond the ring."""
    slot = place & (bins - 1)
    if place - now >= bins:
        slot = bins
        store(books, mine[0] + BEYOND, min(place, load(books, mine[0] + BEYOND)))
    put_in(books, pool, links, mine, blocks, slot, v)


@inline
def improve(S, before, books, pool, links, mine, blocks, counters, v, value, scale, now, bins):
    """Lower the field of ``v``; if that succeeds, put it into its bin, unless it certainly waits there already.

    It does if the old value belongs to the same bin, that bin is later than ``now``, and the old value is not the one
    that ``v`` had ``before`` this call: the thread that lowered it put ``v`` there.
    """
    old = atomic_min(S[PRIORITY], v, value)
    if value < old:
        place = bucket(value, scale)
        if place < now:
            place = now
            store_relaxed(counters, BELOW * LINE, np.int64(1))
        if place == now or bucket(old, scale) != place or not old < load(before, v):
            put_by_bin(books, pool, links, mine, blocks, v, place, now, bins)


@inline
def relax(
    S, before, E, K, u, now, offsets, targets, weights, scale, bins, candidates, values, spare, books, pool, links,
    mine, blocks, counters,
):  # fmt: skip
    """Send along all arcs of ``u``, unless its value now belongs to an earlier bin, or there is no order left."""
    if load_relaxed(counters, BELOW * LINE) != 0:
        put_in(books, pool, links, mine, blocks, now & (bins - 1), u)
        return np.int64(0)
    value = load_relaxed(S[PRIORITY], u)
    if bucket(value, scale) < now:
        return np.int64(0)
    begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
    if end - begin <= LONG:
        for arc in range(begin, end):
            v = np.int64(load(targets, arc))
            offered = compute_from(value, S, E, K, u, v, arc, weight_at(weights, arc))
            if offered < load_relaxed(S[PRIORITY], v):
                improve(
                    S, before, books, pool, links, mine, blocks, counters, v, offered, scale, now, bins
                )  # fmt: skip
        return end - begin
    first = begin
    while first < end:  # a filter without branches; then the arcs that passed
        last = min(end, first + FILTER)
        # A processor that lets no load pass a store whose address is not yet known would wait for each value in turn:
        # where the filter writes depends on the values before. So all are requested first.
        for arc in range(first, last):
            prefetch(S[PRIORITY], np.int64(load(targets, arc)))
        count = np.int64(0)
        for arc in range(first, last):
            v = np.int64(load(targets, arc))
            offered = compute_from(value, S, E, K, u, v, arc, weight_at(weights, arc))
            store(candidates, spare + count, v)
            store(values, spare + count, offered)
            count += np.int64(offered < load_relaxed(S[PRIORITY], v))
        for i in range(count):
            improve(
                S, before, books, pool, links, mine, blocks, counters, np.int64(load(candidates, spare + i)),
                load(values, spare + i), scale, now, bins,
            )  # fmt: skip
        first = last
    return end - begin


@inline
def sort_in(S, books, pool, links, mine, blocks, window, here, scale, now, bins):
    """Sort the list beyond the ring into bins; entries whose value fell below ``now`` were put elsewhere then."""
    count = empty(books, pool, links, mine, bins, window, here)
    store(books, mine[0] + BEYOND, NONE)
    for position in range(count):
        v = np.int64(load(window, here + position))
        place = bucket(load_relaxed(S[PRIORITY], v), scale)
        if place >= now:
            put_by_bin(books, pool, links, mine, blocks, v, place, now, bins)


@kernel
def settle_in_order(
    thread, threads, graph, S, before, E, K, scale, bins, queue, size, window, window_size, pool, links, blocks, books,
    candidates, values, member, following, counters, cursors, memory, horizon, report,
):  # fmt: skip
    """Run from the frontier ``queue[:size]`` to the end, or for ``horizon`` rounds; then ``following`` is the frontier.

    ``before`` is a copy of the initial field. ``member`` is zero throughout, except for marking the frontier at the
    end. ``report``: the arcs traversed, and in the last words the rounds done and whether a pool was too small (then
    vertices may have been dropped).
    """
    offsets, targets, weights, in_offsets = graph
    book_size = BINS + 3 * (bins + 1)
    mine = (thread * book_size, thread * blocks * ENTRIES, thread * blocks)
    book = mine[0]
    here = thread * window_size
    spare = thread * (FILTER + ENTRIES)
    store(books, book + FREE, np.int64(-1))
    store(books, book + USED, np.int64(0))
    store(books, book + FULL, np.int64(0))
    store(books, book + BEYOND, NONE)
    for b in range(bins + 1):
        store(books, book + BINS + 3 * b, np.int64(0))
    # the very first bin: every thread scans the whole (small) frontier, and takes its share of it
    now = NONE
    for position in range(size):
        now = min(now, bucket(S[PRIORITY][np.int64(load(queue, position))], scale))
    for position in range(size * thread // threads, size * (thread + 1) // threads):
        v = np.int64(load(queue, position))
        put_by_bin(books, pool, links, mine, blocks, v, bucket(S[PRIORITY][v], scale), now, bins)
    number = np.int64(0)
    rounds = looked = np.int64(0)
    while True:
        vote = load(books, book + BEYOND)
        for b in range(now, min(now + bins, vote)):
            if load(books, book + BINS + 3 * (b & (bins - 1))) > 0:
                vote = np.int64(b)
                break
        if load(books, book + FULL) + load_relaxed(counters, STOP * LINE) + load_relaxed(counters, BELOW * LINE) != 0:
            vote = STOPPED
        number += 1
        publish(memory, thread, number, 0, vote)
        barrier(memory, thread, threads, number)
        lowest = NONE
        for other in range(threads):
            lowest = min(lowest, published(memory, other, number, 0))
        if not STOPPED < lowest < NONE or rounds >= horizon:
            break
        now = lowest
        slot = now & (bins - 1)
        if load(books, book + BEYOND) <= now:
            sort_in(S, books, pool, links, mine, blocks, window, here, scale, now, bins)
        count = empty(books, pool, links, mine, slot, window, here)
        number += 1
        publish(memory, thread, number, 0, count)
        store_relaxed(cursors, thread * LINE, np.int64(0))
        barrier(memory, thread, threads, number)
        together = np.int64(0)
        for other in range(threads):
            together += published(memory, other, number, 0)
        share = max(np.int64(1), min(np.int64(64), together // (8 * threads)))
        for turn in range(threads):
            other = thread + turn
            if other >= threads:
                other -= threads
            last = published(memory, other, number, 0)
            part = other * window_size
            while load_relaxed(cursors, other * LINE) < last:
                taken = atomic_add(cursors, other * LINE, share)
                for position in range(taken, min(taken + share, last)):
                    # rows are short and scattered: prefetch later ones (past the end, the window holds arbitrary
                    # values)
                    later = np.int64(load(window, part + min(position + 16, last - 1)))
                    prefetch(offsets, later)
                    prefetch(S[PRIORITY], later)
                    row = first_arc(offsets, np.int64(load(window, part + min(position + 8, last - 1))))
                    prefetch(targets, row)
                    prefetch(targets, row + 16)
                    prefetch(weights, row)
                    prefetch(weights, row + 16)
                    looked += relax(
                        S, before, E, K, np.int64(load(window, part + position)), now, offsets, targets, weights, scale,
                        bins, candidates, values, spare, books, pool, links, mine, blocks, counters,
                    )  # fmt: skip
        while True:  # alone with its own part of the bin; the window after this round's entries is free
            left = load(books, book + BINS + 3 * slot)
            if left == 0 or left >= ALONE or load_relaxed(counters, BELOW * LINE) != 0:
                break
            left = empty(books, pool, links, mine, slot, window, here + count)
            for position in range(left):
                looked += relax(
                    S, before, E, K, np.int64(load(window, here + count + position)), now, offsets, targets, weights,
                    scale, bins, candidates, values, spare, books, pool, links, mine, blocks, counters,
                )  # fmt: skip
        rounds += 1
    out = inn = np.int64(0)
    for b in range(bins + 1):  # all vertices that still wait are the next frontier, once each
        count = empty(books, pool, links, mine, np.int64(b), window, here)
        kept = np.int64(0)
        for position in range(count):
            v = np.int64(load(window, here + position))
            if atomic_swap(member, v, ONE) != ONE:
                store(window, here + kept, v)
                kept += 1
                out += first_arc(offsets, v + 1) - first_arc(offsets, v)
                if in_offsets.size:
                    inn += first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
        at = reserve(counters, QUEUE, kept)
        for i in range(kept):
            store(following, at + i, load(window, here + i))
    report[thread * LINE + MESSAGES] = looked
    report[thread * LINE + OUT_DEGREES] = out
    report[thread * LINE + IN_DEGREES] = inn
    report[thread * LINE + ROUNDS] = rounds
    report[thread * LINE + POOL_FULL] = load(books, book + FULL)
