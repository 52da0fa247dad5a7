"""One round of label propagation.

A vertex's labels are first gathered, since independent loads overlap, and then counted: a few are compared pairwise,
many go into a hash table of at least twice their number, which stays in the L1 cache for all but hubs.

Shared memory. ``label`` is only read, ``after[v]`` is written by the thread that took the chunk of ``v``. A thread's
sections of ``space`` and ``table`` are private; its table is all -1 before and after a vertex.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, load_relaxed, prefetch, store
from dromos.jit import LINE, inline, kernel

CHUNK = 256
FEW = 8
_AHEAD = 16  # vertices
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: adjacent labels go far apart


@inline
def _gather(offsets, targets, v, label, space, at):
    for arc in range(load(offsets, v), load(offsets, v + 1)):
        store(space, at, load(label, load(targets, arc)))
        at += 1
    return at


@inline
def mode_of_few(space, begin, end):
    """The most frequent label of a few; the least one of those that tie."""
    best, most = load(space, begin), np.int64(0)
    for i in range(begin, end):
        name, count = load(space, i), np.int64(1)
        for j in range(i + 1, end):  # a label seen before counts fewer from here on, and cannot win
            count += np.int64(load(space, j) == name)
        if count > most or (count == most and name < best):
            best, most = name, count
    return best


@inline
def mode_of_many(space, begin, end, table, counts, base):
    """The same of many; the labels in ``space`` are replaced by their indices in the table."""
    bits = np.uint64(2)
    while np.int64(1) << np.int64(bits) < 2 * (end - begin):
        bits += np.uint64(1)
    last, shift = (np.int64(1) << np.int64(bits)) - 1, np.uint64(64) - bits
    best, most, used = load(space, begin), np.int64(0), begin
    for i in range(begin, end):
        name = load(space, i)
        place = np.int64((np.uint64(name) * _SPREAD) >> shift)
        held = load(table, base + place)
        while held != name and held >= 0:
            place = (place + 1) & last
            held = load(table, base + place)
        if held == name:
            count = np.int64(load(counts, base + place)) + 1
        else:
            store(table, base + place, name)
            store(space, used, place)  # never ahead of i
            used += 1
            count = np.int64(1)
        store(counts, base + place, count)
        if count > most or (count == most and name < best):
            best, most = name, count
    for i in range(begin, used):
        store(table, base + np.int64(load(space, i)), -1)
    return best


@kernel
def relabel(
    thread, threads, offsets, targets, back_offsets, back_targets, label, after, space, room, table, counts, size,
    cursor, stop, changes,
):  # fmt: skip
    """Give each vertex the label most frequent around it, ties by least; ``changes[thread * LINE]`` counts changes.

    ``space`` has ``room`` entries per thread, at least as many as a vertex has neighbors; ``table`` and ``counts`` have
    ``size``, at least twice that rounded up to a power of two.
    """
    n, mine, base = offsets.size - 1, thread * room, thread * size
    final = targets.size - 1
    changed = np.int64(0)
    while load_relaxed(stop, 0) == 0:
        begin = atomic_add(cursor, 0, CHUNK)
        if begin >= n:
            break
        for v in range(begin, min(begin + CHUNK, n)):
            prefetch(label, load(targets, min(load(offsets, min(v + _AHEAD, n)), final)))
            end = _gather(offsets, targets, v, label, space, mine)
            if back_offsets.size:
                end = _gather(back_offsets, back_targets, v, label, space, end)
            before = load(label, v)
            name = before
            if end - mine > FEW:
                name = mode_of_many(space, mine, end, table, counts, base)
            elif end > mine:
                name = mode_of_few(space, mine, end)
            store(after, v, name)
            changed += np.int64(name != before)
    store(changes, thread * LINE, changed)
