"""Finding a level of a batch and counting its paths; see ``betweenness_batch_kernels``."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.betweenness_rows import add_rows, ask_for_row, put_row
from dromos.engines.native.levels import chunk_of
from dromos.intrinsics import atomic_add, atomic_or, count_bits, load, load_relaxed, prefetch, store
from dromos.jit import LINE, inline

BUFFER = 1024  # vertices that a thread finds before it lists them
PIECE = 512  # arcs that are filtered at once
CURSORS = 3  # two for chunks, one for the tail of the list
TAIL = 2 * LINE


@inline
def degree(offsets, v):
    return np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v))


@inline
def ask_ahead(order, at, last, offsets, targets, table, marks):
    """Prefetch the data of vertices that come soon."""
    prefetch(offsets, np.int64(load(order, min(at + 16, last))))
    soon = np.int64(load(order, min(at + 8, last)))
    row = np.int64(load(offsets, soon))
    prefetch(targets, row)
    prefetch(targets, row + 16)
    ask_for_row(table, soon, marks)


@inline
def gather(table, targets, begin, end, marks, wanted, mine):
    """Sum the rows of a vertex's neighbors in the lanes ``marks & wanted``; return the lanes that any of them has.

    The sums are private to the thread; they are not touched if there are no such lanes.
    """
    ids, ids_base, sums, sums_base, powers = mine
    found, fresh = np.uint64(0), True
    while begin < end:
        last = min(begin + PIECE, end)
        passed = ids_base
        for arc in range(begin, last):
            u = load(targets, arc)
            here = np.uint64(load(marks, np.int64(u))) & wanted
            store(ids, passed, u)
            found |= here
            passed += np.int64(here != 0)
        if passed > ids_base:
            add_rows(table, marks, wanted, ids, ids_base, passed, sums, sums_base, fresh, powers)
            fresh = False
        begin = last
    return found


@inline
def _list(order, marks_of, marks, cursors, buffer, base, filled):
    """Append the vertices in the buffer, with their current marks."""
    at = atomic_add(cursors, TAIL, filled)
    for k in range(filled):
        v = load(buffer, base + k)
        store(order, at + k, v)
        store(marks_of, at + k, load(marks, np.int64(v)))


@inline
def wipe(order, begin, end, thread, threads, marks):
    size = end - begin
    for at in range(begin + size * thread // threads, begin + size * (thread + 1) // threads):
        store(marks, np.int64(load(order, at)), 0)


@inline
def push(begin, end, cursor, threads, offsets, targets, seen, fresh, order, marks_of, buffer, base, cursors):
    """Give the lanes of a level's vertices to neighbors that lack them; return the number that this thread listed."""
    found, filled = np.int64(0), np.int64(0)
    chunk = chunk_of(end - begin, threads, 1, BUFFER)
    while True:
        first = begin + atomic_add(cursors, cursor, chunk)
        if first >= end:
            break
        for at in range(first, min(first + chunk, end)):
            u, bits = np.int64(load(order, at)), np.uint64(load(marks_of, at))
            for arc in range(np.int64(load(offsets, u)), np.int64(load(offsets, u + 1))):
                w = np.int64(load(targets, arc))
                lacking = bits & ~np.uint64(load(seen, w))
                if lacking & ~np.uint64(load_relaxed(fresh, w)) and atomic_or(fresh, w, lacking) == 0:
                    store(buffer, base + filled, w)
                    filled += 1
                    found += 1
                    if filled == BUFFER:
                        _list(order, marks_of, fresh, cursors, buffer, base, filled)
                        filled = np.int64(0)
    if filled:
        _list(order, marks_of, fresh, cursors, buffer, base, filled)
    return found


@inline
def settle(
    begin, end, cursor, threads, live, offsets, in_offsets, in_targets, table, seen, front, fresh, order, marks_of,
    mine, cursors,
):  # fmt: skip
    """Count the paths to vertices a push listed: ``(marks, arcs, arcs into closed ones, instances, largest)``."""
    bits, arcs, closed, instances, high = np.uint64(0), np.int64(0), np.int64(0), np.int64(0), 0.0
    chunk = chunk_of(end - begin, threads, 1, BUFFER)
    while True:
        first = begin + atomic_add(cursors, cursor, chunk)
        if first >= end:
            break
        for at in range(first, min(first + chunk, end)):
            ask_ahead(order, at, end - 1, in_offsets, in_targets, table, seen)
            v = np.int64(load(order, at))
            new = np.uint64(load(fresh, v))
            store(marks_of, at, new)  # by now it has all of them
            known = np.uint64(load(seen, v)) | new
            store(seen, v, known)
            row, after = np.int64(load(in_offsets, v)), np.int64(load(in_offsets, v + 1))
            gather(table, in_targets, row, after, front, new, mine)
            high = max(high, put_row(table, v, seen, new, mine[2], mine[3]))
            bits |= new
            instances += np.int64(count_bits(new))
            arcs += degree(offsets, v)
            if live & ~known == 0:
                closed += after - row
    return bits, arcs, closed, instances, high


@inline
def pull(
    cursor, live, offsets, in_offsets, in_targets, table, seen, front, fresh, order, marks_of, mine, buffer, base,
    cursors,
):  # fmt: skip
    """Find the lanes that vertices lack, and count their paths: ``(found, ...)`` and the rest as of :func:`settle`."""
    n = offsets.size - 1
    found, bits, arcs, closed, instances, high = np.int64(0), np.uint64(0), np.int64(0), np.int64(0), np.int64(0), 0.0
    while True:
        first = atomic_add(cursors, cursor, BUFFER)
        if first >= n:
            break
        filled = np.int64(0)
        for v in range(first, min(first + BUFFER, n)):
            known = np.uint64(load(seen, v))
            row, after = np.int64(load(in_offsets, v)), np.int64(load(in_offsets, v + 1))
            if live & ~known:
                ask_for_row(table, v, seen)
                new = gather(table, in_targets, row, after, front, live & ~known, mine)
                if new:
                    known |= new
                    store(seen, v, known)
                    store(fresh, v, new)
                    high = max(high, put_row(table, v, seen, new, mine[2], mine[3]))
                    bits |= new
                    instances += np.int64(count_bits(new))
                    arcs += degree(offsets, v)
                    store(buffer, base + filled, v)
                    filled += 1
            if live & ~known == 0:
                closed += after - row
        if filled:
            _list(order, marks_of, fresh, cursors, buffer, base, filled)
            found += filled
    return found, bits, arcs, closed, instances, high
