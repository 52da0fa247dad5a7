"""Brandes's two sweeps from 8 or 16 sources at once: one visit of an arc serves all of them.

A vertex has a row of floats, a lane for each source: first the number of paths, then, in its place, the dependency per
path. Its *marks*, one bit per lane, say which sources reach it in a level. A level is a list of vertices with marks. A
vertex is listed once for all sources that reach it in that level, so it is in as many levels as its sources have
different distances.

Only those arcs of a row count that lead to or from the adjacent level in a wanted lane: on Kronecker graphs one in five
for a source, two in five for all 16 together. So the arcs are filtered by the marks, which are small and in cache, and
only rows of arcs that pass are loaded, with their other lanes masked. The mask also replaces the second table that
``betweenness_kernels`` has for levels of the other parity.

A level is found by a push, in which the vertices of the level before give their marks to neighbors that lack them, or,
if these have many of the arcs, by a pull of the vertices that still lack marks, which also sums the paths.

Shared memory. Marks are in three tables in turn: that of the level just finished is read, that of the next level is
written, and the third is cleared for the level after. In a push, marks are set by atomics; the thread that set a
vertex's first mark lists it. All other data of a vertex is written by the thread that took its place in the list, or,
in a pull, its chunk; a row may be read meanwhile, but only in lanes that are not written. Two cursors alternate by
phase.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.betweenness_batch_levels import (
    BUFFER,
    CURSORS,
    PIECE,
    TAIL,
    ask_ahead,
    degree,
    gather,
    pull,
    push,
    settle,
    wipe,
)
from dromos.engines.native.betweenness_rows import lanes_of, turn_row
from dromos.engines.native.levels import chunk_of, ready
from dromos.engines.native.path_counts import LARGE
from dromos.intrinsics import atomic_add, count_bits, load, load_relaxed, prefetch, store, store_relaxed, trailing_zeros
from dromos.jit import LINE, barrier, inline, kernel, publish, published, total

__all__ = ["BUFFER", "CURSORS", "PIECE", "sweep_batch"]

PULL = 6  # a level with more than one in so many of the open vertices' arcs is pulled from
FEW = 4  # rows with less than one in so many lanes are converted lane by lane: division is slow
DEEP = 32  # levels after which sources have to share twice as much: each of them has little work
_ONE = np.uint64(1)
# what threads publish at a barrier
_FOUND, _ARCS, _CLOSED, _MARKS, _INSTANCES, _LARGE, _STOP = 0, 1, 2, 3, 4, 5, 6


@inline
def _tell(memory, stop, thread, number, found, bits, arcs, closed, instances, high):
    publish(memory, thread, number, _FOUND, found)
    publish(memory, thread, number, _MARKS, bits)
    publish(memory, thread, number, _ARCS, arcs)
    publish(memory, thread, number, _CLOSED, closed)
    publish(memory, thread, number, _INSTANCES, instances)
    publish(memory, thread, number, _LARGE, np.int64(high >= LARGE))
    publish(memory, thread, number, _STOP, np.int64(load_relaxed(stop, 0)) if thread == 0 else np.int64(0))


@inline
def _place_sources(sources, lanes, table, seen, front, order, marks_of):
    """Give each source its lane; return the number of distinct vertices among them."""
    size = np.int64(0)
    for lane in range(sources.size):
        v = np.int64(load(sources, lane))
        if load(front, v) == 0:
            store(order, size, v)
            size += 1
        store(front, v, np.uint64(load(front, v)) | (_ONE << np.uint64(lane)))
        store(table, v * lanes + lane, 1.0)
    for at in range(size):
        v = np.int64(load(order, at))
        store(marks_of, at, load(front, v))
        store(seen, v, load(front, v))
    return size


@inline
def _turn(table, v, marks, bits, sums, sums_base):
    """Convert a vertex's path counts to dependencies per path; return the sum of its dependencies."""
    lanes = lanes_of(marks)
    if np.int64(count_bits(bits)) * FEW > lanes:
        return turn_row(table, v, marks, bits, sums, sums_base)
    worth = 0.0
    while bits:
        lane = np.int64(trailing_zeros(bits))
        paths = load(table, v * lanes + lane)
        dependency = paths * load(sums, sums_base + lane)
        store(table, v * lanes + lane, (1.0 + dependency) / paths)
        worth += dependency
        bits &= bits - _ONE
    return worth


@inline
def _back(
    begin, end, cursor, threads, extra, offsets, targets, table, later, own, order, marks_of, score, reached,
    reached_base, mine, cursors,
):  # fmt: skip
    """Compute the dependencies on a level's vertices from the next level, whose marks are in ``later``."""
    sums, sums_base = mine[2], mine[3]
    chunk = chunk_of(end - begin, threads, 1, BUFFER)
    while True:
        first = begin + atomic_add(cursors, cursor, chunk)
        if first >= end:
            return
        for at in range(first, min(first + chunk, end)):
            ask_ahead(order, at, end - 1, offsets, targets, table, own)
            prefetch(score, np.int64(load(order, min(at + 4, end - 1))))
            v, bits = np.int64(load(order, at)), np.uint64(load(marks_of, at))
            store(own, v, bits)
            row, after = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
            if gather(table, targets, row, after, later, bits, mine) == 0:
                for lane in range(lanes_of(own)):
                    store(sums, sums_base + lane, 0.0)
            worth = _turn(table, v, own, bits, sums, sums_base)
            if extra != 0.0:
                worth += extra * np.float64(count_bits(bits))
                while bits:
                    lane = reached_base + np.int64(trailing_zeros(bits))
                    store(reached, lane, load(reached, lane) + 1)
                    bits &= bits - _ONE
            store(score, v, load(score, v) + worth)


@inline
def _credit_sources(sources, extra, threads, stride, reached, score):
    """Add each source's credit as an endpoint: ``extra`` for each vertex that it reached."""
    for lane in range(sources.size):
        count = np.int64(0)
        for thread in range(threads):
            count += load(reached, thread * stride + lane)
            store(reached, thread * stride + lane, 0)
        v = np.int64(load(sources, lane))
        store(score, v, load(score, v) + extra * np.float64(count))


@inline
def _clean(thread, threads, n, listed, order, seen, a, b, c):
    """Reset all marks to zero."""
    if listed < n // 8:
        for marks in (seen, a, b, c):
            wipe(order, np.int64(0), listed, thread, threads, marks)
    else:
        for marks in (seen, a, b, c):
            for v in range(n * thread // threads, n * (thread + 1) // threads):
                store(marks, v, 0)


@kernel
def sweep_batch(
    thread, threads, sources, extra, shared, graph, table, marks, order, marks_of, starts, score, reached, ids, sums,
    powers, buffer, cursors, memory, stop, outcome,
):  # fmt: skip
    """Add the dependencies of all ``sources`` to ``score``, and ``extra`` for either end of each path.

    ``marks`` are all zeros, before and after the call. The batch is abandoned, with nothing added, if a count of paths
    is too large for its dependencies to be represented in floats alone, or if fewer than ``shared`` sources (twice as
    many in a graph of many levels) reach a vertex together, on average; ``outcome[0]`` is 1 then.
    """
    offsets, targets, in_offsets, in_targets = graph
    seen, front, fresh, old = marks
    n, lanes = offsets.size - 1, lanes_of(seen)
    stride, base = lanes + LINE, thread * BUFFER
    mine = (ids, thread * (PIECE + 4 * LINE), sums, thread * stride, powers)
    d, number, live = np.int64(0), np.int64(1), np.uint64(0)
    arcs, open_arcs = np.int64(0), np.int64(targets.size)
    for lane in range(sources.size):
        live |= _ONE << np.uint64(lane)
        arcs += degree(offsets, np.int64(load(sources, lane)))
    if thread == 0:
        size = _place_sources(sources, lanes, table, seen, front, order, marks_of)
        store(starts, 0, 0)
        store(starts, 1, size)
        store_relaxed(cursors, 0, 0)
        store_relaxed(cursors, LINE, 0)
        store_relaxed(cursors, TAIL, size)
    barrier(memory, thread, threads, number)
    before, begin, end = np.int64(0), np.int64(0), np.int64(load(starts, 1))
    instances, stopped, given_up = np.int64(sources.size), False, False
    while True:
        wipe(order, before, begin, thread, threads, old)
        if arcs * PULL > open_arcs + n:
            found, bits, reach, closed, here, high = pull(
                (number & 1) * LINE, live, offsets, in_offsets, in_targets, table, seen, front, fresh, order, marks_of,
                mine, buffer, base, cursors,
            )  # fmt: skip
            open_arcs = np.int64(targets.size)
        else:
            found = push(
                begin, end, (number & 1) * LINE, threads, offsets, targets, seen, fresh, order, marks_of, buffer, base,
                cursors,
            )  # fmt: skip
            number += 1
            publish(memory, thread, number, _FOUND, found)
            ready(memory, cursors, thread, threads, number)
            bits, reach, closed, here, high = settle(
                end, end + total(memory, threads, number, _FOUND), (number & 1) * LINE, threads, live, offsets,
                in_offsets, in_targets, table, seen, front, fresh, order, marks_of, mine, cursors,
            )  # fmt: skip
        number += 1
        _tell(memory, stop, thread, number, found, bits, reach, closed, here, high)
        ready(memory, cursors, thread, threads, number)
        after = end + total(memory, threads, number, _FOUND)
        open_arcs -= total(memory, threads, number, _CLOSED)
        arcs = total(memory, threads, number, _ARCS)
        instances += total(memory, threads, number, _INSTANCES)
        stopped = total(memory, threads, number, _STOP) > 0
        apart = (after > n and instances < shared * after) or (d >= DEEP and instances < 2 * shared * after)
        given_up = total(memory, threads, number, _LARGE) > 0 or apart
        live = np.uint64(0)
        for other in range(threads):
            live |= np.uint64(published(memory, other, number, _MARKS))
        if after == end or stopped or given_up:
            break
        before, begin, end = begin, end, after
        front, fresh, old = fresh, old, front
        d += 1
        if thread == 0:
            store(starts, d + 1, end)
    last, listed = d, after
    number += 1
    ready(memory, cursors, thread, threads, number)
    own, later, spare = front, old, fresh
    while d > 0 and not stopped and not given_up:
        if d + 2 <= last:
            wipe(order, load(starts, d + 2), load(starts, d + 3), thread, threads, spare)
        _back(
            load(starts, d), load(starts, d + 1), (number & 1) * LINE, threads, extra, offsets, targets, table, later,
            own, order, marks_of, score, reached, thread * stride, mine, cursors,
        )  # fmt: skip
        own, later, spare = spare, own, later
        d -= 1
        number += 1
        publish(memory, thread, number, _STOP, np.int64(load_relaxed(stop, 0)) if thread == 0 else np.int64(0))
        ready(memory, cursors, thread, threads, number)
        stopped = total(memory, threads, number, _STOP) > 0
    _clean(thread, threads, n, listed, order, seen, front, fresh, old)
    if thread == 0:
        if extra != 0.0 and not stopped and not given_up:
            _credit_sources(sources, extra, threads, stride, reached, score)
        store(outcome, 0, np.int64(given_up))
