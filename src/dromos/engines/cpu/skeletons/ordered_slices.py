"""Relaxation in the order of a field on a part of a graph: delta-stepping over parts, for programs as in ``ordered``.

Values below ``limit`` are *near*: the part's own vertices propagate them until none is left, without an exchange. Other
vertices wait in ``far``. Values of other parts' vertices are copies: a thread that lowers one puts the vertex into
``away``, and the owner gets the lowest value when all near vertices are done.

*Shared*: all parts have the field and the marks in one memory, so a value is lowered in place and never sent. ``away``
then holds the vertices that were marked for another part, ``v`` as far and ``-1 - v`` as near, and only these are sent
to the owner.

Shared memory. The field is read by all threads and lowered by an atomic minimum. ``marks[v]``: in no list (0), in
``far`` or ``away`` (1), in a list of near vertices (2). A value is lowered before its mark is swapped, and read after
its mark was swapped back, both with acquire and release: the later swap sees what the earlier thread wrote, so no value
is missed. A vertex that was near is never far again, since limits rise and values fall; its old entry in ``far`` is
dropped because of its mark.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.common import (
    BLOCK,
    CHUNK,
    FIRST,
    QUEUE,
    THIRD,
    TOUCHED,
    append,
    first_arc,
    flush,
    take_work,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import PRIORITY, compute_from, weight_at
from dromos.intrinsics import (
    atomic_add,
    atomic_min,
    atomic_swap_acq_rel,
    compare_and_swap,
    load,
    load_relaxed,
    store,
    store_relaxed,
)  # fmt: skip
from dromos.jit import LINE, barrier, inline, kernel

# ---- everything above is replaced by a program's own hooks

TURNS = 1024  # of one call, an even number: values may fall forever, and the run may be interrupted
RELAXED = 0  # word of a thread's report: the arcs traversed
NOWHERE, FAR, NEAR = np.uint8(0), np.uint8(1), np.uint8(2)


@kernel
def relax(
    thread, threads, piece, first, last, shared, S, E, K, limit, marks, near, following, far, away, size, buffers,
    counters, memory, least, report,
):  # fmt: skip
    """Propagate the values of ``near[:size]`` and of all that become near by it; the rest goes to ``far`` or ``away``.

    After ``TURNS`` some may be left in ``near``, for the next call. ``least`` has a cache line for each thread: the
    least value of the vertices that were marked as far.
    """
    start, offsets, ends, weights = piece
    shift = first_arc(offsets, 0)
    rows = offsets.size - 1
    values = S[PRIORITY]
    base = thread * BLOCK
    looked = number = 0
    held_far = held_away = 0
    lowest = load(least, thread * LINE)
    while size > 0 and number < 3 * TURNS:
        held = 0
        while True:
            position = take_work(counters, FIRST, CHUNK)
            if position >= size:
                break
            for index in range(position, min(position + CHUNK, size)):
                u = np.int64(load(near, index))
                atomic_swap_acq_rel(marks, u, NOWHERE)
                value = load_relaxed(values, u)
                row = u - start
                if row < 0 or row >= rows:
                    continue  # a vertex without arcs at an end of the part
                begin, end = first_arc(offsets, row) - shift, first_arc(offsets, row + 1) - shift
                looked += end - begin
                for arc in range(begin, end):
                    v = np.int64(load(ends, arc))
                    new = compute_from(value, S, E, K, u, v, arc, weight_at(weights, arc))
                    if new < load_relaxed(values, v) and new < atomic_min(values, v, new):
                        if first <= v < last:
                            if new < limit:
                                if atomic_swap_acq_rel(marks, v, NEAR) != NEAR:
                                    held = append(following, counters, QUEUE, buffers[0], base, held, v)
                            elif compare_and_swap(marks, v, NOWHERE, FAR):
                                lowest = min(lowest, new)
                                held_far = append(far, counters, THIRD, buffers[1], base, held_far, v)
                        elif shared:
                            if new < limit:
                                if atomic_swap_acq_rel(marks, v, NEAR) != NEAR:
                                    held_away = append(away, counters, TOUCHED, buffers[2], base, held_away, -1 - v)
                            elif compare_and_swap(marks, v, NOWHERE, FAR):
                                lowest = min(lowest, new)
                                held_away = append(away, counters, TOUCHED, buffers[2], base, held_away, v)
                        elif atomic_swap_acq_rel(marks, v, FAR) != FAR:
                            held_away = append(away, counters, TOUCHED, buffers[2], base, held_away, v)
        flush(following, counters, QUEUE, buffers[0], base, held)
        barrier(memory, thread, threads, number + 1)
        size = load_relaxed(counters, QUEUE * LINE)
        barrier(memory, thread, threads, number + 2)
        if thread == 0:
            store_relaxed(counters, QUEUE * LINE, np.int64(0))
            store_relaxed(counters, FIRST * LINE, np.int64(0))
        number += 3
        barrier(memory, thread, threads, number)
        near, following = following, near
    if thread == 0:
        store_relaxed(counters, QUEUE * LINE, size)
    flush(far, counters, THIRD, buffers[1], base, held_far)
    flush(away, counters, TOUCHED, buffers[2], base, held_away)
    store(least, thread * LINE, lowest)
    report[thread * LINE + RELAXED] = looked


@inline
def owner_of(bounds, v):
    """The part of ``v``: the last one that does not begin after it."""
    low, high = np.int64(0), np.int64(bounds.size - 1)
    while high - low > 1:
        middle = (low + high) >> 1
        if load(bounds, middle) <= v:
            low = middle
        else:
            high = middle
    return low


@kernel
def post(thread, threads, away, size, bounds, mail, cursors, places, report):
    """Notify the owners of their vertices that were marked; shared values only, for one thread.

    ``mail`` has two places for each vertex, in its owner's range, and ``cursors`` a cache line for each part: the
    number of its entries. Reports how many of them are near.
    """
    parts = bounds.size - 1
    near = np.int64(0)
    for part in range(parts):
        store(places, part, np.int64(0))
    for index in range(size):
        entry = np.int64(load(away, index))
        near += entry < 0
        part = owner_of(bounds, entry if entry >= 0 else -1 - entry)
        store(places, part, load(places, part) + 1)
    for part in range(parts):
        count = load(places, part)
        if count:
            store(places, part, 2 * load(bounds, part) + atomic_add(cursors, part * LINE, count))
    for index in range(size):
        entry = np.int64(load(away, index))
        part = owner_of(bounds, entry if entry >= 0 else -1 - entry)
        place = load(places, part)
        store(mail, place, entry)
        store(places, part, place + 1)
    report[0] = near


@kernel
def collect(thread, threads, mail, begin, end, near, far, counters):
    """Take in own vertices that other parts have marked; for one thread."""
    size, waiting = load_relaxed(counters, QUEUE * LINE), load_relaxed(counters, THIRD * LINE)
    for index in range(begin, end):
        entry = np.int64(load(mail, index))
        if entry < 0:
            store(near, size, -1 - entry)
            size += 1
        else:
            store(far, waiting, entry)
            waiting += 1
    store_relaxed(counters, QUEUE * LINE, size)
    store_relaxed(counters, THIRD * LINE, waiting)


@kernel
def receive_values(thread, threads, ids, given, S, limit, marks, near, far, counters):
    """Merge the values of own vertices that other parts sent, at most one per vertex; for one thread."""
    values = S[PRIORITY]
    size, waiting = load_relaxed(counters, QUEUE * LINE), load_relaxed(counters, THIRD * LINE)
    for index in range(ids.size):
        v = np.int64(load(ids, index))
        new = load(given, index)
        if new < load(values, v):
            store(values, v, new)
            mark = load(marks, v)
            if new < limit:
                if mark != NEAR:
                    store(marks, v, NEAR)
                    store(near, size, v)
                    size += 1
            elif mark == NOWHERE:
                store(marks, v, FAR)
                store(far, waiting, v)
                waiting += 1
    store_relaxed(counters, QUEUE * LINE, size)
    store_relaxed(counters, THIRD * LINE, waiting)


@kernel
def raise_limit(thread, threads, S, limit, marks, near, far, counters, least):
    """Move vertices of ``far`` with a value below a new limit to ``near``; drop old entries; for one thread.

    ``least[0]`` is lowered to the least value that stays far.
    """
    values = S[PRIORITY]
    size, waiting = load_relaxed(counters, QUEUE * LINE), load_relaxed(counters, THIRD * LINE)
    kept = np.int64(0)
    lowest = load(least, 0)
    for index in range(waiting):
        v = np.int64(load(far, index))
        if load_relaxed(marks, v) != FAR:
            continue
        value = load_relaxed(values, v)
        if value < limit:
            if atomic_swap_acq_rel(marks, v, NEAR) != NEAR:  # shared: another part may mark it, and notify this one
                store(near, size, v)
                size += 1
        else:
            store(far, kept, v)
            kept += 1
            lowest = min(lowest, value)
    store(least, 0, lowest)
    store_relaxed(counters, QUEUE * LINE, size)
    store_relaxed(counters, THIRD * LINE, kept)


@kernel
def survey(thread, threads, S, offsets, marks, near, size, far, waiting, least, report):
    """The least value of all active vertices, their number, and their out-degrees; for one thread."""
    values = S[PRIORITY]
    lowest = least[0]
    count = out = np.int64(0)
    for index in range(size + waiting):
        v = np.int64(load(near, index)) if index < size else np.int64(load(far, index - size))
        if index >= size and load(marks, v) != FAR:
            continue
        value = load(values, v)
        if value < lowest:
            lowest = value
        count += 1
        out += first_arc(offsets, v + 1) - first_arc(offsets, v)
    least[0] = lowest
    report[0] = count
    report[1] = out
