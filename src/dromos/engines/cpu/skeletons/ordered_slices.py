"""Relaxation in the order of a field on a part of a graph: delta-stepping over parts, for programs as in ``ordered``.

Values below ``limit`` are *near*: the part's own vertices pass them on until none of them is left, without asking
anybody. What is not near waits in ``far``. Values of other parts' vertices are copies: who lowers one puts the vertex
into ``away``, and the owner is told the lowest value when all near vertices are done.

Shared memory. The field is read by all and lowered by an atomic minimum. ``marks[v]``: in no list (0), in ``far`` or
``away`` (1), in a list of near vertices (2). A value is lowered before its mark is swapped, and read after its mark was
swapped back, both with acquire and release: whoever swaps later sees what the other wrote, so no value is missed. A
vertex that was near is never far again, since limits rise and values fall; its old entry in ``far`` is dropped by its
mark.
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
    atomic_min,
    atomic_swap_acq_rel,
    compare_and_swap,
    load,
    load_relaxed,
    store,
    store_relaxed,
)  # fmt: skip
from dromos.jit import LINE, barrier, lean_kernel

# ---- everything above is replaced by a program's own hooks

TURNS = 1024  # of one call, an even number: values may fall for ever, and somebody may ask to stop
RELAXED = 0  # what a thread reports: the arcs that it looked at
NOWHERE, FAR, NEAR = np.uint8(0), np.uint8(1), np.uint8(2)


@lean_kernel
def relax(
    thread, threads, piece, first, last, S, E, K, limit, marks, near, following, far, away, size, buffers, counters,
    memory, report,
):  # fmt: skip
    """Pass on the values of ``near[:size]`` and of all that become near by it; the rest goes to ``far`` or ``away``.

    After ``TURNS`` some may be left in ``near``, for the next call.
    """
    start, offsets, ends, weights = piece
    shift = first_arc(offsets, 0)
    rows = offsets.size - 1
    values = S[PRIORITY]
    base = thread * BLOCK
    looked = number = 0
    held_far = held_away = 0
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
                                held_far = append(far, counters, THIRD, buffers[1], base, held_far, v)
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
    report[thread * LINE + RELAXED] = looked


@lean_kernel
def receive_values(thread, threads, ids, given, S, limit, marks, near, far, counters):
    """Values that other parts tell of own vertices, no vertex twice; for one thread."""
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


@lean_kernel
def raise_limit(thread, threads, S, limit, marks, near, far, counters):
    """Vertices of ``far`` with a value below a new limit are near; old entries are dropped; for one thread."""
    values = S[PRIORITY]
    size, waiting = load_relaxed(counters, QUEUE * LINE), load_relaxed(counters, THIRD * LINE)
    kept = np.int64(0)
    for index in range(waiting):
        v = np.int64(load(far, index))
        if load(marks, v) != FAR:
            continue
        if load(values, v) < limit:
            store(marks, v, NEAR)
            store(near, size, v)
            size += 1
        else:
            store(far, kept, v)
            kept += 1
    store_relaxed(counters, QUEUE * LINE, size)
    store_relaxed(counters, THIRD * LINE, kept)


@lean_kernel
def survey(thread, threads, S, offsets, marks, near, size, far, waiting, least, report):
    """The least value of all active vertices, how many they are, and their out-degrees; for one thread."""
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
