"""Traversals in which a vertex receives one message and is then done, over the slices of a part: BFS and its kin.

A slice is as in ``slices``. ``wanting`` has a bit for every vertex of the graph. For the part's own vertices
(``first..last``) it means that they still want a message; for others, that they may want one and this part has not sent
one. ``front`` is the frontier of all parts as bits. A vertex is written as soon as its message arrives, since it is not
read before the superstep is over: sources are in the frontier, and want no message.

Shared memory. *Push*: the bit of ``wanting`` decides which thread gives a vertex its message. One thread clears it with
an atomic, and only that thread writes the vertex and queues it: in ``queue`` or, for the vertices of other parts, in
``away``, with the message in ``A``. *Pull*: a word of the bitmaps belongs to the thread that took it; of the other
words, only those of ``front`` are read. Slices come one after the other, so no word is shared between two of them.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.common import (
    BLOCK,
    CHUNK,
    FIRST,
    HUB,
    HUB_COUNT,
    OUT_DEGREES,
    OVERFLOWS,
    QUEUE,
    TOUCHED,
    append,
    first_arc,
    flush,
    reserve,
    take_piece,
    take_work,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import (
    compute_at,
    init_store,
    load_message,
    start_at,
    store_message,
    update_store,
    wants_at,
    weight_at,
)  # fmt: skip
from dromos.intrinsics import (
    atomic_and,
    atomic_or,
    count_bits,
    load,
    load_relaxed,
    prefetch,
    store,
    store_relaxed,
    trailing_zeros,
)  # fmt: skip
from dromos.jit import LINE, barrier, inline, kernel, publish, published

# ---- everything above is replaced by a program's own hooks

CLAIMED, OPEN_STARTS = 0, 2  # words of a thread's report
SHORT = 12  # a row up to this length is processed arc by arc
LONG = 256  # if rows are longer on average, a thread takes one word at a time in a pull
WORDS = 16  # words of 64 vertices that a thread takes at a time in a pull
BIT = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inline
def is_set(bits, v):
    """The bit of ``v``: 1 or 0."""
    return (load_relaxed(bits, v >> 6) >> np.uint64(v & 63)) & BIT


@inline
def take_bit(bits, v, contested):
    """Clear the bit of ``v``; return whether it was set. ``contested``: other threads may use the same word."""
    mask = BIT << np.uint64(v & 63)
    if contested:
        return (atomic_and(bits, v >> 6, ~mask) & mask) != np.uint64(0)
    word = load(bits, v >> 6)
    store(bits, v >> 6, word & ~mask)
    return (word & mask) != np.uint64(0)


@inline
def within(word, bits, first, last):
    """The bits of a word of a bitmap that stand for vertices of ``first..last``."""
    if (word << 6) < first:
        bits &= ALL << np.uint64(first & 63)
    if ((word + 1) << 6) > last:
        bits &= ALL >> np.uint64(((word + 1) << 6) - last)
    return bits


@kernel
def start_claims(thread, threads, first, last, own_only, S, K, offsets, wanting, lists, buffers, counters, report):
    """Set the initial state of all vertices, the wanting bits, and the first frontier: own vertices, and others'.

    ``own_only``: no function reads the fields of other parts' vertices, not even ``start``. Only those of them that are
    in the first frontier get a state, to see whether they want a message; all others are assumed to want one.
    """
    n = K[1]
    words = (n + 63) >> 6
    base = thread * BLOCK
    held = gone = out = still_open = 0
    fits = True
    for w in range(words * thread // threads, words * (thread + 1) // threads):
        end = min((w + 1) << 6, n)
        if own_only and (end <= first or (w << 6) >= last):
            starts = 0
            for v in range(w << 6, end):  # without a branch: many vertices at once
                starts += np.int64(start_at(S, K, v))
            if starts > 0:
                for v in range(w << 6, end):
                    if start_at(S, K, v):
                        fits &= init_store(S, S, K, v)
                        still_open += wants_at(S, K, v)
                        gone = append(lists[1], counters, TOUCHED, buffers[1], base, gone, v)
            store(wanting, w, within(w, ALL, 0, n))
            continue
        for v in range(w << 6, end):
            fits &= init_store(S, S, K, v)
        bits = np.uint64(0)
        for v in range(w << 6, end):
            wants = wants_at(S, K, v)
            bits |= np.uint64(wants) << np.uint64(v & 63)
            if start_at(S, K, v):
                still_open += wants
                if first <= v < last:
                    out += first_arc(offsets, v + 1) - first_arc(offsets, v)
                    held = append(lists[0], counters, QUEUE, buffers[0], base, held, v)
                else:
                    gone = append(lists[1], counters, TOUCHED, buffers[1], base, gone, v)
        store(wanting, w, bits)
    flush(lists[0], counters, QUEUE, buffers[0], base, held)
    flush(lists[1], counters, TOUCHED, buffers[1], base, gone)
    report[thread * LINE + OUT_DEGREES] = out
    report[thread * LINE + OPEN_STARTS] = still_open
    report[thread * LINE + OVERFLOWS] = 0 if fits else 1


@inline
def give(S, E, K, A, first, last, leads, u, v, arc, weights, offsets, lists, counters, buffers, base, filled):
    """Give ``v``, whose bit was taken, the message along an arc; return what the buffers hold, and the out-degrees."""
    held, gone, out = filled
    message = compute_at(S, E, K, u, v, arc, weight_at(weights, arc))
    if first <= v < last:
        update_store(S, S, K, v, message)
        out += first_arc(offsets, v + 1) - first_arc(offsets, v)
        held = append(lists[0], counters, QUEUE, buffers[0], base, held, v)
    elif leads:
        init_store(S, S, K, v)  # it may have no state here yet
        if wants_at(S, K, v):
            update_store(S, S, K, v, message)
            out += first_arc(offsets, v + 1) - first_arc(offsets, v)
            gone = append(lists[1], counters, TOUCHED, buffers[1], base, gone, v)
    else:
        store_message(A, v, message)
        gone = append(lists[1], counters, TOUCHED, buffers[1], base, gone, v)
    return held, gone, out


@inline
def push_row(
    S, E, K, A, wanting, first, last, leads, u, begin, end, ends, weights, offsets, contested, lists, counters, buffers,
    base, filled,
):  # fmt: skip
    """Send along the arcs ``begin..end`` of ``u``."""
    if end - begin <= SHORT:
        for arc in range(begin, end):
            v = np.int64(load(ends, arc))
            if is_set(wanting, v) and take_bit(wanting, v, contested):
                filled = give(
                    S, E, K, A, first, last, leads, u, v, arc, weights, offsets, lists, counters, buffers, base, filled
                )
        return filled
    # First a filter without branches, with all loads in flight at once; then the arcs that passed.
    passed = buffers[2]
    while begin < end:
        stop = min(end, begin + BLOCK)
        kept = base
        for arc in range(begin, stop):
            store(passed, kept, arc)
            kept += np.int64(is_set(wanting, np.int64(load(ends, arc))))
        for position in range(base, kept):
            arc = load(passed, position)
            v = np.int64(load(ends, arc))
            if take_bit(wanting, v, contested):
                filled = give(
                    S, E, K, A, first, last, leads, u, v, arc, weights, offsets, lists, counters, buffers, base, filled
                )
        begin = stop
    return filled


@kernel
def push_claims(
    thread, threads, piece, first, last, leads, S, E, K, A, offsets, wanting, rows, size, lists, hubs, buffers,
    counters, memory, report,
):  # fmt: skip
    """Send from the vertices ``rows[:size]`` along their arcs in a slice; ``lists`` are the queue and ``away``.

    ``leads``: this part also writes the vertices of other parts; no messages are kept.
    """
    start, row_offsets, ends, weights = piece
    shift = first_arc(row_offsets, 0)
    count = row_offsets.size - 1
    base = thread * BLOCK
    contested = threads > 1
    filled = (np.int64(0), np.int64(0), np.int64(0))
    while True:
        position = take_work(counters, FIRST, CHUNK)
        if position >= size:
            break
        for index in range(position, min(position + CHUNK, size)):
            row = np.int64(load(rows, index)) - start
            if row < 0 or row >= count:
                continue  # a vertex without arcs at an end of the part
            begin, end = first_arc(row_offsets, row) - shift, first_arc(row_offsets, row + 1) - shift
            if end - begin > HUB and contested:
                hubs[reserve(counters, HUB_COUNT, 1)] = row
            else:
                filled = push_row(
                    S, E, K, A, wanting, first, last, leads, start + row, begin, end, ends, weights, offsets,
                    contested, lists, counters, buffers, base, filled,
                )  # fmt: skip
    if contested:
        barrier(memory, thread, threads, 1)
        while True:
            row, begin, end = take_piece(counters, hubs, row_offsets)
            if row < 0:
                break
            filled = push_row(
                S, E, K, A, wanting, first, last, leads, start + row, begin - shift, end - shift, ends, weights,
                offsets, contested, lists, counters, buffers, base, filled,
            )  # fmt: skip
    flush(lists[0], counters, QUEUE, buffers[0], base, filled[0])
    flush(lists[1], counters, TOUCHED, buffers[1], base, filled[1])
    report[thread * LINE + OUT_DEGREES] = filled[2]


@kernel
def pull_claims(
    thread, threads, piece, lacks_arcs, first, last, S, E, K, A, offsets, front, wanting, following, away, buffer,
    counters, report,
):  # fmt: skip
    """Find one in-neighbor in ``front`` for every vertex of a slice that wants a message.

    ``lacks_arcs``: any row may be a piece of one; otherwise only the first and the last. Vertices of other parts get
    their message through ``A`` and ``away``, as in a push.
    """
    start, row_offsets, sources, weights = piece
    shift = first_arc(row_offsets, 0)
    count = row_offsets.size - 1
    low, high = start >> 6, (start + count + 63) >> 6
    size = 1 if sources.size > LONG * count else WORDS
    claimed = out = gone = np.int64(0)
    base = thread * BLOCK
    while True:
        taken = low + take_work(counters, FIRST, size)
        if taken >= high:
            break
        for w in range(taken, min(taken + size, high)):
            before = load(wanting, w)
            open_bits = within(w, before, start, start + count)
            rest = open_bits
            while rest != np.uint64(0):
                row = (w << 6) + np.int64(trailing_zeros(rest)) - start
                rest &= rest - BIT
                prefetch(sources, first_arc(row_offsets, row) - shift)
            found = closed = np.uint64(0)
            rest = open_bits
            while rest != np.uint64(0):
                b = trailing_zeros(rest)
                v = (w << 6) + np.int64(b)
                rest &= rest - BIT
                begin, end = first_arc(row_offsets, v - start) - shift, first_arc(row_offsets, v - start + 1) - shift
                if begin == end and not lacks_arcs and start < v < start + count - 1:
                    closed |= BIT << b  # it has no in-arcs
                for arc in range(begin, end):
                    u = np.int64(load(sources, arc))
                    if (load(front, u >> 6) >> np.uint64(u & 63)) & BIT:
                        message = compute_at(S, E, K, u, v, arc, weight_at(weights, arc))
                        if first <= v < last:
                            update_store(S, S, K, v, message)
                            found |= BIT << b
                            out += first_arc(offsets, v + 1) - first_arc(offsets, v)
                        else:
                            store_message(A, v, message)
                            closed |= BIT << b
                            gone = append(away, counters, TOUCHED, buffer, base, gone, v)
                        break
            if found | closed:
                store(wanting, w, before & ~(found | closed))
                store(following, w, load(following, w) | found)
                claimed += np.int64(count_bits(found))
    flush(away, counters, TOUCHED, buffer, base, gone)
    report[thread * LINE + CLAIMED] = claimed
    report[thread * LINE + OUT_DEGREES] = out


@kernel
def receive_claims(thread, threads, ids, messages, S, K, offsets, wanting, queue, buffer, counters, report):
    """Apply other parts' messages to own vertices, at most one per vertex: ``messages[i]`` is for ``ids[i]``."""
    contested = threads > 1
    base = thread * BLOCK
    held = out = 0
    for index in range(ids.size * thread // threads, ids.size * (thread + 1) // threads):
        v = np.int64(load(ids, index))
        if is_set(wanting, v) and take_bit(wanting, v, contested):
            update_store(S, S, K, v, load_message(messages, index))
            out += first_arc(offsets, v + 1) - first_arc(offsets, v)
            held = append(queue, counters, QUEUE, buffer, base, held, v)
    flush(queue, counters, QUEUE, buffer, base, held)
    report[thread * LINE + OUT_DEGREES] = out


@kernel
def take_marks(thread, threads, first, last, marks, front, wanting):
    """Copy the frontier of the part of ``first..last`` from ``marks``; vertices in it want no message."""
    low = first >> 6
    for index in range(marks.size * thread // threads, marks.size * (thread + 1) // threads):
        w, word = low + index, load(marks, index)
        others = load(front, w) & ~within(w, ALL, first, last)  # at an end
        store(front, w, others | word)
        store(wanting, w, load(wanting, w) & ~word)


@kernel
def to_bits(thread, threads, ids, bits):
    """Set the bits of a list of vertices."""
    for index in range(ids.size * thread // threads, ids.size * (thread + 1) // threads):
        v = np.int64(load(ids, index))
        mask = BIT << np.uint64(v & 63)
        if threads > 1:
            atomic_or(bits, v >> 6, mask)
        else:
            store_relaxed(bits, v >> 6, load_relaxed(bits, v >> 6) | mask)


@kernel
def to_list(thread, threads, bits, first, last, ids, memory, report):
    """The vertices of ``first..last`` whose bits are set, ascending."""
    low, high = first >> 6, (last + 63) >> 6
    begin, end = low + (high - low) * thread // threads, low + (high - low) * (thread + 1) // threads
    count = np.int64(0)
    for w in range(begin, end):
        count += np.int64(count_bits(within(w, load(bits, w), first, last)))
    publish(memory, thread, 1, 0, count)
    barrier(memory, thread, threads, 1)
    at = np.int64(0)
    for other in range(thread):
        at += published(memory, other, 1, 0)
    for w in range(begin, end):
        rest = within(w, load(bits, w), first, last)
        while rest != np.uint64(0):
            store(ids, at, (w << 6) + np.int64(trailing_zeros(rest)))
            rest &= rest - BIT
            at += 1
    report[thread * LINE + CLAIMED] = count
