"""Traversals in which a vertex receives one message and is then done: BFS and its kin. One call runs many levels.

A vertex that still wants a message is claimed by the thread that reaches it first, and written in place. A level is
pushed from a queue or pulled through bitmaps. When the direction changes, one form of the frontier is made from the
other.

Shared memory. *Push*: two threads may both see ``v`` wanting, each with its own message. One compare-and-swap of the
claimed field decides: the winner writes the other fields and queues ``v``; the loser goes on. All that is written comes
from one message, and the old state that went into it is the one that the swap found, since no thread writes ``v``
before winning. Every message of a superstep is an equally correct answer. Other threads read the other fields of ``v``
only after a barrier, so the swap may be relaxed.

``private`` has a section for each thread, to which only that thread appends. A vertex is in at most one section, once,
since it is in one frontier only. A window of the section is the thread's share of the frontier, read by all after a
barrier. The same holds for a thread's own bitmap, its section of ``marks``.

*Pull*: a vertex belongs to the thread that took its word of the bitmaps; of the other words, only those of ``front``
are read. Sources are in the frontier, and a vertex in the frontier wants no message, so the fields of a source are not
written while they are read. Every decision is made from published values, so all threads pass the same barriers.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.claiming_rows import (
    ARCS,
    EVEN,
    EVEN_ARCS,
    EVEN_THREADS,
    HIGH,
    LOW,
    SENT,
    SHARE,
    SHARES,
    SLACK,
    STOPPED,
    THIN,
    THIN_ARCS,
    list_frontier,
    push_even,
    push_hubs,
    push_window,
    push_windows,
    thin_arcs,
    window_arcs,
)
from dromos.engines.cpu.skeletons.claiming_words import pull_words, to_bits, to_queue
from dromos.engines.cpu.skeletons.common import (
    FIRST,
    HUB_COUNT,
    HUBS,
    IN_DEGREES,
    MESSAGES,
    OUT_DEGREES,
    SECOND,
    STOP,
)
from dromos.intrinsics import load, load_relaxed, nanoseconds, store, store_relaxed
from dromos.jit import LINE, barrier, kernel, publish, published, total

# ---- everything above is replaced by a program's own hooks

# The rule of a traversal: a fixed direction, or switching.
PUSH, PULL, SWITCH = range(3)
LEVELS, WANTS_PULL, PULLING, UNTOUCHED = 4, 5, 6, 7  # words of a thread's report


@kernel
def traverse(
    thread, threads, graph, in_graph, S, E, in_E, K, queue, size, following, private, hubs, has_hubs,
    reachable, bits, wanting, counters, cursors, memory, rule, last, untouched, alpha, fewest, horizon, sizes, edges,
    times, pulled, report,
):  # fmt: skip
    """Run up to ``horizon`` levels from the frontier ``queue[:size]``, while it is not empty.

    ``rule`` is a direction, or ``SWITCH``: a push turns to pull when the frontier's arcs exceed those ``untouched`` by
    pushes / ``alpha``, a pull to push when the frontier has less than ``fewest`` vertices; a thin frontier is pushed.
    ``last`` is the direction of the level before, ``SWITCH`` if there was none: the first level is pushed. If the
    arrays of ``in_graph`` are empty, the traversal returns before it would pull.

    ``following`` becomes the next frontier without repetition; ``report`` has the number of levels. For the levels that
    they have room for, ``sizes`` has the size of the frontier, ``edges`` the arcs that left it, ``pulled`` the
    direction, and ``times`` the clock when the level began (0 if it was not read: a thin level takes less time than
    that).
    """
    offsets, targets, weights, in_offsets = graph
    n = offsets.size - 1
    room = n + SLACK
    base = thread * room
    can_pull = in_graph[0].size > 1
    front, back, marks = bits
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
        here = (np.int32(step),) + K[1:]  # noqa: RUF005 - kernels have no star here
        tail = high
        if is_thin:
            # one thread alone, level after level, without a barrier, until the frontier grows; not a separate function,
            # which would make the whole kernel two per cent slower
            used = np.int64(0)  # arcs of the levels after the first
            if thread == 0:
                # vertices that other threads have claimed are copied to its own window: each once, so that there is
                # room
                for other in range(1, threads):
                    for position in range(
                        published(memory, other, number, LOW), published(memory, other, number, HIGH)
                    ):
                        store(private, base + tail, load(private, other * room + position))
                        tail += 1
                arcs = total_arcs
                while True:
                    if levels < sizes.size:
                        sizes[levels] = tail - low
                        edges[levels] = arcs
                        pulled[levels] = False
                        times[levels + 1] = 0
                    end = tail
                    here = (np.int32(step),) + K[1:]  # noqa: RUF005 - kernels have no star here
                    tail, pushed = push_window(S, E, here, graph, private, base + low, base + end, base, tail)
                    sent += pushed
                    low = end
                    step += 1
                    levels += 1
                    if not 0 < tail - low <= THIN or levels >= horizon or load_relaxed(counters, STOP * LINE) != 0:
                        break
                    arcs = window_arcs(offsets, private, base + low, base + tail)
                    if arcs > THIN_ARCS:
                        break
                    used += arcs
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
            if thread == 0:  # no thread uses the other counter: all have passed the barrier after the last pull
                store_relaxed(counters, other * LINE, np.int64(0))
            if not in_bits:
                number = to_bits(
                    S, here, n, private, base, low, high, total_size, reachable, front, marks, wanting, memory,
                    thread, threads, number,
                )  # fmt: skip
                in_bits = True
                low = high
            found, looked, arcs = pull_words(S, in_E, here, graph, in_graph, front, back, wanting, counters, which)
            sent += looked
            front, back = back, front
            # the size of the frontier is published as a window without contents
            high = low + found
        else:
            if in_bits:
                # the window was only a number: list the frontier, then publish where it is
                high = to_queue(front, private, base, low, thread, threads)
                in_bits = False
                number += 1
                publish(memory, thread, number, LOW, low)
                publish(memory, thread, number, HIGH, high)
                store_relaxed(cursors, ((number & 1) * threads + thread) * LINE, low)
                barrier(memory, thread, threads, number)
                tail = high
            is_even = threads <= EVEN_THREADS and total_size <= threads * EVEN
            if rule == PUSH:  # its arcs are not counted yet
                is_even &= not has_hubs and targets.size <= EVEN_ARCS * n
            else:
                is_even &= total_arcs <= EVEN_ARCS * total_size
            if threads == 1:
                tail, pushed = push_window(S, E, here, graph, private, base + low, base + high, base, tail)
            elif is_even:
                tail, pushed = push_even(
                    S, E, here, graph, private, base, tail, memory, thread, threads, number, total_size
                )
            else:
                share = min(max(total_size // (threads * SHARES), 1), SHARE)
                tail, pushed = push_windows(
                    S, E, here, graph, private, base, tail, hubs, has_hubs, counters, cursors, memory, thread, threads,
                    number, share,
                )  # fmt: skip
            sent += pushed
            if has_hubs and threads > 1:
                number += 1
                barrier(memory, thread, threads, number)
                tail = push_hubs(S, E, here, graph, private, base, tail, hubs, counters)
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
    if in_bits:
        high = to_queue(front, private, base, low, thread, threads)
    out, inn = list_frontier(graph, private, base + low, base + high, following, counters)
    report[thread * LINE + MESSAGES] = sent
    report[thread * LINE + OUT_DEGREES] = out
    report[thread * LINE + IN_DEGREES] = inn
    report[thread * LINE + LEVELS] = levels
    report[thread * LINE + WANTS_PULL] = wants_pull
    report[thread * LINE + PULLING] = pulling
    report[thread * LINE + UNTOUCHED] = np.int64(untouched)
