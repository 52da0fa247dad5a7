"""The halves of a superstep on a part of a graph: messages along the arcs of a slice, then the part's own vertices.

A slice is ``(start, offsets, ends, weights)``: row ``r`` is that of vertex ``start + r``, and begins at ``offsets[r] -
offsets[0]``. It may hold a piece of a row, so a vertex may have a message from an earlier slice. ``first..last`` are
the part's own vertices; fields of other vertices are copies. ``got[v] == 1`` marks vertices that got a message, and
``member[v] == 1`` vertices of the frontier. The caller clears both between kernels.
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
    MESSAGES,
    ONE,
    OVERFLOWS,
    QUEUE,
    ROWS,
    SECOND,
    STOP,
    TOUCHED,
    append,
    first_arc,
    flush,
    reserve,
    take_piece,
    take_work,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import (
    ALWAYS_ACTIVE,
    HAS_REDUCTIONS,
    HAS_SENT,
    OFFERED,
    REVISITS,
    SENDS_ALWAYS,
    UPDATE_ALL,
    VOTE,
    WANTS_ALWAYS,
    WANTS_DECLARED,
    active_at,
    active_from,
    compute_at,
    edge_init_store,
    edge_update_store,
    identity,
    init_store,
    load_message,
    merge,
    merge_shared,
    old_values,
    reduce_fold,
    reduce_fold_from,
    reduce_start,
    reduce_store,
    save_old,
    sends_at,
    sent_store,
    start_at,
    store_message,
    update_store,
    wants_at,
    weight_at,
    weight_one,
)  # fmt: skip
from dromos.engines.cpu.skeletons.offers import gather_offers
from dromos.engines.cpu.skeletons.supersteps import gather
from dromos.intrinsics import atomic_swap, load, load_relaxed
from dromos.jit import LINE, barrier, inline, kernel

# ---- everything above is replaced by a program's own hooks

LONG = 256  # average row length from which a pull deals out rows one by one
SPAN = 1 << 16  # sources of a tile
SEGMENT = 12  # arcs that cost as much as moving on to the next segment
SUMMED = 4096  # vertices whose reductions are folded together, whatever the number of threads


@inline
def reduce_block(O, S, K, first, last, block, sums):
    """Fold the reductions over one block of the own vertices."""
    R = reduce_start()
    for v in range(first + block * SUMMED, min(first + (block + 1) * SUMMED, last)):
        R = reduce_fold(R, O, S, K, v)
    reduce_store(R, sums, block)


@kernel
def start_part(thread, threads, first, last, S, K, queue, buffer, counters, memory, report, sums):
    """Set the initial state of all vertices; compute the first frontier and the reductions of the own vertices."""
    n = K[1]
    base = thread * BLOCK
    held = 0
    fits = True
    for v in range(n * thread // threads, n * (thread + 1) // threads):
        fits &= init_store(S, S, K, v)
    barrier(memory, thread, threads, 1)
    if not ALWAYS_ACTIVE:
        count = last - first
        for v in range(first + count * thread // threads, first + count * (thread + 1) // threads):
            if start_at(S, K, v):
                held = append(queue, counters, QUEUE, buffer, base, held, v)
    flush(queue, counters, QUEUE, buffer, base, held)
    if HAS_REDUCTIONS:
        for block in range(thread, (last - first + SUMMED - 1) // SUMMED, threads):
            reduce_block(S, S, K, first, last, block, sums)
    report[thread * LINE + OVERFLOWS] = 0 if fits else 1


@kernel
def list_wanting(thread, threads, first, last, S, K, found):
    """Find the own vertices that can still use a message."""
    count = last - first
    for v in range(first + count * thread // threads, first + count * (thread + 1) // threads):
        found[v - first] = WANTS_ALWAYS or wants_at(S, K, v)


@inline
def is_wanted(S, K, first, last, v):
    """Whether ``v`` can use a message; unless declared, always for other parts' vertices: copies may be outdated."""
    return WANTS_ALWAYS or (not WANTS_DECLARED and (v < first or v >= last)) or wants_at(S, K, v)


@inline
def push_row(S, E, K, A, locks, got, first, last, u, begin, end, ends, weights, listed, touched, counters, buffer, base,
             held):  # fmt: skip
    """Send along the arcs ``begin..end`` of ``u``; return the number of buffered vertices, and of messages."""
    sent = 0
    for arc in range(begin, end):
        v = np.int64(load(ends, arc))
        if VOTE and listed and load_relaxed(got, v) == ONE:
            continue  # one message is as good as all; it was merged before the mark was set
        if is_wanted(S, K, first, last, v):
            w = weight_at(weights, arc)
            if SENDS_ALWAYS or sends_at(S, E, K, u, v, arc, w):
                merge_shared(A, locks, v, compute_at(S, E, K, u, v, arc, w))
                sent += 1
                if listed and load_relaxed(got, v) != ONE and atomic_swap(got, v, ONE) != ONE:
                    held = append(touched, counters, TOUCHED, buffer, base, held, v)
    return held, sent


@kernel
def push_slice(
    thread, threads, piece, first, last, S, E, K, A, locks, got, everyone, rows, size, listed, touched, hubs, buffer,
    counters, memory, report,
):  # fmt: skip
    """Send from the active own vertices (``rows``, or all if ``everyone``) along the out-arcs of a slice."""
    start, offsets, ends, weights = piece
    shift = first_arc(offsets, 0)
    base = thread * BLOCK
    count = offsets.size - 1 if everyone else size
    chunk = ROWS if everyone else CHUNK
    messages = held = 0
    while True:
        position = take_work(counters, FIRST, chunk)
        if position >= count:
            break
        for index in range(position, min(position + chunk, count)):
            row = index if everyone else np.int64(load(rows, index)) - start
            begin, end = first_arc(offsets, row) - shift, first_arc(offsets, row + 1) - shift
            if end - begin > HUB:
                hubs[reserve(counters, HUB_COUNT, 1)] = row
            else:
                held, sent = push_row(
                    S, E, K, A, locks, got, first, last, start + row, begin, end, ends, weights, listed, touched,
                    counters, buffer, base, held,
                )  # fmt: skip
                messages += sent
    barrier(memory, thread, threads, 1)
    while True:
        row, begin, end = take_piece(counters, hubs, offsets)
        if row < 0:
            break
        held, sent = push_row(
            S, E, K, A, locks, got, first, last, start + row, begin - shift, end - shift, ends, weights, listed,
            touched, counters, buffer, base, held,
        )  # fmt: skip
        messages += sent
    flush(touched, counters, TOUCHED, buffer, base, held)
    report[thread * LINE + MESSAGES] = messages


@kernel
def make_offers(thread, threads, first, last, S, E, K, member, offers):
    """Compute the messages of ``first..last`` if they depend on their source alone; the identity if there is none."""
    count = last - first
    for u in range(first + count * thread // threads, first + count * (thread + 1) // threads):
        if ALWAYS_ACTIVE or load(member, u) == ONE:
            store_message(offers, u, compute_at(S, E, K, u, u, np.int64(0), weight_one()))
        else:
            store_message(offers, u, identity())


@kernel
def pull_slice(
    thread, threads, piece, first, last, S, E, K, A, got, member, offers, far, touched, buffer, counters, report
):
    """Gather messages to the vertices that want them along the in-arcs of a slice; each row belongs to one thread.

    ``far``: the offers do not fit in a core's cache. If all vertices are updated, the own vertices that got a message
    need not be listed.
    """
    start, offsets, ends, weights = piece
    shift = first_arc(offsets, 0)
    base = thread * BLOCK
    count = offsets.size - 1
    chunk = 1 if ends.size > LONG * count else CHUNK  # a few hubs may have more arcs than a thread's share
    messages = held = 0
    while True:
        position = take_work(counters, FIRST, chunk)
        if position >= count:
            break
        for row in range(position, min(position + chunk, count)):
            v = start + row
            before = load(got, v) == ONE
            if (VOTE and before) or not is_wanted(S, K, first, last, v):
                continue
            begin, end = first_arc(offsets, row) - shift, first_arc(offsets, row + 1) - shift
            if OFFERED:
                message, found = gather_offers(offers, ends, np.int64(0), begin, end, far), end - begin
                if not UPDATE_ALL and message == identity():
                    found = 0  # it would change nothing
            else:
                message, found = gather(S, E, K, member, ONE, v, begin, end, ends, weights)
            if found:
                messages += found
                store_message(A, v, merge(load_message(A, v), message) if before or UPDATE_ALL else message)
                if not before and (not UPDATE_ALL or v < first or v >= last):
                    got[v] = ONE
                    held = append(touched, counters, TOUCHED, buffer, base, held, v)
    flush(touched, counters, TOUCHED, buffer, base, held)
    report[thread * LINE + MESSAGES] = messages


@inline
def segment_at(starts, thread, threads):
    """The first segment of a thread, for an even share of the work: a segment costs as much as some arcs."""
    low, high = np.int64(0), np.int64(starts.size - 1)
    work = (np.int64(load(starts, high)) + SEGMENT * high) * thread // threads
    while low < high:
        middle = (low + high) >> 1
        if np.int64(load(starts, middle)) + SEGMENT * middle < work:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def pull_tiles(thread, threads, start, offsets, tiles, first, last, S, K, A, got, offers, sums, touched, buffer,
               counters, memory, report):  # fmt: skip
    """As ``pull_slice`` for offers, along rows that are split into tiles of sources.

    Each thread takes an equal share of consecutive segments and gathers into its own ``sums``; then each row belongs to
    one thread. So the order of a row's messages depends only on the number of threads.
    """
    rows, starts, sources = tiles
    own = thread * rows
    for row in range(rows):
        store_message(sums, own + row, identity())
    segment, stop = segment_at(starts, thread, threads), segment_at(starts, thread + 1, threads)
    row = segment % rows
    base = segment // rows * SPAN
    begin = np.int64(load(starts, segment))
    while segment < stop:
        end = np.int64(load(starts, segment + 1))
        if begin < end:
            message = gather_offers(offers, sources, base, begin, end, False)
            store_message(sums, own + row, merge(load_message(sums, own + row), message))
        begin = end
        segment += 1
        row += 1
        if row == rows:
            row = 0
            base += SPAN
            if load_relaxed(counters, STOP * LINE) != 0:
                break
    barrier(memory, thread, threads, 1)
    at = thread * BLOCK
    held = messages = 0
    for row in range(rows * thread // threads, rows * (thread + 1) // threads):
        v = start + row
        before = load(got, v) == ONE
        found = first_arc(offsets, row + 1) - first_arc(offsets, row)
        if found == 0 or (VOTE and before) or not is_wanted(S, K, first, last, v):
            continue
        message = load_message(sums, row)
        for other in range(1, threads):
            message = merge(message, load_message(sums, other * rows + row))
        if not UPDATE_ALL and message == identity():
            continue  # it would change nothing
        messages += found
        store_message(A, v, merge(load_message(A, v), message) if before or UPDATE_ALL else message)
        if not before and (not UPDATE_ALL or v < first or v >= last):
            got[v] = ONE
            held = append(touched, counters, TOUCHED, buffer, at, held, v)
    flush(touched, counters, TOUCHED, buffer, at, held)
    report[thread * LINE + MESSAGES] = messages


@kernel
def settle_part(
    thread, threads, first, last, S, O, K, A, got, member, queue, size, touched, count, following, buffer, counters,
    memory, report, sums,
):  # fmt: skip
    """After the messages: apply ``sent``, update states, and make the next frontier.

    ``queue`` is the frontier (also in ``member``, with ``sent``), ``touched`` the vertices that got a message; all own.
    ``O`` has room for the old state, unless all vertices are updated, and there is no ``sent``.
    """
    base = thread * BLOCK
    held = 0
    fits = True
    own = last - first
    if HAS_REDUCTIONS and not UPDATE_ALL:
        for v in range(first + own * thread // threads, first + own * (thread + 1) // threads):
            save_old(O, S, v)
        barrier(memory, thread, threads, 1)
    if HAS_SENT or REVISITS:
        senders = own if ALWAYS_ACTIVE else size
        while True:
            position = take_work(counters, FIRST, CHUNK)
            if position >= senders:
                break
            for index in range(position, min(position + CHUNK, senders)):
                u = first + index if ALWAYS_ACTIVE else np.int64(load(queue, index))
                if HAS_SENT:
                    save_old(O, S, u)
                    fits &= sent_store(S, O, K, u)
                if not UPDATE_ALL and not ALWAYS_ACTIVE and load(got, u) != ONE:
                    if not HAS_SENT:
                        save_old(O, S, u)
                    if active_at(O, S, K, u):
                        held = append(following, counters, QUEUE, buffer, base, held, u)
    if HAS_SENT:
        barrier(memory, thread, threads, 2)
    changed = own if UPDATE_ALL else count
    chunk = SUMMED if UPDATE_ALL and HAS_REDUCTIONS else CHUNK
    while True:
        position = take_work(counters, SECOND, chunk)
        if position >= changed:
            break
        R = reduce_start()
        for index in range(position, min(position + chunk, changed)):
            v = first + index if UPDATE_ALL else np.int64(load(touched, index))
            if UPDATE_ALL and not HAS_SENT:  # nobody else reads its old state, so that needs no memory
                before = old_values(S, v)
                fits &= update_store(S, S, K, v, load_message(A, v))
                if not ALWAYS_ACTIVE and active_from(before, S, K, v):
                    held = append(following, counters, QUEUE, buffer, base, held, v)
                if HAS_REDUCTIONS:
                    R = reduce_fold_from(R, before, S, K, v)
            else:
                if not (HAS_SENT and (ALWAYS_ACTIVE or load(member, v) == ONE)):
                    save_old(O, S, v)
                fits &= update_store(S, S, K, v, load_message(A, v))
                if not ALWAYS_ACTIVE and active_at(O, S, K, v):
                    held = append(following, counters, QUEUE, buffer, base, held, v)
            store_message(A, v, identity())
        if UPDATE_ALL and HAS_REDUCTIONS:
            if HAS_SENT:  # while all of it is in the cache
                reduce_block(O, S, K, first, last, position // SUMMED, sums)
            else:
                reduce_store(R, sums, position // SUMMED)
    flush(following, counters, QUEUE, buffer, base, held)
    if HAS_REDUCTIONS and not UPDATE_ALL:
        barrier(memory, thread, threads, 3)
        for block in range(thread, (own + SUMMED - 1) // SUMMED, threads):
            reduce_block(O, S, K, first, last, block, sums)
    report[thread * LINE + OVERFLOWS] = 0 if fits else 1


@kernel
def start_edges(thread, threads, piece, S, E, K, report):
    """Set the initial values of the edge fields of a slice."""
    start, offsets, ends, weights = piece
    shift = first_arc(offsets, 0)
    count = offsets.size - 1
    fits = True
    for row in range(count * thread // threads, count * (thread + 1) // threads):
        for arc in range(first_arc(offsets, row) - shift, first_arc(offsets, row + 1) - shift):
            w = weight_at(weights, arc)
            fits &= edge_init_store(E, S, E, K, start + row, np.int64(load(ends, arc)), arc, w)
    report[thread * LINE + OVERFLOWS] = 0 if fits else 1


@kernel
def write_edges(thread, threads, piece, first, last, S, O, E, K, everyone, rows, size, report):
    """Write the edge fields of a slice along the arcs from ``rows`` (or all), given the previous fields ``O``."""
    start, offsets, ends, weights = piece
    shift = first_arc(offsets, 0)
    count = offsets.size - 1 if everyone else size
    fits = True
    for index in range(count * thread // threads, count * (thread + 1) // threads):
        row = index if everyone else np.int64(load(rows, index)) - start
        u = start + row
        for arc in range(first_arc(offsets, row) - shift, first_arc(offsets, row + 1) - shift):
            v = np.int64(load(ends, arc))
            w = weight_at(weights, arc)
            if is_wanted(O, K, first, last, v) and (SENDS_ALWAYS or sends_at(O, E, K, u, v, arc, w)):
                fits &= edge_update_store(E, S, E, K, u, v, arc, w)
    report[thread * LINE + OVERFLOWS] = 0 if fits else 1
