"""Breadth-first searches from up to 512 sources in one traversal: one bit per source, a row of words per vertex.

There are three tables of rows: ``seen`` (reached so far), ``front`` (reached in the last level) and ``following`` (in
this one). The joint frontier is a queue that has a vertex once for all the sources that reached it in the last level.

A level is pushed if the frontier has few arcs. Otherwise it is pulled, except for searches that reached few vertices.
In a pull, a vertex gathers rows until it lacks no bit, and would wait in vain for the bits of a search that is hardly
anywhere. Such *light* searches are pushed. The *heavy* others are pulled, where most vertices find all bits after a few
in-neighbors. Bits of finished searches are not waited for.

The sharing of memory is described in :mod:`joint_push_kernels` and :mod:`joint_pull_kernels`. ``order`` and ``after``
are filled from buffers of the threads, which reserve places by an atomic on the tail. Each thread has its own counts,
in two copies by the level's parity: all threads read the last level's, and each clears its own before it is used again,
a barrier later.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.joint_distance_kernels import DEEPEST, DIGITS, write_all
from dromos.engines.native.joint_pull_kernels import pull
from dromos.engines.native.joint_push_kernels import (
    BUFFER,
    first_from,
    pick,
    push_listed,
    push_merging,
    push_shares,
    settle,
)
from dromos.engines.native.joint_rows import load_row, row_and, row_any, row_without, store_row
from dromos.engines.native.levels import ready
from dromos.intrinsics import load, load_relaxed, store, store_relaxed
from dromos.jit import LINE, barrier, inline, kernel, publish, published, total

CURSORS = 5  # two for chunks, by the phase's parity; two for the tails of the queues, by the level's; one for picks
_TAIL, _PICKED = 2 * LINE, 4 * LINE
_ONE = np.uint64(1)
_ATOMICS = 3  # the relative cost of an arc that is pushed with atomics
# what threads publish at a barrier; after these, the bits that were found
_FOUND, _ARCS, _OPEN, _STOP, _BITS = 0, 1, 2, 3, 4
# indices of the report to the caller
LEVELS, PULLED, JOINT, INSTANCES, STOPPED, REPORT = 0, 1, 2, 3, 4, 5


@inline
def _finish(memory, cursors, stop, thread, threads, number, found, arcs, closed, bits, scratch):
    """End a level at barrier ``number``: publish what it found, and wait for all threads."""
    publish(memory, thread, number, _FOUND, found)
    publish(memory, thread, number, _ARCS, arcs)
    publish(memory, thread, number, _OPEN, closed)
    publish(memory, thread, number, _STOP, np.int64(load_relaxed(stop, 0)) if thread == 0 else np.int64(0))
    store_row(scratch, thread * LINE, bits)
    for word in range(len(bits)):
        publish(memory, thread, number, _BITS + word, load(scratch, thread * LINE + word))
    ready(memory, cursors, thread, threads, number)


@inline
def _bits_of_all(memory, thread, threads, number, scratch, like):
    """The bits that any thread published, through the thread's own line of ``scratch``."""
    for word in range(len(like)):
        bits = np.uint64(0)
        for other in range(threads):
            bits |= np.uint64(published(memory, other, number, _BITS + word))
        store(scratch, thread * LINE + word, bits)
    return load_row(scratch, thread * LINE, like)


@inline
def _start(sources, memory, cursors, thread, threads, like, offsets, tables, digits, listed, order):
    """Clear the tables; then one thread sets the sources' bits and queues their vertices: ``(queued, arcs)``."""
    width = len(like)
    seen, front, following = tables
    for table in (seen, front, following, digits, listed):
        for word in range(table.size * thread // threads, table.size * (thread + 1) // threads):
            store(table, word, np.uint64(0))
    if thread == 0:
        for cursor in range(CURSORS):
            store_relaxed(cursors, cursor * LINE, 0)
    barrier(memory, thread, threads, 1)
    queued, arcs = np.int64(0), np.int64(0)
    if thread == 0:
        for at in range(sources.size):
            v = np.int64(load(sources, at))
            if not row_any(load_row(seen, v * width, like)):
                arcs += np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v))
                store(order, queued, v)
                queued += 1
            word, bit = v * width + (at >> 6), _ONE << np.uint64(at & 63)
            store(seen, word, load(seen, word) | bit)
            store(front, word, load(front, word) | bit)
            if digits.size:  # distance 0, plus one
                store(digits, DIGITS * word, load(digits, DIGITS * word) | bit)
    publish(memory, thread, 2, _FOUND, queued)
    publish(memory, thread, 2, _ARCS, arcs)
    barrier(memory, thread, threads, 2)
    return total(memory, threads, 2, _FOUND), total(memory, threads, 2, _ARCS)


@inline
def _light(counts, copy, few, thread, threads, n, scratch, like):
    """The bits of the searches that reached few vertices."""
    sources = 64 * len(like)
    for word in range(len(like)):
        bits = np.uint64(0)
        for bit in range(64):
            count = np.int64(0)
            for other in range(threads):
                count += load(counts, (2 * other + copy) * sources + 64 * word + bit)
            if count * few < n:
                bits |= _ONE << np.uint64(bit)
        store(scratch, thread * LINE + word, bits)
    return load_row(scratch, thread * LINE, like)


@inline
def _sum_up(level, thread, threads, sources, counts, copy, reached, distance_sum, inverse_sum, depth):
    """Add the level's counts of a share of the sources to their sums; return their total."""
    everything = np.int64(0)
    for source in range(sources * thread // threads, sources * (thread + 1) // threads):
        count = np.int64(0)
        for other in range(threads):
            count += load(counts, (2 * other + copy) * sources + source)
        if count:
            store(reached, source, load(reached, source) + count)
            store(distance_sum, source, load(distance_sum, source) + level * count)
            store(inverse_sum, source, load(inverse_sum, source) + count / level)
            store(depth, source, level)
            everything += count
    return everything


@inline
def _write(memory, cursors, thread, threads, number, count, like, into, n, words, lanes, packed):
    """Convert the current digits to distances, and wait for all threads."""
    distance, digits, new_ids, _ = into
    cursor = (number & 1) * LINE
    write_all(cursor, thread, count, like, digits, new_ids, distance, n, words, lanes, packed, cursors)
    ready(memory, cursors, thread, threads, number + 1)


@kernel
def traverse(
    thread, threads, like, starts, limit, rules, graph, in_order, tables, listed, order, after, counts, sums, into,
    buffer, words, lanes, packed, scratch, cursors, memory, stop, report,
):  # fmt: skip
    """Search from the vertices ``starts``, a bit each, for at most ``limit`` levels.

    ``like`` is a row with the bits of all of them; ``rules`` are those of ``joint.Rules``; ``in_order``: all rows of
    targets are sorted. ``into`` are the rows of distances, their digits, and the new and old ids of a renumbered graph,
    with empty arrays for what is not wanted. ``sums`` are all zeros; the other arrays may be uninitialized. ``report``
    gets the number of levels, of pulled levels, and the summed sizes of the joint frontier and of the frontiers of all
    searches.
    """
    many, few, worth, listing, short = rules
    offsets, targets, in_offsets, in_targets = graph
    seen, even, odd = tables
    distance, digits, _, _ = into
    reached, distance_sum, inverse_sum, depth = sums
    n, width = offsets.size - 1, len(like)
    sources = 64 * width
    base, level, number = thread * BUFFER, np.int64(0), np.int64(2)
    front, following, live = even, odd, like
    none = row_without(like, like)
    pulls, instances, open_arcs, stopped = np.int64(0), np.int64(0), np.int64(targets.size), False
    used = first_from(in_offsets, np.int64(0), n, np.int64(load(in_offsets, n)))  # later vertices have no in-arcs
    size, arcs = _start(starts, memory, cursors, thread, threads, like, offsets, tables, digits, listed, order)
    joint = size
    while size > 0 and level < limit and not stopped:
        level += 1
        copy = level & 1
        tail = _TAIL + copy * LINE
        counts_base = (2 * thread + copy) * sources
        for source in range(sources):
            store(counts, counts_base + source, 0)
        light, heavy, queue, queued, pushed = like, none, order, size, arcs
        in_ranges = threads == 1 or (in_order and arcs >= short * threads * size)
        if arcs * (many if in_ranges else _ATOMICS * many) > open_arcs + n:
            light, heavy, queued = none, live, np.int64(0)
            apart = row_and(live, _light(counts, 1 - copy, few, thread, threads, used, scratch, like))
            if level > 1 and row_any(apart) and row_any(row_without(live, apart)):
                pushed = pick(
                    apart, size, thread, threads, like, offsets, front, order, after, buffer, base, cursors, _PICKED
                )  # fmt: skip
                number += 1
                publish(memory, thread, number, _ARCS, pushed)
                ready(memory, cursors, thread, threads, number)
                pushed = total(memory, threads, number, _ARCS)
                if pushed * worth <= open_arcs + n:
                    light, heavy, queue, queued = apart, row_without(live, apart), after, load_relaxed(cursors, _PICKED)
            pulls += 1
        if arcs * listing <= n:
            push_listed(
                size, (number & 1) * LINE, threads, like, offsets, targets, seen, front, following, listed, order,
                after, buffer, base, cursors, tail,
            )  # fmt: skip
            number += 1
            ready(memory, cursors, thread, threads, number)
            size_after = load_relaxed(cursors, tail)
            bits, reach, change = settle(
                size_after, (number & 1) * LINE, threads, level, like, live, offsets, in_offsets, seen, following,
                listed, after, counts, counts_base, into, n, cursors,
            )  # fmt: skip
            number += 1
            _finish(memory, cursors, stop, thread, threads, number, 0, reach, change, bits, scratch)
            open_arcs -= total(memory, threads, number, _OPEN)
        else:
            if queued:
                if threads == 1 or (in_order and pushed >= short * threads * queued):
                    push_shares(
                        light, queued, pushed, (number & 1) * LINE, threads, like, offsets, targets, in_offsets, front,
                        following, queue, cursors,
                    )  # fmt: skip
                else:
                    push_merging(
                        light, queued, (number & 1) * LINE, threads, like, offsets, targets, front, following, queue,
                        cursors,
                    )  # fmt: skip
                number += 1
                ready(memory, cursors, thread, threads, number)
            if thread == 0:
                store_relaxed(cursors, _PICKED, 0)
            found, bits, reach, change = pull(
                (number & 1) * LINE, heavy, queued > 0, level, like, live, offsets, in_offsets, in_targets, seen,
                front, following, after, counts, counts_base, into, used, n, buffer, base, cursors, tail,
            )  # fmt: skip
            number += 1
            _finish(memory, cursors, stop, thread, threads, number, found, reach, change, bits, scratch)
            open_arcs = total(memory, threads, number, _OPEN)
            size_after = total(memory, threads, number, _FOUND)
        arcs = total(memory, threads, number, _ARCS)
        stopped = total(memory, threads, number, _STOP) > 0
        live = _bits_of_all(memory, thread, threads, number, scratch, like)
        if thread == 0:
            store_relaxed(cursors, tail, 0)
        instances += _sum_up(level, thread, threads, sources, counts, copy, reached, distance_sum, inverse_sum, depth)
        front, following = following, front
        order, after = after, order
        joint += size_after
        size = size_after
        if distance.size and level == DEEPEST:
            _write(memory, cursors, thread, threads, number, starts.size, like, into, n, words, lanes, packed)
            number += 1
    if distance.size and level < DEEPEST:
        _write(memory, cursors, thread, threads, number, starts.size, like, into, n, words, lanes, packed)
        number += 1
    publish(memory, thread, number + 1, _FOUND, instances)
    barrier(memory, thread, threads, number + 1)
    if thread == 0:
        level -= np.int64(size == 0 and level > 0)  # the last one found nothing
        store(report, LEVELS, level)
        store(report, PULLED, min(pulls, level))
        store(report, JOINT, joint)
        store(report, INSTANCES, total(memory, threads, number + 1, _FOUND))
        store(report, STOPPED, np.int64(stopped))
