"""Asynchronous execution: a message is applied as soon as it is made, and a vertex sends its newest state.

Shared memory. A vertex is written under its lock, or by an atomic minimum if all that a message can do is to lower one
field. Other threads read single fields of it at any time (relaxed, so that no value is torn). For the programs that may
run this way an older value only means repeated work, since the thread that changed the vertex has put it into the
frontier again.

``member[v]`` is 1 while ``v`` waits in a queue. In a push, a thread that changes ``v`` writes its state, then swaps the
mark to 1; a thread that takes ``v`` swaps the mark to 0, then reads its state. Both swap, with acquire and release, and
swaps of one mark have one order. If the change comes first, the taker's swap sees it, and the taker reads the new
state. If the taker comes first, the changer's swap finds 0, and the changer puts ``v`` into a queue. Merely loading the
mark would not be enough: a processor may perform that load before its own store of the state is visible; the two
threads then miss each other, and the change is lost.
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
    IN_DEGREES,
    MESSAGES,
    ONE,
    OUT_DEGREES,
    OVERFLOWS,
    QUEUE,
    ROWS,
    append,
    first_arc,
    flush,
    lock,
    reserve,
    take_piece,
    take_work,
    unlock,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import (
    HAS_SENT,
    LOWERS,
    PRIORITY,
    SENDS_ALWAYS,
    VOTE,
    WANTS_ALWAYS,
    active_at,
    changes,
    compute_at,
    identity,
    merge,
    save_old,
    sends_at,
    sent_store,
    update_store,
    wants_at,
    weight_at,
)  # fmt: skip
from dromos.intrinsics import atomic_min, atomic_swap_acq_rel, load, load_relaxed, store_relaxed
from dromos.jit import LINE, barrier, inline, kernel

# ---- everything above is replaced by a program's own hooks

NO = np.uint8(0)


@inline
def deliver(S, O, K, locks, v, message):
    """Apply a message to ``v``; return whether that makes it active, and whether every number fitted.

    The check before the lock may see an older state. State changes monotonically, so a message that would not change
    the older one will not change the newer one; and one that would is checked again under the lock.
    """
    if LOWERS:
        values = S[PRIORITY]
        return message < load_relaxed(values, v) and message < atomic_min(values, v, message), True
    if not HAS_SENT and not changes(S, K, v, message):
        return False, True
    lock(locks, v)
    save_old(O, S, v)
    fits = update_store(S, S, K, v, message)
    active = active_at(O, S, K, v)
    unlock(locks, v)
    return active, fits


@inline
def enlist(member, everyone, following, counters, buffer, base, held, v):
    """Mark ``v`` as active, and put it into the next frontier if it is not there yet.

    A pass over everyone may still reach ``v`` itself, so it makes the next frontier from the marks at its end.
    """
    if atomic_swap_acq_rel(member, v, ONE) != ONE and not everyone:
        held = append(following, counters, QUEUE, buffer, base, held, v)
    return held


@inline
def send(
    S, O, P, E, K, locks, member, everyone, u, begin, end, targets, weights, following, counters, buffer, base, held,
    fits,
):  # fmt: skip
    """Send along the arcs ``begin..end`` of ``u``; the source's fields are read from ``P``."""
    for arc in range(begin, end):
        v = np.int64(load(targets, arc))
        if WANTS_ALWAYS or wants_at(S, K, v):
            w = weight_at(weights, arc)
            if SENDS_ALWAYS or sends_at(P, E, K, u, v, arc, w):
                active, fitted = deliver(S, O, K, locks, v, compute_at(P, E, K, u, v, arc, w))
                fits &= fitted
                if active:
                    held = enlist(member, everyone, following, counters, buffer, base, held, v)
    return held, fits


@inline
def gather(S, E, K, member, v, begin, end, sources, weights):
    """The merged message to ``v`` along its in-arcs ``begin..end`` from all marked sources, and how many sent one."""
    message = identity()
    found = 0
    for arc in range(begin, end):
        u = np.int64(load(sources, arc))
        if load_relaxed(member, u) != NO:
            w = weight_at(weights, arc)
            if SENDS_ALWAYS or sends_at(S, E, K, u, v, arc, w):
                message = merge(message, compute_at(S, E, K, u, v, arc, w))
                found += 1
                if VOTE:
                    break
    return message, found


@kernel
def push(
    thread, threads, graph, S, O, P, E, K, locks, member, everyone, queue, size, following, hubs, buffer, counters,
    memory, report,
):  # fmt: skip
    """Send from the frontier along its out-arcs.

    ``P`` is ``S`` or, if sending changes a vertex (``sent``), a copy that holds what it sends.
    """
    offsets, targets, weights, in_offsets = graph
    n = offsets.size - 1
    base = thread * BLOCK
    count = n if everyone else size
    chunk = ROWS if everyone else CHUNK
    messages = held = 0
    fits = True
    while True:
        first = take_work(counters, FIRST, chunk)
        if first >= count:
            break
        for position in range(first, min(first + chunk, count)):
            u = position if everyone else np.int64(load(queue, position))
            # A mark that is set just after this check is found by the pass over the marks, after the barrier.
            if load_relaxed(member, u) == NO or atomic_swap_acq_rel(member, u, NO) == NO:
                continue
            if HAS_SENT:
                lock(locks, u)
                save_old(P, S, u)
                fits &= sent_store(S, P, K, u)
                unlock(locks, u)
            begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
            messages += end - begin
            if end - begin > HUB:
                hubs[reserve(counters, HUB_COUNT, 1)] = u
            else:
                held, fits = send(
                    S, O, P, E, K, locks, member, everyone, u, begin, end, targets, weights, following, counters,
                    buffer, base, held, fits,
                )  # fmt: skip
    barrier(memory, thread, threads, 1)
    while True:
        u, begin, end = take_piece(counters, hubs, offsets)
        if u < 0:
            break
        held, fits = send(
            S, O, P, E, K, locks, member, everyone, u, begin, end, targets, weights, following, counters, buffer, base,
            held, fits,
        )  # fmt: skip
    if everyone:
        barrier(memory, thread, threads, 2)
        for v in range(n * thread // threads, n * (thread + 1) // threads):
            if load(member, v) != NO:
                held = append(following, counters, QUEUE, buffer, base, held, v)
    flush(following, counters, QUEUE, buffer, base, held)
    barrier(memory, thread, threads, 3)
    finish(thread, threads, offsets, in_offsets, following, counters, report, messages, fits)


@kernel
def pull(
    thread, threads, graph, in_graph, S, O, E, K, locks, member, everyone, following, buffer, counters, memory, report,
):  # fmt: skip
    """Gather messages from active sources to every vertex that wants them, and update it at once.

    A source stays active for the whole pass, since its targets pull at different times. ``member`` is 1 for the
    frontier and 2 for a vertex that was changed in this pass, which is both a source now and in the next frontier. Each
    vertex is written by the thread that took it. A thread that reads a source's mark or state too early misses nothing:
    the source is in the next frontier, and all its targets check again in the next pass. So relaxed is enough.
    """
    offsets, targets, weights, all_in_offsets = graph
    in_offsets, sources, in_weights = in_graph
    n = in_offsets.size - 1
    base = thread * BLOCK
    messages = held = 0
    fits = True
    while True:
        first = take_work(counters, FIRST, CHUNK)
        if first >= n:
            break
        for v in range(first, min(first + CHUNK, n)):
            if not WANTS_ALWAYS and not wants_at(S, K, v):
                continue
            message, found = gather(
                S, E, K, member, v, first_arc(in_offsets, v), first_arc(in_offsets, v + 1), sources, in_weights
            )
            if found:
                messages += found
                active, fitted = deliver(S, O, K, locks, v, message)
                fits &= fitted
                if active:
                    store_relaxed(member, v, np.uint8(2))
                    held = append(following, counters, QUEUE, buffer, base, held, v)
    flush(following, counters, QUEUE, buffer, base, held)
    barrier(memory, thread, threads, 1)
    for v in range(n * thread // threads, n * (thread + 1) // threads):
        member[v] = ONE if member[v] == np.uint8(2) else NO
    finish(thread, threads, offsets, all_in_offsets, following, counters, report, messages, fits)


@inline
def finish(thread, threads, offsets, in_offsets, following, counters, report, messages, fits):
    """Write the degree sums of the next frontier, and the thread's report."""
    size = load_relaxed(counters, QUEUE * LINE)
    out = inn = 0
    for position in range(size * thread // threads, size * (thread + 1) // threads):
        v = np.int64(load(following, position))
        out += first_arc(offsets, v + 1) - first_arc(offsets, v)
        if in_offsets.size:
            inn += first_arc(in_offsets, v + 1) - first_arc(in_offsets, v)
    report[thread * LINE + MESSAGES] = messages
    report[thread * LINE + OUT_DEGREES] = out
    report[thread * LINE + IN_DEGREES] = inn
    report[thread * LINE + OVERFLOWS] = 0 if fits else 1
