"""Traversals in which a vertex takes one message: rows pushed, words of a bitmap pulled, one frontier from the other.

How memory is shared, and why that is right, stands in :mod:`dromos.engines.cpu.skeletons.claiming`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.common import (
    HUB,
    HUB_COUNT,
    QUEUE,
    SWAPS_WAIT,
    first_arc,
    reserve,
    take_piece,
    take_work,
)
from dromos.engines.cpu.skeletons.hooks import (
    claim_store,
    compute_at,
    prefetch_claim,
    wants_at,
    wants_settled,
    weight_at,
)
from dromos.intrinsics import atomic_add, atomic_or, count_bits, load, load_relaxed, prefetch, store, trailing_zeros
from dromos.jit import LINE, barrier, inline, published

# ---- everything above is replaced by a program's own hooks

SLACK = 512  # room after a thread's part of the queue for the filter's batch
SHORT = 12  # a row up to this length is claimed arc by arc
BATCH = 256  # arcs filtered at once in a longer row
THIN = 24  # a frontier up to this size is one thread's work: a barrier costs more than it saves
THIN_ARCS = 2048  # unless more arcs leave it
SHARE = 64  # vertices that a thread takes at a time, at most
SHARES = 4  # for each thread, where the frontier is small
EVEN = 256  # vertices for each thread: up to so many, a frontier of short rows is cut evenly, and not dealt
EVEN_ARCS = 8  # of a vertex, on average, in such a frontier
AHEAD = 4  # vertices between the request for a row and the walk along it
CLAIMS_AHEAD = 2  # likewise between the request for the lines that its claims write to and the claims
CLAIMS = 4  # lines that are asked for so, at most
WORDS = 16  # words of 64 vertices that a thread takes at a time in a pull
BIT = np.uint64(1)

# What each thread publishes before a level: its window of the frontier, its arcs, and what it has seen of the others.
LOW, HIGH, ARCS, STOPPED, SENT = range(5)


@inline
def claim(S, E, K, u, v, arc, weights, contested):
    """Give ``v`` the message along an arc, if it still wants one and nobody else is quicker."""
    return claim_store(S, K, v, compute_at(S, E, K, u, v, arc, weight_at(weights, arc)), contested)


@inline
def push_row(S, E, K, u, begin, end, graph, private, tail, contested):
    """Claim along the arcs ``begin..end`` of ``u``; claimed vertices go to ``private[tail:]``; the new tail."""
    offsets, targets, weights, in_offsets = graph
    if end - begin <= SHORT:
        for arc in range(begin, end):
            v = np.int64(load(targets, arc))
            if wants_at(S, K, v) and claim(S, E, K, u, v, arc, weights, contested):
                prefetch(offsets, v)  # for the next level: frontiers of short rows tend to be small
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
            if contested:  # lines come from other cores: all at once, and not each when its swap waits for it
                for position in range(tail, kept):
                    prefetch_claim(S, np.int64(load(targets, begin + np.int64(load(private, position)))))
            for position in range(tail, kept):
                arc = begin + np.int64(load(private, position))
                v = np.int64(load(targets, arc))
                if claim(S, E, K, u, v, arc, weights, contested):
                    store(private, tail, v)
                    tail += 1
            begin = stop
    return tail


@inline
def prefetch_row(graph, private, position):
    """Ask for the first arcs of a vertex of the frontier."""
    offsets, targets, weights, in_offsets = graph
    prefetch(targets, first_arc(offsets, np.int64(load(private, position))))


@inline
def prefetch_claims(S, graph, private, position):
    """Ask for the lines that claims along the first arcs of a short row write to."""
    offsets, targets, weights, in_offsets = graph
    u = np.int64(load(private, position))
    begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
    if end - begin <= SHORT:
        for arc in range(begin, min(begin + CLAIMS, end)):
            prefetch_claim(S, np.int64(load(targets, arc)))


@inline
def push_windows(
    S, E, K, graph, private, base, tail, hubs, has_hubs, counters, cursors, memory, thread, threads, number, share,
):  # fmt: skip
    """Claim along the arcs of all windows, one's own first and then what others have left: ``(tail, arcs)``."""
    offsets = graph[0]
    room = offsets.size - 1 + SLACK
    pushed = np.int64(0)
    for turn in range(threads):
        other = thread + turn
        if other >= threads:
            other -= threads
        last = published(memory, other, number, HIGH)
        cursor = ((number & 1) * threads + other) * LINE
        newest = other * room + published(memory, other, number, LOW) + last - 1  # in the caches, so it comes first
        while load_relaxed(cursors, cursor) < last:
            taken = atomic_add(cursors, cursor, share)
            for position in range(taken, min(taken + share, last)):
                if position + AHEAD < last:
                    prefetch_row(graph, private, newest - position - AHEAD)
                if SWAPS_WAIT and position + CLAIMS_AHEAD < last:
                    prefetch_claims(S, graph, private, newest - position - CLAIMS_AHEAD)
                u = np.int64(load(private, newest - position))
                begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
                pushed += end - begin
                if has_hubs and end - begin > HUB:
                    hubs[reserve(counters, HUB_COUNT, 1)] = u
                else:
                    tail = push_row(S, E, K, u, begin, end, graph, private, base + tail, True) - base
    return tail, pushed


@inline
def push_even(S, E, K, graph, private, base, tail, memory, thread, threads, number, size):
    """Claim along the arcs of an even share of all windows, put in a row: ``(tail, arcs)``.

    For small frontiers: to look what each other thread has left would take longer than the rows.
    """
    offsets = graph[0]
    room = offsets.size - 1 + SLACK
    begin, end = size * thread // threads, size * (thread + 1) // threads
    passed = pushed = np.int64(0)
    for other in range(threads):
        low, high = published(memory, other, number, LOW), published(memory, other, number, HIGH)
        first = other * room + low + max(begin - passed, np.int64(0))
        last = other * room + min(low + end - passed, high)
        for position in range(last - 1, first - 1, -1):
            if position - AHEAD >= first:
                prefetch_row(graph, private, position - AHEAD)
            if SWAPS_WAIT and position - CLAIMS_AHEAD >= first:
                prefetch_claims(S, graph, private, position - CLAIMS_AHEAD)
            u = np.int64(load(private, position))
            row, after = first_arc(offsets, u), first_arc(offsets, u + 1)
            pushed += after - row
            tail = push_row(S, E, K, u, row, after, graph, private, base + tail, True) - base
        passed += high - low
        if passed >= end:
            break
    return tail, pushed


@inline
def push_hubs(S, E, K, graph, private, base, tail, hubs, counters):
    """Claim along pieces of the rows that were too long for one thread."""
    while True:
        u, begin, end = take_piece(counters, hubs, graph[0])
        if u < 0:
            break
        tail = push_row(S, E, K, u, begin, end, graph, private, base + tail, True) - base
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
    """Claim along the arcs of one window where no other thread runs: ``(tail, arcs)``."""
    offsets = graph[0]
    pushed = np.int64(0)
    for position in range(last - 1, first - 1, -1):  # the newest is in the caches
        if position - AHEAD >= first:
            prefetch_row(graph, private, position - AHEAD)
        u = np.int64(load(private, position))
        begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
        pushed += end - begin
        tail = push_row(S, E, K, u, begin, end, graph, private, base + tail, False) - base
    return tail, pushed


@inline
def wanting_word(S, K, first, count):
    """Who of the vertices ``first .. first + count``, 64 at most, still wants a message."""
    low = high = np.uint32(0)
    if count == 64:  # halves of 32 bits fill vectors of 32-bit fields
        for b in range(32):
            low |= np.uint32(wants_settled(S, K, first + b)) << np.uint32(b)
        for b in range(32):
            high |= np.uint32(wants_settled(S, K, first + 32 + b)) << np.uint32(b)
        return np.uint64(low) | (np.uint64(high) << np.uint64(32))
    bits = np.uint64(0)
    for b in range(count):
        bits |= np.uint64(wants_settled(S, K, first + b)) << np.uint64(b)
    return bits


@inline
def list_frontier(graph, private, first, last, following, counters):
    """The frontier of all threads as one; a vertex stands in one window only, that of who claimed it. Its degrees."""
    offsets, targets, weights, in_offsets = graph
    out = inn = np.int64(0)
    at = reserve(counters, QUEUE, last - first)
    for position in range(first, last):
        v = np.int64(load(private, position))
        store(following, at + position - first, v)
        out += first_arc(offsets, v + 1) - first_arc(offsets, v)
        if in_offsets.size:
            inn += first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
    return out, inn


@inline
def to_bits(
    S, K, n, private, base, low, high, size, reachable, front, marks, wanting, memory, thread, threads, number
):  # fmt: skip
    """The queue as the bitmap ``front``, and in ``wanting`` who still wants a message; the last barrier's number.

    A frontier with more vertices than there are words is marked by each thread in a bitmap of its own: atomics on words
    that all threads write to would take longer than the level itself.
    """
    words = (n + 63) >> 6
    first, last = words * thread // threads, words * (thread + 1) // threads
    apart = threads == 1 or size > words
    mine = thread * words
    for w in range(first, last):
        store(wanting, w, wanting_word(S, K, w << 6, min(np.int64(64), n - (w << 6))) & load(reachable, w))
    if apart:
        for w in range(mine, mine + words):
            store(marks, w, np.uint64(0))
        for position in range(low, high):
            v = np.int64(load(private, base + position))
            word = mine + (v >> 6)
            store(marks, word, load(marks, word) | (BIT << np.uint64(v & 63)))
    else:
        for w in range(first, last):
            store(front, w, np.uint64(0))
    barrier(memory, thread, threads, number + 1)
    if apart:
        for w in range(first, last):
            store(front, w, load(marks, w))
        for other in range(1, threads):
            for w in range(first, last):
                store(front, w, load(front, w) | load(marks, other * words + w))
    else:
        for position in range(low, high):
            v = np.int64(load(private, base + position))
            atomic_or(front, v >> 6, BIT << np.uint64(v & 63))
    barrier(memory, thread, threads, number + 2)
    return number + 2


@inline
def prefetch_rows(wanting, w, in_offsets, sources):
    """Ask for the rows of all vertices of a word that want a message."""
    rest = load(wanting, w)
    while rest != np.uint64(0):
        prefetch(sources, first_arc(in_offsets, (w << 6) + np.int64(trailing_zeros(rest))))
        rest &= rest - BIT


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
        last = min(first + WORDS, words)
        prefetch_rows(wanting, first, in_offsets, sources)
        for w in range(first, last):
            if w + 1 < last:  # they come while this word's rows are looked through
                prefetch_rows(wanting, w + 1, in_offsets, sources)
            open_bits = load(wanting, w)
            claimed = np.uint64(0)
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
