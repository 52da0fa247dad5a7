"""Traversals in which a vertex takes one message and is then done: BFS and its kin. Whole runs of levels in one call.

A vertex that still wants a message is claimed by whoever reaches it first, and written in place.

Shared memory. *Push*: two threads may both see ``v`` wanting, each with a message of its own. One compare-and-swap of
the claimed field decides: who wins writes the other fields and queues ``v``; who loses goes on. All that is written
comes from one message, and the old state that went into it is the one that the swap found, since nobody writes ``v``
before winning. Every message of a superstep is an equally right answer. The other fields of ``v`` are read by others
only behind a barrier, so the swap may be relaxed. ``private`` has a part for each thread, to which it alone appends, a
vertex at most once in all parts together; a window of it is the thread's share of the frontier, read by all after a
barrier. *Pull*: a vertex belongs to the thread that took its word of the bitmaps; of others' only ``front``
is read. Sources are in the frontier, and a vertex in the frontier wants no message, so nobody writes what a source is
read for. Every decision is taken from published values, so all threads pass the same barriers.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.common import (
    FIRST,
    HUB,
    HUB_COUNT,
    HUBS,
    QUEUE,
    STOP,
    first_arc,
    reserve,
    take_piece,
    take_work,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import claim_store, compute_at, wants_at, weight_at
from dromos.intrinsics import (
    atomic_add,
    count_bits,
    load,
    load_relaxed,
    nanoseconds,
    prefetch,
    store,
    store_relaxed,
    trailing_zeros,
)  # fmt: skip
from dromos.jit import LINE, barrier, inline, lean_kernel, publish, published, total

# ---- everything above is replaced by a program's own hooks

SLACK = 512  # room after a thread's part of the queue for the filter's batch
SHORT = 12  # a row up to this length is claimed arc by arc
BATCH = 256  # arcs filtered at once in a longer row
THIN = 24  # a frontier up to this size is one thread's work: a barrier costs more than it saves
SHARE = 64  # vertices that a thread takes at a time
WORDS = 16  # words of 64 vertices that a thread takes at a time in a pull
BIT = np.uint64(1)


@inline
def claim(S, E, K, u, v, arc, weights, contested):
    """Give ``v`` the message along an arc, if it still wants one and nobody else is quicker."""
    return claim_store(S, K, v, compute_at(S, E, K, u, v, arc, weight_at(weights, arc)), contested)


@inline
def push_row(S, E, K, u, begin, end, targets, weights, private, tail, contested):
    """Claim along the arcs ``begin..end`` of ``u``; claimed vertices go to ``private[tail:]``; the new tail."""
    if end - begin <= SHORT:
        for arc in range(begin, end):
            v = np.int64(load(targets, arc))
            if wants_at(S, K, v) and claim(S, E, K, u, v, arc, weights, contested):
                store(private, tail, v)
                tail += 1
    else:
        # First a filter without branches, all loads in flight at once; then the claims. What passes is an arc, so that
        # its weight is at hand; ids and arcs of a row both fit the queue's type, relative to the row.
        while begin < end:
            stop = min(end, begin + BATCH)
            kept = tail
            for arc in range(begin, stop):
                store(private, kept, arc - begin)
                kept += np.int64(wants_at(S, K, np.int64(load(targets, arc))))
            for position in range(tail, kept):
                arc = begin + np.int64(load(private, position))
                v = np.int64(load(targets, arc))
                if claim(S, E, K, u, v, arc, weights, contested):
                    store(private, tail, v)
                    tail += 1
            begin = stop
    return tail


@lean_kernel
def push(
    thread, threads, graph, S, E, K, member, stamp, queue, size, following, private, hubs, has_hubs, counters, cursors,
    memory, horizon, sizes, edges, times, report,
):  # fmt: skip
    """Up to ``horizon`` levels from the frontier ``queue[:size]``, while it is not empty.

    ``following`` becomes the next frontier without repetition, stamped in ``member``; ``report`` has the number of
    levels. Of the levels that they have room for, ``sizes`` has the size of the frontier, ``edges`` the arcs that left
    it, ``times`` the clock when the level began (0 where it was not looked at: a thin level takes less than that).
    """
    offsets, targets, weights, in_offsets = graph
    n = offsets.size - 1
    base = thread * (n + SLACK)
    first = size * thread // threads
    low, high = np.int64(0), size * (thread + 1) // threads - first
    for i in range(high):
        private[base + i] = queue[first + i]
    contested = threads > 1
    step = np.int64(K[0])
    levels = np.int64(0)
    number = np.int64(0)
    pushed = np.int64(0)
    logged = np.int64(0)  # arcs that are in the log
    while True:
        number += 1
        publish(memory, thread, number, 0, low)
        publish(memory, thread, number, 1, high)
        publish(memory, thread, number, 2, load_relaxed(counters, STOP * LINE))
        publish(memory, thread, number, 3, pushed)
        store_relaxed(cursors, ((number & 1) * threads + thread) * LINE, low)
        barrier(memory, thread, threads, number)
        total_size = total(memory, threads, number, 1) - total(memory, threads, number, 0)
        if thread == 0:
            if 0 < levels <= edges.size:
                edges[levels - 1] += total(memory, threads, number, 3) - logged
            logged = total(memory, threads, number, 3)
            if levels < times.size:
                times[levels] = nanoseconds()
            if levels < sizes.size:
                sizes[levels] = total_size
        if total_size == 0 or levels >= horizon or published(memory, 0, number, 2) != 0:
            break
        here = (np.int32(step),) + K[1:]  # noqa: RUF005 - Numba has no star here
        tail = high
        if total_size <= THIN:
            # one thread alone, level after level, without a barrier, until the frontier grows
            if thread == 0:
                mark = pushed
                for other in range(threads):
                    part = other * (n + SLACK)
                    for position in range(published(memory, other, number, 0), published(memory, other, number, 1)):
                        u = np.int64(load(private, part + position))
                        begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
                        pushed += end - begin
                        tail = push_row(S, E, here, u, begin, end, targets, weights, private, base + tail, False) - base
                step += 1
                levels += 1
                low = high
                while 0 < tail - low <= THIN and levels < horizon and load_relaxed(counters, STOP * LINE) == 0:
                    if levels <= edges.size:
                        edges[levels - 1] = pushed - mark
                        logged += pushed - mark
                        mark = pushed
                    if levels < sizes.size:
                        sizes[levels] = tail - low
                    last = tail
                    here = (np.int32(step),) + K[1:]  # noqa: RUF005 - Numba has no star here
                    for position in range(low, last):
                        u = np.int64(load(private, base + position))
                        begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
                        pushed += end - begin
                        tail = push_row(S, E, here, u, begin, end, targets, weights, private, base + tail, False) - base
                    low = last
                    step += 1
                    levels += 1
                high = tail
            else:
                low = high
            number += 1
            publish(memory, thread, number, 0, step)
            barrier(memory, thread, threads, number)
            levels += published(memory, 0, number, 0) - step
            step = published(memory, 0, number, 0)
            continue
        for turn in range(threads):  # one's own share first, then what others have left
            other = thread + turn
            if other >= threads:
                other -= threads
            last = published(memory, other, number, 1)
            cursor = ((number & 1) * threads + other) * LINE
            part = other * (n + SLACK)
            while load_relaxed(cursors, cursor) < last:
                taken = atomic_add(cursors, cursor, SHARE)
                for position in range(taken, min(taken + SHARE, last)):
                    u = np.int64(load(private, part + position))
                    begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
                    pushed += end - begin
                    if has_hubs and end - begin > HUB:
                        hubs[reserve(counters, HUB_COUNT, 1)] = u
                    else:
                        tail = (
                            push_row(S, E, here, u, begin, end, targets, weights, private, base + tail, contested)
                            - base
                        )
        if has_hubs:
            number += 1
            barrier(memory, thread, threads, number)
            while True:
                u, begin, end = take_piece(counters, hubs, offsets)
                if u < 0:
                    break
                tail = push_row(S, E, here, u, begin, end, targets, weights, private, base + tail, contested) - base
            number += 1
            barrier(memory, thread, threads, number)
            if thread == 0:
                store_relaxed(counters, HUB_COUNT * LINE, np.int64(0))
                store_relaxed(counters, HUBS * LINE, np.int64(0))
        low = high
        high = tail
        step += 1
        levels += 1
    # The frontier of all threads as one; a vertex stands in one window only, that of who claimed it.
    out = inn = np.int64(0)
    at = reserve(counters, QUEUE, high - low)
    for position in range(low, high):
        v = np.int64(load(private, base + position))
        store(member, v, stamp)
        store(following, at + position - low, v)
        out += first_arc(offsets, v + 1) - first_arc(offsets, v)
        if in_offsets.size:
            inn += first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
    report[thread * LINE] = pushed
    report[thread * LINE + 1] = out
    report[thread * LINE + 2] = inn
    report[thread * LINE + 4] = levels


@lean_kernel
def pull(
    thread, threads, graph, in_graph, S, E, K, fresh, member, stamp, reachable, front, following, wanting, counters,
    memory, report,
):  # fmt: skip
    """One level: every vertex that wants a message looks for one in-neighbour in ``front``.

    ``front`` (read), ``following`` (written) and ``wanting`` are bitmaps. ``fresh``: ``front`` and ``wanting`` are made
    from ``member`` and the state first; of ``reachable`` vertices alone, those with in-arcs.
    """
    offsets, targets, weights, out_in_offsets = graph
    in_offsets, sources, in_weights = in_graph
    n = in_offsets.size - 1
    words = (n + 63) >> 6
    if fresh:
        for w in range(words * thread // threads, words * (thread + 1) // threads):
            bits = np.uint64(0)
            here = np.uint64(0)
            for b in range(min(64, n - (w << 6))):
                v = (w << 6) + b
                bits |= np.uint64(wants_at(S, K, v)) << np.uint64(b)
                here |= np.uint64(load(member, v) == stamp) << np.uint64(b)
            store(wanting, w, bits & load(reachable, w))
            store(front, w, here)
    barrier(memory, thread, threads, 1)
    found = looked = out = inn = np.int64(0)
    while True:
        first = take_work(counters, FIRST, WORDS)
        if first >= words:
            break
        for w in range(first, min(first + WORDS, words)):
            open_bits = load(wanting, w)
            claimed = np.uint64(0)
            rest = open_bits
            while rest != np.uint64(0):
                v = (w << 6) + np.int64(trailing_zeros(rest))
                rest &= rest - BIT
                prefetch(sources, first_arc(in_offsets, v))
            rest = open_bits
            while rest != np.uint64(0):
                b = trailing_zeros(rest)
                v = (w << 6) + np.int64(b)
                rest &= rest - BIT
                begin, end = first_arc(in_offsets, v), first_arc(in_offsets, v + 1)
                for arc in range(begin, end):
                    u = np.int64(load(sources, arc))
                    if (load(front, u >> 6) >> np.uint64(u & 63)) & BIT:
                        claim(S, E, K, u, v, arc, in_weights, False)
                        claimed |= BIT << b
                        looked += arc - begin + 1
                        out += first_arc(offsets, v + 1) - first_arc(offsets, v)
                        inn += end - begin
                        break
            store(wanting, w, open_bits & ~claimed)
            store(following, w, claimed)
            found += np.int64(count_bits(claimed))
    report[thread * LINE] = looked
    report[thread * LINE + 1] = out
    report[thread * LINE + 2] = inn
    report[thread * LINE + 4] = found


@lean_kernel
def enqueue(thread, threads, front, member, stamp, queue, counters):
    """The bitmap as a queue and as stamps: each thread counts its words, reserves room, and lists them."""
    words = front.size
    first, last = words * thread // threads, words * (thread + 1) // threads
    count = np.int64(0)
    for w in range(first, last):
        count += np.int64(count_bits(load(front, w)))
    at = reserve(counters, QUEUE, count)
    for w in range(first, last):
        rest = load(front, w)
        while rest != np.uint64(0):
            v = (w << 6) + np.int64(trailing_zeros(rest))
            rest &= rest - BIT
            store(queue, at, v)
            store(member, v, stamp)
            at += 1
