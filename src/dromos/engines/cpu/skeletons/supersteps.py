"""One synchronous superstep, pushed or pulled: the general form that every program can take.

Shared memory. In the message phase the fields are only read; messages are merged into ``A`` by atomics or under
``locks``. ``load(got, v) == stamp`` marks vertices that got a message in this superstep; the thread that sets the mark
first puts ``v`` into ``touched``. Phases are separated by a barrier. In the settling phase each vertex belongs to one
thread. ``load(member, v) == stamp`` marks the frontier of this superstep, ``stamp + 1`` that of the next (stamps wrap
around; the caller clears the marks before they do). Both marks only decide which thread queues a vertex. The data that
they announce is read after a barrier, so relaxed is enough.

Reductions are folded in blocks of ``FOLD`` vertices, each into its own place of ``sums``. The caller folds those in
order, so the result does not depend on which thread took which vertices.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.common import (
    BLOCK,
    CHUNK,
    FIRST,
    FOLD,
    HUB,
    HUB_COUNT,
    IN_DEGREES,
    MESSAGES,
    OUT_DEGREES,
    OVERFLOWS,
    QUEUE,
    ROWS,
    SECOND,
    THIRD,
    TOUCHED,
    append,
    first_arc,
    flush,
    fold_share,
    reserve,
    take_piece,
    take_work,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import (
    ALWAYS_ACTIVE,
    HAS_EDGE_FIELDS,
    HAS_REDUCTIONS,
    HAS_SENT,
    REVISITS,
    SENDS_ALWAYS,
    UPDATE_ALL,
    VOTE,
    WANTS_ALWAYS,
    active_at,
    compute_at,
    edge_init_store,
    edge_update_store,
    identity,
    init_store,
    load_message,
    merge,
    merge_shared,
    reduce_fold,
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
)  # fmt: skip
from dromos.intrinsics import atomic_swap, load, load_relaxed, store, store_relaxed
from dromos.jit import LINE, barrier, inline, kernel

# ---- everything above is replaced by a program's own hooks


@inline
def fold_range(O, S, K, first, last, sums):
    """Fold the reductions over the vertices ``first..last``, block by block."""
    for block in range(first, last, FOLD):
        R = reduce_start()
        for v in range(block, min(block + FOLD, last)):
            R = reduce_fold(R, O, S, K, v)
        reduce_store(R, sums, block // FOLD)


@kernel
def initialise(thread, threads, graph, S, E, K, member, stamp, queue, buffer, counters, memory, report, sums):
    """Set the initial state, first frontier and reductions. If all vertices are always active, there is no queue and no
    ``member``; an empty ``member`` is not written either."""
    offsets, targets, weights, in_offsets = graph
    n = offsets.size - 1
    first, last = fold_share(thread, threads, n)
    held = 0
    base = thread * BLOCK
    fits = True
    for v in range(first, last):
        fits &= init_store(S, S, K, v)
    out = inn = 0
    if HAS_REDUCTIONS:
        fold_range(S, S, K, first, last, sums)
    if not ALWAYS_ACTIVE and member.size > 0:  # a separate loop has no branch in it
        for v in range(first, last):
            store(member, v, stamp if start_at(S, K, v) else np.uint8(0))
    for block in range(first, first if ALWAYS_ACTIVE else last, FOLD):
        stop = min(block + FOLD, last)
        some = False
        for v in range(block, stop):  # few may start: check without a branch
            some |= start_at(S, K, v)
        for v in range(block, stop if some else block):
            if start_at(S, K, v):
                held = append(queue, counters, QUEUE, buffer, base, held, v)
                out += first_arc(offsets, v + 1) - first_arc(offsets, v)
                if in_offsets.size:
                    inn += first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
    if HAS_EDGE_FIELDS:
        barrier(memory, thread, threads, 1)  # an arc reads both of its ends
        for v in range(first, last):
            for arc in range(first_arc(offsets, v), first_arc(offsets, v + 1)):
                edge_init_store(E, S, E, K, v, np.int64(load(targets, arc)), arc, weight_at(weights, arc))
    flush(queue, counters, QUEUE, buffer, base, held)
    report[thread * LINE + OUT_DEGREES] = out
    report[thread * LINE + IN_DEGREES] = inn
    report[thread * LINE + OVERFLOWS] = 0 if fits else 1


@inline
def push_arcs(S, E, K, A, locks, got, stamp, u, begin, end, targets, weights, touched, counters, buffer, base, held):
    """Send along the arcs ``begin..end`` of ``u``; return the number of buffered touched vertices."""
    for arc in range(begin, end):
        v = np.int64(load(targets, arc))
        if WANTS_ALWAYS or wants_at(S, K, v):
            w = weight_at(weights, arc)
            if SENDS_ALWAYS or sends_at(S, E, K, u, v, arc, w):
                merge_shared(A, locks, v, compute_at(S, E, K, u, v, arc, w))
                if load_relaxed(got, v) != stamp and atomic_swap(got, v, stamp) != stamp and not UPDATE_ALL:
                    held = append(touched, counters, TOUCHED, buffer, base, held, v)
    return held


@kernel
def push(
    thread, threads, graph, S, O, E, K, A, locks, got, member, stamp, everyone, queue, size, touched, following, hubs,
    buffer, counters, memory, report, sums,
):  # fmt: skip
    """Send from the frontier along its out-arcs. ``everyone``: pass over all vertices instead of the queue.

    With edge fields only if all vertices send: when edges are written, ``member`` no longer tells which vertices sent.
    """
    offsets, targets, weights, in_offsets = graph
    n = offsets.size - 1
    base = thread * BLOCK
    count = n if everyone else size
    chunk = ROWS if everyone else CHUNK
    messages = held = 0
    if HAS_EDGE_FIELDS or (HAS_REDUCTIONS and not UPDATE_ALL):
        for v in range(n * thread // threads, n * (thread + 1) // threads):
            save_old(O, S, v)
    while True:
        first = take_work(counters, FIRST, chunk)
        if first >= count:
            break
        for position in range(first, min(first + chunk, count)):
            u = position if everyone else np.int64(load(queue, position))
            if everyone and not ALWAYS_ACTIVE and load(member, u) != stamp:
                continue
            begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
            messages += end - begin
            if end - begin > HUB:
                hubs[reserve(counters, HUB_COUNT, 1)] = u
            else:
                held = push_arcs(
                    S, E, K, A, locks, got, stamp, u, begin, end, targets, weights, touched, counters, buffer, base,
                    held,
                )  # fmt: skip
    barrier(memory, thread, threads, 1)
    while True:
        u, begin, end = take_piece(counters, hubs, offsets)
        if u < 0:
            break
        held = push_arcs(
            S, E, K, A, locks, got, stamp, u, begin, end, targets, weights, touched, counters, buffer, base, held
        )  # fmt: skip
    flush(touched, counters, TOUCHED, buffer, base, held)
    report[thread * LINE + MESSAGES] = messages
    barrier(memory, thread, threads, 2)
    settle(
        thread, threads, graph, S, O, E, K, A, got, member, stamp, everyone, queue, size, touched, following, buffer,
        counters, memory, report, sums,
    )  # fmt: skip


@inline
def settle(
    thread, threads, graph, S, O, E, K, A, got, member, stamp, everyone, queue, size, touched, following, buffer,
    counters, memory, report, sums,
):  # fmt: skip
    """After the messages: apply ``sent``, update states, and make the next frontier."""
    offsets, targets, weights, in_offsets = graph
    n = offsets.size - 1
    base = thread * BLOCK
    count = n if everyone else size
    chunk = ROWS if everyone else CHUNK
    following_stamp = np.uint8(stamp + np.uint8(1))
    fits = True
    held = out = inn = 0
    if HAS_SENT or REVISITS:
        while True:
            first = take_work(counters, SECOND, chunk)
            if first >= count:
                break
            for position in range(first, min(first + chunk, count)):
                u = position if everyone else np.int64(load(queue, position))
                # A vertex that also got a message may be stamped just now by another thread: it is skipped either way.
                if everyone and not ALWAYS_ACTIVE and load_relaxed(member, u) != stamp:
                    continue
                if HAS_SENT:
                    save_old(O, S, u)
                    fits &= sent_store(S, O, K, u)
                if not UPDATE_ALL and not ALWAYS_ACTIVE and load(got, u) != stamp:
                    if not HAS_SENT:
                        save_old(O, S, u)
                    if active_at(O, S, K, u):
                        member[u] = following_stamp
                        held = append(following, counters, QUEUE, buffer, base, held, u)
                        out += first_arc(offsets, u + 1) - first_arc(offsets, u)
                        if in_offsets.size:
                            inn += first_arc(in_offsets, u + 1) - first_arc(in_offsets, u)
    if HAS_SENT:
        barrier(memory, thread, threads, 3)
    changed = n if UPDATE_ALL else load_relaxed(counters, TOUCHED * LINE)
    chunk = ROWS if UPDATE_ALL else CHUNK
    while True:
        first = take_work(counters, THIRD, chunk)
        if first >= changed:
            break
        for position in range(first, min(first + chunk, changed)):
            v = position if UPDATE_ALL else np.int64(load(touched, position))
            if not (HAS_SENT and (ALWAYS_ACTIVE or load(member, v) == stamp)):
                save_old(O, S, v)
            fits &= update_store(S, S, K, v, load_message(A, v))
            store_message(A, v, identity())
            if not ALWAYS_ACTIVE and active_at(O, S, K, v):
                store_relaxed(member, v, following_stamp)
                held = append(following, counters, QUEUE, buffer, base, held, v)
                out += first_arc(offsets, v + 1) - first_arc(offsets, v)
                if in_offsets.size:
                    inn += first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
        if HAS_REDUCTIONS and UPDATE_ALL:
            fold_range(O, S, K, first, min(first + chunk, changed), sums)
    flush(following, counters, QUEUE, buffer, base, held)
    if HAS_EDGE_FIELDS:
        barrier(memory, thread, threads, 4)
        for position in range(count * thread // threads, count * (thread + 1) // threads):
            u = position if everyone else np.int64(load(queue, position))
            for arc in range(first_arc(offsets, u), first_arc(offsets, u + 1)):
                v = np.int64(load(targets, arc))
                w = weight_at(weights, arc)
                if (WANTS_ALWAYS or wants_at(O, K, v)) and (SENDS_ALWAYS or sends_at(O, E, K, u, v, arc, w)):
                    fits &= edge_update_store(E, S, E, K, u, v, arc, w)
    if HAS_REDUCTIONS and not UPDATE_ALL:
        barrier(memory, thread, threads, 5)
        first, last = fold_share(thread, threads, n)
        fold_range(O, S, K, first, last, sums)
    report[thread * LINE + OUT_DEGREES] = out
    report[thread * LINE + IN_DEGREES] = inn
    report[thread * LINE + OVERFLOWS] = 0 if fits else 1


@inline
def gather(S, E, K, member, stamp, v, begin, end, sources, weights):
    """The merged message from the in-arcs ``begin..end`` of ``v``, and the number of messages."""
    message = identity()
    found = 0
    for arc in range(begin, end):
        u = np.int64(load(sources, arc))
        if ALWAYS_ACTIVE or load(member, u) == stamp:
            w = weight_at(weights, arc)
            if SENDS_ALWAYS or sends_at(S, E, K, u, v, arc, w):
                message = merge(message, compute_at(S, E, K, u, v, arc, w))
                found += 1
                if VOTE:
                    break
    return message, found


@kernel
def pull(
    thread, threads, graph, in_graph, S, O, E, K, A, got, member, stamp, everyone, queue, size, touched, following,
    buffer, counters, memory, report, sums,
):  # fmt: skip
    """Gather messages from the frontier to every vertex that wants them, along its in-arcs; no atomics.

    ``touched`` are the vertices that got one; ``everyone``: the frontier is only in ``member``.
    """
    in_offsets, sources, in_weights = in_graph
    n = in_offsets.size - 1
    base = thread * BLOCK
    messages = held = 0
    if HAS_REDUCTIONS and not UPDATE_ALL:
        for v in range(n * thread // threads, n * (thread + 1) // threads):
            save_old(O, S, v)
    while True:
        first = take_work(counters, FIRST, CHUNK)
        if first >= n:
            break
        for v in range(first, min(first + CHUNK, n)):
            if not WANTS_ALWAYS and not wants_at(S, K, v):
                continue
            message, found = gather(
                S, E, K, member, stamp, v, first_arc(in_offsets, v), first_arc(in_offsets, v + 1), sources, in_weights
            )
            if found:
                messages += found
                store_message(A, v, message)
                got[v] = stamp
                if not UPDATE_ALL:
                    held = append(touched, counters, TOUCHED, buffer, base, held, v)
    flush(touched, counters, TOUCHED, buffer, base, held)
    report[thread * LINE + MESSAGES] = messages
    barrier(memory, thread, threads, 1)
    settle(
        thread, threads, graph, S, O, E, K, A, got, member, stamp, everyone, queue, size, touched, following, buffer,
        counters, memory, report, sums,
    )  # fmt: skip
