"""Traversals in which a vertex receives one message: rows pushed from a queue.

:mod:`dromos.engines.cpu.skeletons.claiming` explains how memory is shared, and why that is correct.
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
)
from dromos.engines.cpu.skeletons.hooks import (
    claim_store,
    compute_at,
    prefetch_claim,
    wants_at,
    weight_at,
)
from dromos.intrinsics import atomic_add, load, load_relaxed, prefetch, store
from dromos.jit import LINE, inline, published

# ---- everything above is replaced by a program's own hooks

SLACK = 512  # room after a thread's section of the queue for the filter's batch, and for who wants a message
SHORT = 12  # a row up to this length is claimed arc by arc
BATCH = 256  # arcs filtered at once in a longer row
THIN = 24  # a frontier up to this size is processed by one thread: a barrier costs more than it saves
THIN_ARCS = 2048  # unless more arcs leave it
SHARE = 64  # vertices that a thread takes at a time, at most
SHARES = 4  # shares per thread, in a small frontier
EVEN = 256  # vertices per thread: up to so many, a frontier of short rows is split evenly, not dealt out
EVEN_ARCS = 8  # average arcs of a vertex in such a frontier
EVEN_THREADS = 4  # at most: one of many threads is often late, and others have to take its share
AHEAD = 4  # vertices between the request for a row and the walk along it
CLAIMS_AHEAD = 2  # likewise between prefetching the lines that its claims write to and the claims
CLAIMS = 4  # lines that are prefetched for writing, at most

# What each thread publishes before a level: its window of the frontier, its arcs, the stop flag it saw, its total of
# arcs.
LOW, HIGH, ARCS, STOPPED, SENT = range(5)


@inline
def claim(S, E, K, u, v, arc, weights, contested):
    """Give ``v`` the message along an arc, if it still wants one and no other thread is faster."""
    return claim_store(S, K, v, compute_at(S, E, K, u, v, arc, weight_at(weights, arc)), contested)


@inline
def push_row(S, E, K, u, begin, end, graph, private, tail, contested):
    """Claim along the arcs ``begin..end`` of ``u``; append claimed vertices to ``private[tail:]``; the new tail."""
    offsets, targets, weights, in_offsets = graph
    if end - begin <= SHORT:
        for arc in range(begin, end):
            v = np.int64(load(targets, arc))
            if wants_at(S, K, v) and claim(S, E, K, u, v, arc, weights, contested):
                prefetch(offsets, v)  # for the next level: frontiers of short rows tend to be small
                store(private, tail, v)
                tail += 1
    else:
        # First a filter without branches; then the claims. The filter keeps arcs, so that weights are at hand; ids and
        # arcs of a row both fit the queue's type, relative to the row. Who wants a message is read in a loop of its
        # own: a processor that lets no load pass a store whose address is not yet known would wait for each in turn.
        while begin < end:
            stop = min(end, begin + BATCH)
            wanting = tail + BATCH - begin
            for arc in range(begin, stop):
                store(private, wanting + arc, np.int64(wants_at(S, K, np.int64(load(targets, arc)))))
            kept = tail
            for arc in range(begin, stop):
                store(private, kept, arc - begin)
                kept += np.int64(load(private, wanting + arc))
            if contested:  # lines come from other cores: request all at once, instead of each when its swap needs it
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
    """Prefetch the first arcs of a vertex of the frontier."""
    offsets, targets, weights, in_offsets = graph
    prefetch(targets, first_arc(offsets, np.int64(load(private, position))))


@inline
def prefetch_claims(S, graph, private, position):
    """Prefetch the lines that claims along the first arcs of a short row write to."""
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
    """Claim along the arcs of all windows, first the own one and then the rest of others; return ``(tail, arcs)``."""
    offsets = graph[0]
    room = offsets.size - 1 + SLACK
    pushed = np.int64(0)
    for turn in range(threads):
        other = thread + turn
        if other >= threads:
            other -= threads
        last = published(memory, other, number, HIGH)
        cursor = ((number & 1) * threads + other) * LINE
        newest = other * room + published(memory, other, number, LOW) + last - 1  # cached, so it comes first
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
    """Claim along the arcs of an even share of the concatenated windows; return ``(tail, arcs)``.

    For small frontiers and few threads: no cursor is shared, and no thread takes over work of others.
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
    """Claim along the arcs of one window while no other thread runs; return ``(tail, arcs)``."""
    offsets = graph[0]
    pushed = np.int64(0)
    for position in range(last - 1, first - 1, -1):  # the newest entry is in the caches
        if position - AHEAD >= first:
            prefetch_row(graph, private, position - AHEAD)
        u = np.int64(load(private, position))
        begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
        pushed += end - begin
        tail = push_row(S, E, K, u, begin, end, graph, private, base + tail, False) - base
    return tail, pushed


@inline
def list_frontier(graph, private, first, last, following, counters):
    """List the frontier of all threads; a vertex is only in the window of its claimer. Return its degrees."""
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
