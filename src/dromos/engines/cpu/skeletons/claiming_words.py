"""Traversals in which a vertex receives one message: words of a bitmap pulled, and conversions of queue and bitmap.

:mod:`dromos.engines.cpu.skeletons.claiming` explains how memory is shared, and why that is correct.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.claiming_rows import claim
from dromos.engines.cpu.skeletons.common import first_arc, take_work
from dromos.engines.cpu.skeletons.hooks import wants_settled
from dromos.intrinsics import atomic_or, count_bits, load, prefetch, store, trailing_zeros
from dromos.jit import barrier, inline

# ---- everything above is replaced by a program's own hooks

WORDS = 16  # words of 64 vertices that a thread takes at a time in a pull
BIT = np.uint64(1)


@inline
def wanting_word(S, K, first, count):
    """The bits of the vertices ``first .. first + count``, 64 at most, that still want a message."""
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
def to_bits(
    S, K, n, private, base, low, high, size, reachable, front, marks, wanting, memory, thread, threads, number
):  # fmt: skip
    """Convert the queue to the bitmap ``front``, and set the bits of ``wanting``; return the last barrier's number.

    If a frontier has more vertices than there are words, each thread marks its share in its own bitmap: atomics on
    words that all threads write would take longer than the level itself.
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
    """Prefetch the rows of all vertices of a word that want a message."""
    rest = load(wanting, w)
    while rest != np.uint64(0):
        prefetch(sources, first_arc(in_offsets, (w << 6) + np.int64(trailing_zeros(rest))))
        rest &= rest - BIT


@inline
def pull_words(S, E, K, graph, in_graph, front, following, wanting, counters, which):
    """Find one in-neighbor in ``front`` for every vertex that wants a message: ``(found, arcs looked at, arcs)``.

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
            if w + 1 < last:  # they arrive while this word's rows are processed
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
    """List a thread's share of the bitmap ``front`` in ``private`` from ``tail`` on; return the new tail."""
    words = front.size
    for w in range(words * thread // threads, words * (thread + 1) // threads):
        rest = load(front, w)
        while rest != np.uint64(0):
            store(private, base + tail, (w << 6) + np.int64(trailing_zeros(rest)))
            rest &= rest - BIT
            tail += 1
    return tail
