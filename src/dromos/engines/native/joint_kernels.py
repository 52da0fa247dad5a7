"""Breadth-first searches from up to 512 sources in one traversal: a bit for each source, a row of words a vertex.

Three tables of rows: ``seen`` (reached so far), ``front`` (reached in the last level) and ``following`` (in this one).
A level is found from the joint frontier, a queue that has a vertex once for all the sources that reached it in the last
level: its row goes to its neighbours by an atomic or of the bits that they lack. Or, where the frontier's arcs are
many against those of the vertices that still lack bits, by these: each gathers the rows of its in-neighbours and stops
as soon as it lacks none. Bits of sources that have come to their end are not waited for.

Shared memory. *Push*: rows of ``following`` grow by atomics; a vertex is queued by the thread that set its bit of
``listed``; ``seen`` and ``front`` are only read. After a barrier a vertex is settled by the thread that took its place
in the queue: it alone touches the vertex's rows. *Pull*: all rows of a vertex but ``front`` belong to the thread that
took it. ``order`` and ``order_after`` are filled from buffers of the threads, which reserve places by an atomic on the
tail. Counts are a thread's own, in two copies by the level's parity; after the barrier each thread sums the counts of
its share of the sources and clears them, before the barrier after which that copy is used again.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.joint_counts_kernels import MOST, count_rows, write_distances
from dromos.engines.native.joint_rows import (
    load_row,
    merge_row,
    row_any,
    row_or,
    row_without,
    store_row,
)
from dromos.intrinsics import atomic_add, atomic_or, load, load_relaxed, prefetch, store, store_relaxed
from dromos.jit import LINE, inline, lean_kernel, meet, publish, published, total

BUFFER = MOST  # vertices that a thread settles, counts and queues at once; whole words of bits
PULL = 6  # a frontier with more arcs than one in so many of the open vertices' is pulled from
FEW = 8  # a frontier of less than one in so many vertices is looked up in a bitmap before its rows
CURSORS = 4  # two for chunks, by the phase's parity; two for the tails of the queues, by the level's
_TAIL = 2 * LINE
_ONE = np.uint64(1)
# what threads tell each other at a barrier; after these, the bits that were found
_FOUND, _ARCS, _CLOSED, _STOP, _BITS = 0, 1, 2, 3, 4
# what the caller is told
LEVELS, PULLED, JOINT, INSTANCES, STOPPED, REPORT = 0, 1, 2, 3, 4, 5


@inline
def _chunk(size, threads):
    return max(np.int64(1), min(np.int64(BUFFER), size // (8 * threads)))


@inline
def _flush(order, cursors, tail, buffer, base, filled):
    at = atomic_add(cursors, tail, filled)
    for k in range(filled):
        store(order, at + k, load(buffer, base + k))


@inline
def _consume(vertices, begin, end, rows, width, level, counts, base, distance, n):
    """Hand what a level found at some vertices to those who want it: the counts, and the distances if asked for."""
    count_rows(vertices, begin, end, rows, width, counts, base)
    if distance.size:
        write_distances(vertices, begin, end, rows, width, level, distance, n)


@inline
def _push(size, cursor, threads, like, offsets, targets, seen, front, following, listed, order, after, buffer, base,
          cursors, tail):  # fmt: skip
    """Let the frontier's vertices give their bits to neighbours that lack them; these are queued in ``after``."""
    width = len(like)
    filled = np.int64(0)
    chunk = _chunk(size, threads)
    while True:
        first = atomic_add(cursors, cursor, chunk)
        if first >= size:
            break
        for at in range(first, min(first + chunk, size)):
            u = np.int64(load(order, at))
            row = load_row(front, u * width, like)
            begin, end = np.int64(load(offsets, u)), np.int64(load(offsets, u + 1))
            for arc in range(begin, end):
                soon = np.int64(load(targets, min(arc + 8, end - 1))) * width
                prefetch(seen, soon)
                prefetch(following, soon)
                v = np.int64(load(targets, arc))
                lacking = row_without(row, load_row(seen, v * width, like))
                if row_any(lacking):
                    lacking = row_without(lacking, load_row(following, v * width, like))
                    if row_any(lacking):
                        merge_row(following, v * width, lacking)
                        bit = _ONE << np.uint64(v & 63)
                        if load_relaxed(listed, v >> 6) & bit == 0 and atomic_or(listed, v >> 6, bit) & bit == 0:
                            store(buffer, base + filled, v)
                            filled += 1
                            if filled == BUFFER:
                                _flush(after, cursors, tail, buffer, base, filled)
                                filled = np.int64(0)
    if filled:
        _flush(after, cursors, tail, buffer, base, filled)


@inline
def _settle(size, cursor, threads, level, like, live, offsets, in_offsets, seen, following, listed, after, counts,
            counts_base, distance, n, cursors):  # fmt: skip
    """After a push: what it found becomes seen. ``(bits, arcs of the vertices, arcs into those without lack)``."""
    width = len(like)
    bits, arcs, closed = row_without(like, like), np.int64(0), np.int64(0)
    chunk = _chunk(size, threads)
    while True:
        first = atomic_add(cursors, cursor, chunk)
        if first >= size:
            break
        last = min(first + chunk, size)
        for at in range(first, last):
            v = np.int64(load(after, at))
            fresh = load_row(following, v * width, like)
            known = row_or(load_row(seen, v * width, like), fresh)
            store_row(seen, v * width, known)
            bits = row_or(bits, fresh)
            arcs += np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v))
            if not row_any(row_without(live, known)):
                closed += np.int64(load(in_offsets, v + 1)) - np.int64(load(in_offsets, v))
            store_relaxed(listed, v >> 6, np.uint64(0))
        _consume(after, first, last, following, width, level, counts, counts_base, distance, n)
    return bits, arcs, closed


@inline
def _gather_few(front, member, in_targets, begin, end, lacking, like):
    """As :func:`_gather` from a frontier of few vertices: the bitmap of its members is in cache, its rows are not."""
    width = len(like)
    left = lacking
    for arc in range(begin, end):
        u = np.int64(load(in_targets, arc))
        if (load(member, u >> 6) >> np.uint64(u & 63)) & _ONE:
            left = row_without(left, load_row(front, u * width, like))
            if not row_any(left):
                break
    return row_without(lacking, left)


@inline
def _gather(front, in_targets, begin, end, lacking, like):
    """The bits of ``lacking`` that the rows of a vertex's in-neighbours have; it looks no further when it has all."""
    width = len(like)
    left = lacking
    for arc in range(begin, end):
        if width >= 4:  # shorter rows are several to a line of the cache, and the processor looks ahead by itself
            prefetch(front, np.int64(load(in_targets, min(arc + 8, end - 1))) * width)
        left = row_without(left, load_row(front, np.int64(load(in_targets, arc)) * width, like))
        if not row_any(left):
            break
    return row_without(lacking, left)


@inline
def _pull(cursor, few, level, like, live, offsets, in_offsets, in_targets, seen, front, following, listed, after,
          counts, counts_base, distance, n, buffer, base, cursors, tail):  # fmt: skip
    """Let the vertices that lack bits gather them. ``(found, bits, arcs, arcs into vertices without lack)``."""
    width = len(like)
    none = row_without(like, like)
    found, bits, arcs, closed = np.int64(0), none, np.int64(0), np.int64(0)
    while True:
        first = atomic_add(cursors, cursor, BUFFER)
        if first >= n:
            break
        filled = np.int64(0)
        for v in range(first, min(first + BUFFER, n)):
            begin, end = np.int64(load(in_offsets, v)), np.int64(load(in_offsets, v + 1))
            known = load_row(seen, v * width, like)
            lacking = row_without(live, known)
            fresh = none
            if row_any(lacking):
                if few:
                    fresh = _gather_few(front, listed, in_targets, begin, end, lacking, like)
                else:
                    fresh = _gather(front, in_targets, begin, end, lacking, like)
                if row_any(fresh):
                    known = row_or(known, fresh)
                    store_row(seen, v * width, known)
                    bits = row_or(bits, fresh)
                    arcs += np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v))
                    store(buffer, base + filled, v)
                    filled += 1
            if not row_any(row_without(live, known)):
                closed += end - begin
            store_row(following, v * width, fresh)
        if filled:
            _consume(buffer, base, base + filled, following, width, level, counts, counts_base, distance, n)
            _flush(after, cursors, tail, buffer, base, filled)
            found += filled
    return found, bits, arcs, closed


@inline
def _clear(order, size, thread, threads, rows, like):
    """Empty the rows of the last frontier, so that the table is all zeros for the next push."""
    none = row_without(like, like)
    for at in range(size * thread // threads, size * (thread + 1) // threads):
        store_row(rows, np.int64(load(order, at)) * len(like), none)


@inline
def _list(order, size, thread, threads, listed):
    for at in range(size * thread // threads, size * (thread + 1) // threads):
        v = np.int64(load(order, at))
        atomic_or(listed, v >> 6, _ONE << np.uint64(v & 63))


@inline
def _unlist(order, size, thread, threads, listed):
    for at in range(size * thread // threads, size * (thread + 1) // threads):
        store_relaxed(listed, np.int64(load(order, at)) >> 6, np.uint64(0))


@inline
def _clear_all(n, thread, threads, rows, like):
    none = row_without(like, like)
    for v in range(n * thread // threads, n * (thread + 1) // threads):
        store_row(rows, v * len(like), none)


@inline
def _sum_up(level, thread, threads, sources, counts, copy, reached, far, near, depth):
    """Add the level's counts of a share of the sources to their sums, and clear them. Returns how many there were."""
    everything = np.int64(0)
    for source in range(sources * thread // threads, sources * (thread + 1) // threads):
        count = np.int64(0)
        for other in range(threads):
            place = (2 * other + copy) * sources + source
            count += load(counts, place)
            store(counts, place, 0)
        if count:
            store(reached, source, load(reached, source) + count)
            store(far, source, load(far, source) + level * count)
            store(near, source, load(near, source) + count / level)
            store(depth, source, level)
            everything += count
    return everything


@inline
def _finish(memory, cursors, stop, thread, threads, number, found, arcs, closed, bits, scratch):
    """End a phase at barrier ``number``: tell what it found, wait for all, make the other cursor ready."""
    publish(memory, thread, number, _FOUND, found)
    publish(memory, thread, number, _ARCS, arcs)
    publish(memory, thread, number, _CLOSED, closed)
    publish(memory, thread, number, _STOP, np.int64(load_relaxed(stop, 0)) if thread == 0 else np.int64(0))
    store_row(scratch, thread * LINE, bits)
    for word in range(len(bits)):
        publish(memory, thread, number, _BITS + word, load(scratch, thread * LINE + word))
    meet(memory, thread, threads, number)
    if thread == 0:
        store_relaxed(cursors, ((number + 1) & 1) * LINE, 0)


@inline
def _bits_of_all(memory, thread, threads, number, scratch, like):
    """The bits that any thread published, through the thread's own line of ``scratch``."""
    for word in range(len(like)):
        bits = np.uint64(0)
        for other in range(threads):
            bits |= np.uint64(published(memory, other, number, _BITS + word))
        store(scratch, thread * LINE + word, bits)
    return load_row(scratch, thread * LINE, like)


@lean_kernel
def traverse(
    thread, threads, like, size, limit, graph, tables, listed, order, after, counts, sums, distance, buffer, scratch,
    cursors, memory, stop, report,
):  # fmt: skip
    """Go on from the frontier ``order[:size]`` for at most ``limit`` levels.

    ``seen`` and ``front`` hold the sources' bits; ``following``, ``listed`` and ``counts`` are all zeros. ``report``
    gets the number of levels, of pulled ones, and the sizes of the joint frontier and of all instances', summed.
    ``like`` is a row with the bits of all sources.
    """
    offsets, targets, in_offsets, in_targets = graph
    seen, even, odd = tables
    reached, far, near, depth = sums
    n, width = offsets.size - 1, len(like)
    sources = 64 * width
    base, level, number = thread * BUFFER, np.int64(0), np.int64(1)
    front, following, live = even, odd, like
    pulls, joint, instances = np.int64(0), np.int64(0), np.int64(0)
    arcs, open_arcs, dirty, stopped = np.int64(0), np.int64(targets.size), False, False
    for at in range(size):
        v = np.int64(load(order, at))
        arcs += np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v))
    if thread == 0:
        store_relaxed(cursors, 0, 0)
        store_relaxed(cursors, LINE, 0)
        store_relaxed(cursors, _TAIL, 0)
        store_relaxed(cursors, _TAIL + LINE, 0)
    meet(memory, thread, threads, number)
    while size > 0 and level < limit and not stopped:
        level += 1
        copy = level & 1
        tail = _TAIL + copy * LINE
        counts_base = (2 * thread + copy) * sources
        if arcs * PULL > open_arcs + n:
            few = size * FEW < n
            if few:
                _list(order, size, thread, threads, listed)
                number += 1
                meet(memory, thread, threads, number)
                if thread == 0:
                    store_relaxed(cursors, ((number + 1) & 1) * LINE, 0)
            found, bits, reach, closed = _pull(
                (number & 1) * LINE, few, level, like, live, offsets, in_offsets, in_targets, seen, front, following,
                listed, after, counts, counts_base, distance, n, buffer, base, cursors, tail,
            )  # fmt: skip
            number += 1
            _finish(memory, cursors, stop, thread, threads, number, found, reach, closed, bits, scratch)
            open_arcs = targets.size - total(memory, threads, number, _CLOSED)
            size_after = total(memory, threads, number, _FOUND)
            if few:
                _unlist(order, size, thread, threads, listed)
            dirty = True
            pulls += 1
        else:
            if dirty:  # the last pull left the rows of an older frontier
                _clear_all(n, thread, threads, following, like)
                number += 1
                meet(memory, thread, threads, number)
                if thread == 0:
                    store_relaxed(cursors, ((number + 1) & 1) * LINE, 0)
                dirty = False
            _push(
                size, (number & 1) * LINE, threads, like, offsets, targets, seen, front, following, listed, order,
                after, buffer, base, cursors, tail,
            )  # fmt: skip
            number += 1
            meet(memory, thread, threads, number)
            if thread == 0:
                store_relaxed(cursors, ((number + 1) & 1) * LINE, 0)
            size_after = load_relaxed(cursors, tail)
            bits, reach, closed = _settle(
                size_after, (number & 1) * LINE, threads, level, like, live, offsets, in_offsets, seen, following,
                listed, after, counts, counts_base, distance, n, cursors,
            )  # fmt: skip
            _clear(order, size, thread, threads, front, like)
            number += 1
            _finish(memory, cursors, stop, thread, threads, number, 0, reach, closed, bits, scratch)
            open_arcs -= total(memory, threads, number, _CLOSED)
        arcs = total(memory, threads, number, _ARCS)
        stopped = total(memory, threads, number, _STOP) > 0
        live = _bits_of_all(memory, thread, threads, number, scratch, like)
        if thread == 0:
            store_relaxed(cursors, tail, 0)
        instances += _sum_up(level, thread, threads, sources, counts, copy, reached, far, near, depth)
        front, following = following, front
        order, after = after, order
        joint += size_after
        size = size_after
    publish(memory, thread, number + 1, _FOUND, instances)
    meet(memory, thread, threads, number + 1)
    if thread == 0:
        level -= np.int64(size == 0 and level > 0)  # the last one found nothing
        store(report, LEVELS, level)
        store(report, PULLED, min(pulls, level))
        store(report, JOINT, joint)
        store(report, INSTANCES, total(memory, threads, number + 1, _FOUND))
        store(report, STOPPED, np.int64(stopped))
