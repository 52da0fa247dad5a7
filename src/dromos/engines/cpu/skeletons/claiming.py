"""Traversals in which a vertex takes one message and is then done: BFS and its kin. Whole runs of levels in one call.

A vertex that still wants a message is claimed by whoever reaches it first, and written in place. A level is pushed from
a queue or pulled through bitmaps; either form of the frontier is made from the other when the direction changes.

Shared memory. *Push*: two threads may both see ``v`` wanting, each with a message of its own. One compare-and-swap of
the claimed field decides: who wins writes the other fields and queues ``v``; who loses goes on. All that is written
comes from one message, and the old state that went into it is the one that the swap found, since nobody writes ``v``
before winning. Every message of a superstep is an equally right answer. The other fields of ``v`` are read by others
only behind a barrier, so the swap may be relaxed. ``private`` has a part for each thread, to which it alone appends, a
vertex at most once in all parts together, since it is in one frontier only; a window of it is the thread's share of the
frontier, read by all after a barrier. *Pull*: a vertex belongs to the thread that took its word of the bitmaps; of
others' only ``front`` is read. Sources are in the frontier, and a vertex in the frontier wants no message, so nobody
writes what a source is read for. Every decision is taken from published values, so all threads pass the same barriers.
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
    SECOND,
    STOP,
    first_arc,
    reserve,
    take_piece,
    take_work,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import claim_store, compute_at, wants_at, weight_at
from dromos.intrinsics import (
    atomic_add,
    atomic_or,
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
THIN_ARCS = 2048  # unless more arcs leave it
SHARE = 64  # vertices that a thread takes at a time, at most
SHARES = 16  # for each thread, where the frontier is small
WORDS = 16  # words of 64 vertices that a thread takes at a time in a pull
BIT = np.uint64(1)

# What a traversal is told: the direction, and by what rule it is switched.
PUSH, PULL, SWITCH = range(3)
# What each thread publishes before a level: its window of the frontier, its arcs, and what it has seen of the others.
LOW, HIGH, ARCS, STOPPED, SENT = range(5)


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


@inline
def push_windows(
    S, E, K, graph, private, base, tail, hubs, has_hubs, counters, cursors, memory, thread, threads, number, share,
):  # fmt: skip
    """Claim along the arcs of all windows, one's own first and then what others have left: ``(tail, arcs)``."""
    offsets, targets, weights, in_offsets = graph
    room = offsets.size - 1 + SLACK
    contested = threads > 1
    pushed = np.int64(0)
    for turn in range(threads):
        other = thread + turn
        if other >= threads:
            other -= threads
        last = published(memory, other, number, HIGH)
        cursor = ((number & 1) * threads + other) * LINE
        part = other * room
        while load_relaxed(cursors, cursor) < last:
            taken = atomic_add(cursors, cursor, share)
            for position in range(taken, min(taken + share, last)):
                u = np.int64(load(private, part + position))
                begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
                pushed += end - begin
                if has_hubs and end - begin > HUB:
                    hubs[reserve(counters, HUB_COUNT, 1)] = u
                else:
                    tail = push_row(S, E, K, u, begin, end, targets, weights, private, base + tail, contested) - base
    return tail, pushed


@inline
def push_hubs(S, E, K, graph, private, base, tail, hubs, counters, contested):
    """Claim along pieces of the rows that were too long for one thread."""
    offsets, targets, weights, in_offsets = graph
    while True:
        u, begin, end = take_piece(counters, hubs, offsets)
        if u < 0:
            break
        tail = push_row(S, E, K, u, begin, end, targets, weights, private, base + tail, contested) - base
    return tail


@inline
def thin_arcs(offsets, private, room, memory, threads, number):
    """The arcs that leave a small frontier."""
    arcs = np.int64(0)
    for other in range(threads):
        for position in range(published(memory, other, number, LOW), published(memory, other, number, HIGH)):
            u = np.int64(load(private, other * room + position))
            arcs += first_arc(offsets, u + 1) - first_arc(offsets, u)
    return arcs


@inline
def window_arcs(offsets, private, first, last):
    arcs = np.int64(0)
    for position in range(first, last):
        u = np.int64(load(private, position))
        arcs += first_arc(offsets, u + 1) - first_arc(offsets, u)
    return arcs


@inline
def push_window(S, E, K, graph, private, first, last, base, tail):
    """One window by one thread alone."""
    offsets, targets, weights, in_offsets = graph
    for position in range(first, last):
        u = np.int64(load(private, position))
        begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
        tail = push_row(S, E, K, u, begin, end, targets, weights, private, base + tail, False) - base
    return tail


@inline
def to_bits(S, K, n, private, base, low, high, reachable, front, wanting, memory, thread, threads, number):
    """The queue as the bitmap ``front``, and in ``wanting`` who still wants a message; the last barrier's number."""
    words = (n + 63) >> 6
    for w in range(words * thread // threads, words * (thread + 1) // threads):
        bits = np.uint64(0)
        for b in range(min(64, n - (w << 6))):
            bits |= np.uint64(wants_at(S, K, (w << 6) + b)) << np.uint64(b)
        store(wanting, w, bits & load(reachable, w))
        store(front, w, np.uint64(0))
    barrier(memory, thread, threads, number + 1)
    for position in range(low, high):
        v = np.int64(load(private, base + position))
        atomic_or(front, v >> 6, BIT << np.uint64(v & 63))
    barrier(memory, thread, threads, number + 2)
    return number + 2


@inline
def pull_words(S, E, K, graph, in_graph, front, following, wanting, counters, which):
    """Every vertex that wants a message looks for one in-neighbour in ``front``: ``(found, arcs looked at, arcs)``.

    ``front`` (read), ``following`` (written) and ``wanting`` are bitmaps; the arcs are those of the vertices found.
    """
    offsets, targets, weights, out_in_offsets = graph
    in_offsets, sources, in_weights = in_graph
    words = (in_offsets.size - 1 + 63) >> 6
    found = looked = out = np.int64(0)
    while True:
        first = take_work(counters, which, WORDS)
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
                    in_front = (load(front, u >> 6) >> np.uint64(u & 63)) & BIT != np.uint64(0)
                    if in_front and claim(S, E, K, u, v, arc, in_weights, False):
                        claimed |= BIT << b
                        looked += arc - begin + 1
                        out += first_arc(offsets, v + 1) - first_arc(offsets, v)
                        break
            store(wanting, w, open_bits & ~claimed)
            store(following, w, claimed)
            found += np.int64(count_bits(claimed))
    return found, looked, out


@inline
def to_queue(front, private, base, tail, thread, threads):
    """A thread's share of the bitmap ``front``, listed in ``private`` from ``tail`` on; the new tail."""
    words = front.size
    for w in range(words * thread // threads, words * (thread + 1) // threads):
        rest = load(front, w)
        while rest != np.uint64(0):
            store(private, base + tail, (w << 6) + np.int64(trailing_zeros(rest)))
            rest &= rest - BIT
            tail += 1
    return tail


@lean_kernel
def traverse(
    thread, threads, graph, in_graph, S, E, in_E, K, queue, size, following, private, hubs, has_hubs,
    reachable, bits, wanting, counters, cursors, memory, rule, last, untouched, alpha, fewest, horizon, sizes, edges,
    times, pulled, report,
):  # fmt: skip
    """Up to ``horizon`` levels from the frontier ``queue[:size]``, while it is not empty.

    ``rule`` is a direction, or ``SWITCH``: a push turns to pull when the frontier's arcs exceed those ``untouched`` by
    pushes / ``alpha``, a pull to push when the frontier has less than ``fewest`` vertices; a thin frontier is pushed.
    ``last`` is the direction of the level before, ``SWITCH`` if there was none: the first level is pushed. Where the
    arrays of ``in_graph`` are empty the traversal returns before it would pull.

    ``following`` becomes the next frontier without repetition; ``report`` has the number of levels. Of those that they
    have room for, ``sizes`` has the size of the frontier, ``edges`` the arcs that left it, ``pulled`` the direction,
    ``times`` the clock when the level began (0 where it was not looked at: a thin level takes less than that).
    """
    offsets, targets, weights, in_offsets = graph
    n = offsets.size - 1
    room = n + SLACK
    base = thread * room
    can_pull = in_graph[0].size > 1
    front, back = bits[0], bits[1]
    first = size * thread // threads
    low, high = np.int64(0), size * (thread + 1) // threads - first
    for i in range(high):
        private[base + i] = queue[first + i]
    arcs = np.int64(0)
    if rule != PUSH:
        arcs = window_arcs(offsets, private, base, base + high)
    step = np.int64(K[0])
    levels = np.int64(0)
    number = np.int64(0)
    sent = logged = pulls = np.int64(0)
    begun, pulling = last != SWITCH, last == PULL
    in_bits = was_pushed = wants_pull = False
    while True:
        number += 1
        publish(memory, thread, number, LOW, low)
        publish(memory, thread, number, HIGH, high)
        publish(memory, thread, number, ARCS, arcs)
        publish(memory, thread, number, STOPPED, load_relaxed(counters, STOP * LINE))
        publish(memory, thread, number, SENT, sent)
        store_relaxed(cursors, ((number & 1) * threads + thread) * LINE, low)
        barrier(memory, thread, threads, number)
        total_size = total(memory, threads, number, HIGH) - total(memory, threads, number, LOW)
        total_arcs = total(memory, threads, number, ARCS)
        is_thin = False
        if not in_bits and total_size <= THIN and rule != PULL:
            total_arcs = thin_arcs(offsets, private, room, memory, threads, number)
            is_thin = total_arcs <= THIN_ARCS
        if thread == 0:
            if was_pushed and rule == PUSH and levels <= edges.size:  # its arcs were not counted before
                edges[levels - 1] = total(memory, threads, number, SENT) - logged
            logged = total(memory, threads, number, SENT)
            if levels < times.size:
                times[levels] = nanoseconds()
        if total_size == 0 or levels >= horizon or published(memory, 0, number, STOPPED) != 0:
            break
        before = untouched
        if rule != SWITCH:
            pulling = rule == PULL
        elif pulling:
            pulling = total_size >= fewest
        elif begun:
            untouched -= total_arcs
            pulling = total_arcs > untouched / alpha
        pulling = pulling and not is_thin
        if pulling and not can_pull:
            wants_pull, pulling, untouched = True, False, before
            break
        begun, was_pushed = True, False
        if thread == 0 and levels < sizes.size:
            sizes[levels] = total_size
            edges[levels] = total_arcs
            pulled[levels] = pulling
        here = (np.int32(step),) + K[1:]  # noqa: RUF005 - Numba has no star here
        tail = high
        if is_thin:
            # one thread alone, level after level, without a barrier, until the frontier grows
            used = np.int64(0)  # arcs of the levels after the first
            if thread == 0:
                for other in range(threads):
                    part = other * room
                    begin = part + published(memory, other, number, LOW)
                    end = part + published(memory, other, number, HIGH)
                    tail = push_window(S, E, here, graph, private, begin, end, base, tail)
                sent += total_arcs
                step += 1
                levels += 1
                low = high
                while 0 < tail - low <= THIN and levels < horizon and load_relaxed(counters, STOP * LINE) == 0:
                    arcs = window_arcs(offsets, private, base + low, base + tail)
                    if arcs > THIN_ARCS:
                        break
                    if levels < sizes.size:
                        sizes[levels] = tail - low
                        edges[levels] = arcs
                    used += arcs
                    end = tail
                    here = (np.int32(step),) + K[1:]  # noqa: RUF005 - Numba has no star here
                    tail = push_window(S, E, here, graph, private, base + low, base + end, base, tail)
                    low = end
                    step += 1
                    levels += 1
                sent += used
                high = tail
                arcs = window_arcs(offsets, private, base + low, base + high) if rule == SWITCH else np.int64(0)
            else:
                low = high
                arcs = np.int64(0)
            number += 1
            publish(memory, thread, number, 0, step)
            publish(memory, thread, number, 1, used)
            barrier(memory, thread, threads, number)
            levels += published(memory, 0, number, 0) - step
            step = published(memory, 0, number, 0)
            untouched -= published(memory, 0, number, 1)
            continue
        if pulling:
            which, other = (FIRST, SECOND) if pulls & 1 == 0 else (SECOND, FIRST)
            pulls += 1
            if thread == 0:  # nobody uses the other counter: all have passed the barrier after the last pull
                store_relaxed(counters, other * LINE, np.int64(0))
            if not in_bits:
                number = to_bits(
                    S, here, n, private, base, low, high, reachable, front, wanting, memory, thread, threads, number
                )
                in_bits = True
                low = high
            found, looked, arcs = pull_words(S, in_E, here, graph, in_graph, front, back, wanting, counters, which)
            sent += looked
            front, back = back, front
            # the size of the frontier is published as a window that is not there
            high = low + found
        else:
            if in_bits:
                # the window was a number only: list the frontier, then let all know where it is
                high = to_queue(front, private, base, low, thread, threads)
                in_bits = False
                number += 1
                publish(memory, thread, number, LOW, low)
                publish(memory, thread, number, HIGH, high)
                store_relaxed(cursors, ((number & 1) * threads + thread) * LINE, low)
                barrier(memory, thread, threads, number)
                tail = high
            share = min(max(total_size // (threads * SHARES), 1), SHARE)
            tail, pushed = push_windows(
                S, E, here, graph, private, base, tail, hubs, has_hubs, counters, cursors, memory, thread, threads,
                number, share,
            )  # fmt: skip
            sent += pushed
            if has_hubs:
                number += 1
                barrier(memory, thread, threads, number)
                tail = push_hubs(S, E, here, graph, private, base, tail, hubs, counters, threads > 1)
                number += 1
                barrier(memory, thread, threads, number)
                if thread == 0:
                    store_relaxed(counters, HUB_COUNT * LINE, np.int64(0))
                    store_relaxed(counters, HUBS * LINE, np.int64(0))
            low = high
            high = tail
            was_pushed = True
            arcs = window_arcs(offsets, private, base + low, base + high) if rule != PUSH else np.int64(0)
        step += 1
        levels += 1
    # The frontier of all threads as one; a vertex stands in one window only, that of who claimed it.
    if in_bits:
        high = to_queue(front, private, base, low, thread, threads)
    out = inn = np.int64(0)
    at = reserve(counters, QUEUE, high - low)
    for position in range(low, high):
        v = np.int64(load(private, base + position))
        store(following, at + position - low, v)
        out += first_arc(offsets, v + 1) - first_arc(offsets, v)
        if in_offsets.size:
            inn += first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
    report[thread * LINE] = sent
    report[thread * LINE + 1] = out
    report[thread * LINE + 2] = inn
    report[thread * LINE + 4] = levels
    report[thread * LINE + 5] = wants_pull
    report[thread * LINE + 6] = pulling
    report[thread * LINE + 7] = np.int64(untouched)
