"""Local moving on a team of threads, with a result that does not depend on the number of threads.

Vertices are processed in batches, whose size depends only on the level. For each batch:

1. All threads look for the best community of the batch's vertices, against the state before the batch.
2. One thread makes the moves, in the order of the batch.
3. All threads visit the edges of the vertices that moved, and flag neighbors that may want to move now.

The flagged vertices, in the random order of the level, are those of the next pass.

While much moves, a move is made if it gains by the current totals and the neighbors of before the batch. Vertices of
the batch that moved meanwhile are flagged or flag it, so that wrong decisions are revised. Once little moves, or after
``STALE_PASSES``, the thread that makes the moves checks each vertex that wants to move again, so that every move gains
and the process ends.

Each thread has a table of all communities with sums of weights, which are 0 between two vertices, and total strengths.
Both are in one cache line, which saves a quarter of the time on a graph that exceeds the cache. The totals of thread 0,
which makes the moves, are authoritative; the other threads copy what changed.

Shared memory. Between two barriers, data of other vertices is only read; a vertex of the batch, its flag and its
``room`` are written by the thread that took it. Flags are set by plain stores of the same value, and ``room`` is
lowered by relaxed atomics on integers, whose sum does not depend on their order.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.community_levels import LEAST_GAIN, ONE_IN_EXACT, ROOM, STALE_PASSES
from dromos.intrinsics import atomic_add, load, load_relaxed, load_unaligned, prefetch, store, store_relaxed
from dromos.jit import LINE, barrier, inline, kernel, publish, published, total

CURSORS = 3
STAYS = -1  # a choice
ALONE = -2  # a choice: its own community
_AHEAD = 16  # arcs between the prefetch of a neighbor's community and its use
_ROWS = 4  # vertices between two stages of prefetching: a row's offset, the row, communities, sums
_FIRST = 8  # arcs of a row whose communities are prefetched before it is visited
_MOVES_AHEAD = 8  # vertices of the batch
_CHUNK = 256  # vertices that a thread takes at a time, at most
# what threads publish at a barrier
_WANTED, _ARCS, _STOP, _MOVED, _HUBS = 0, 1, 2, 3, 4


@inline
def _sum_up(offsets, targets, weights, v, community, table, base, seen, front):
    """Add up the weights of a vertex's edges by community; return the number of communities ``seen``."""
    begin, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
    found = np.int64(0)
    for arc in range(begin, end):
        prefetch(community, np.int64(load(targets, min(arc + 2 * _AHEAD, end - 1))))
        prefetch(table, base + 2 * np.int64(load(community, load(targets, min(arc + _AHEAD, end - 1)))))
        u = load(targets, arc)
        weight = np.float64(load(weights, arc)) if weights.size else 1.0
        if u != v and weight > 0:
            c = load(community, u)
            place = base + 2 * np.int64(c)
            so_far = load(table, place)
            store(seen, front + found, c)  # overwritten by the next one if it was seen before: no branch to predict
            store(table, place, so_far + weight)
            found += np.int64(so_far == 0)
    return found


@inline
def _choose(scale, k, old, sizes, table, base, seen, front, found):
    """The community that gains most, the weight of its edges minus those to ``old``, and its lead over the next.

    Resets the sums to 0.
    """
    least, share = LEAST_GAIN * k, scale * k
    here = load(table, base + 2 * old)
    best, gain, edges = old, here - share * (load(table, base + 2 * old + 1) - k), here
    alone = load(sizes, old) == 1
    second = -np.inf if alone else 0.0  # being alone is an option too
    for i in range(found):
        prefetch(table, base + 2 * np.int64(load(seen, front + min(i + _AHEAD, found - 1))))
        c = np.int64(load(seen, front + i))
        weight = load(table, base + 2 * c)
        store(table, base + 2 * c, 0.0)
        gained = weight - share * load(table, base + 2 * c + 1)
        if c != old:
            if gained > gain + least:
                second = max(second, gain)
                best, gain, edges = c, gained, weight
            else:
                second = max(second, gained)
    if gain < -least and not alone:
        return np.int64(ALONE), -here, -gain
    if best == old:
        return np.int64(STAYS), 0.0, gain - second
    return best, edges - here, gain - second


@inline
def _due(flags, r, hubs, room):
    """Whether the vertex at place ``r`` of the order is flagged, and has no room left."""
    return load(flags, r) != 0 and (r >= hubs or load(room, r) < 0)


@inline
def _list(thread, threads, memory, number, flags, hubs, room, listed):
    """List the flagged vertices by their places in the order; return their number, and that of hubs among them."""
    n = listed.size
    begin, end = n * thread // threads, n * (thread + 1) // threads
    mine, mine_hubs = np.int64(0), np.int64(0)
    r = begin
    while r < end:
        if load_unaligned(flags, r) == 0:
            r += 8
            continue
        for place in range(r, min(r + 8, end)):
            if _due(flags, place, hubs, room):
                mine += 1
                mine_hubs += np.int64(place < hubs)
        r += 8
    publish(memory, thread, number, 0, mine)
    publish(memory, thread, number, 1, mine_hubs)
    barrier(memory, thread, threads, number)
    at = np.int64(0)
    for other in range(thread):
        at += published(memory, other, number, 0)
    r = begin
    while r < end and mine > 0:
        if load_unaligned(flags, r) == 0:
            r += 8
            continue
        for place in range(r, min(r + 8, end)):
            if _due(flags, place, hubs, room):
                store(listed, at, place)
                at += 1
        r += 8
    return total(memory, threads, number, 0), total(memory, threads, number, 1)


@inline
def _ask_ahead(j, last, shift, listed, order, offsets, targets, strength, community, table, base):
    """Prefetch what the vertices after number ``j`` of the batch need, in four stages."""
    v = np.int64(load(order, np.int64(load(listed, min(j + 4 * _ROWS, last) + shift))))
    prefetch(offsets, v)
    prefetch(strength, v)
    prefetch(community, v)
    v = np.int64(load(order, np.int64(load(listed, min(j + 3 * _ROWS, last) + shift))))
    prefetch(targets, np.int64(load(offsets, v)))
    v = np.int64(load(order, np.int64(load(listed, min(j + 2 * _ROWS, last) + shift))))
    begin = np.int64(load(offsets, v))
    for arc in range(begin, min(begin + _FIRST, np.int64(load(offsets, v + 1)))):
        prefetch(community, np.int64(load(targets, arc)))
    v = np.int64(load(order, np.int64(load(listed, min(j + _ROWS, last) + shift))))
    begin = np.int64(load(offsets, v))
    for arc in range(begin, min(begin + _FIRST, np.int64(load(offsets, v + 1)))):
        prefetch(table, base + 2 * np.int64(load(community, np.int64(load(targets, arc)))))


@inline
def _visit(
    r, j, offsets, targets, weights, strength, scale, whole, community, sizes, order, hubs, room, flags,
    choices, edges, olds, masses, table, base, seen, front,
):  # fmt: skip
    """Look for the best community of the vertex at place ``r`` of the order, number ``j`` of the batch; return its
    number of arcs, and that number again if it wants to move."""
    v = np.int64(load(order, r))
    store(flags, r, 0)
    old, k = np.int64(load(community, v)), load(strength, v)
    found = _sum_up(offsets, targets, weights, v, community, table, base, seen, front)
    best, more, lead = _choose(scale, k, old, sizes, table, base, seen, front, found)
    store(choices, j, best)
    store(edges, j, more)
    store(olds, j, old)
    store(masses, j, k)
    if r < hubs:
        store(room, r, np.int64(min(lead / whole * ROOM, ROOM)))
    arcs = np.int64(load(offsets, v + 1) - load(offsets, v))
    return arcs, arcs if best != STAYS else np.int64(0)


@inline
def _make_moves(
    count, batch_hubs, first_hub, shift, exact, offsets, targets, weights, strength, scale, whole, community, sizes,
    order, hubs, room, flags, listed, choices, edges, olds, masses, movers, left, joined, free, table, seen,
):  # fmt: skip
    """Make the moves of a batch one after the other, on thread 0; return their number, and that of hubs' moves."""
    n, base, front = strength.size, np.int64(0), np.int64(0)
    moved, moved_hubs = np.int64(0), np.int64(0)
    for j in range(count):
        later = min(j + _MOVES_AHEAD, count - 1)
        best, old = np.int64(load(choices, later)), np.int64(load(olds, later))
        if best != STAYS:
            prefetch(table, 2 * best)
            prefetch(sizes, best)
            prefetch(table, 2 * old)
            prefetch(sizes, old)
        best = np.int64(load(choices, j))
        if best == STAYS:
            continue
        r = np.int64(load(listed, j + (first_hub if j < batch_hubs else shift)))
        v = np.int64(load(order, r))
        old, k = np.int64(load(olds, j)), load(masses, j)
        if exact:
            found = _sum_up(offsets, targets, weights, v, community, table, base, seen, front)
            best, _, lead = _choose(scale, k, old, sizes, table, base, seen, front, found)
            if r < hubs:
                store(room, r, np.int64(min(lead / whole * ROOM, ROOM)))
        else:
            there = 0.0 if best == ALONE else load(table, 2 * best + 1)
            gain = load(edges, j) - scale * k * (there - load(table, 2 * old + 1) + k)
            gone = load(sizes, old) == 1 if best == ALONE else load(sizes, best) == 0
            if gone or gain <= LEAST_GAIN * k:
                best = np.int64(STAYS)
                store(flags, r, 1)
                if r < hubs:
                    store(room, r, -1)
        if best == STAYS:
            continue
        if best == ALONE:
            free[n] -= 1
            best = np.int64(free[free[n]])
        store(community, v, best)
        store(table, 2 * best + 1, load(table, 2 * best + 1) + k)
        store(sizes, best, load(sizes, best) + 1)
        members = load(sizes, old) - 1
        store(sizes, old, members)
        # exactly 0 if it is empty, without rounding errors
        store(table, 2 * old + 1, load(table, 2 * old + 1) - k if members > 0 else 0.0)
        if members == 0:
            free[free[n]] = old
            free[n] += 1
        store(movers, moved, v)
        store(left, moved, old)
        store(joined, moved, best)
        moved += 1
        if j < batch_hubs:
            moved_hubs = moved
    return moved, moved_hubs


@inline
def _copy_totals(moved, left, joined, table, base):
    """Copy the changed totals to a thread's table from that of thread 0, which made the moves."""
    for i in range(moved):
        c = 2 * np.int64(load(left, min(i + _AHEAD, moved - 1)))
        prefetch(table, c)
        prefetch(table, base + c)
        c = 2 * np.int64(load(joined, min(i + _AHEAD, moved - 1)))
        prefetch(table, c)
        prefetch(table, base + c)
        c = 2 * np.int64(load(left, i)) + 1
        store(table, base + c, load(table, c))
        c = 2 * np.int64(load(joined, i)) + 1
        store(table, base + c, load(table, c))


@inline
def _flag_around(v, old, offsets, targets, weights, whole, community, places, hubs, room, flags):
    """Flag the neighbors of a vertex that left ``old`` if they may want to move now."""
    best, end = load(community, v), np.int64(load(offsets, v + 1))
    for arc in range(load(offsets, v), end):
        ahead = np.int64(load(targets, min(arc + _AHEAD, end - 1)))
        prefetch(community, ahead)
        prefetch(places, ahead)
        u = np.int64(load(targets, arc))
        there = load(community, u)
        if there == best:
            continue
        r = np.int64(load(places, u))
        if r < hubs and load_relaxed(room, r) >= 0:
            weight = np.float64(load(weights, arc)) if weights.size else 1.0
            atomic_add(room, r, -1 - np.int64((weight + weight if there == old else weight) / whole * ROOM))
        if load_relaxed(flags, r) == 0:
            store_relaxed(flags, r, 1)


@kernel
def move_in_batches(
    thread, threads, offsets, targets, weights, strength, scale, whole, community, totals, sizes, order, places, hubs,
    room, flags, listed, batch, choices, edges, olds, masses, movers, left, joined, free, table, seen, cursors, memory,
    stop,
):  # fmt: skip
    """Move vertices to the community around them that gains most, until no flagged vertex gains by a move.

    Hubs that were touched and have room left are not visited again in the end: next to none of them would move.

    ``totals`` and ``sizes`` are the strengths and members of communities; ``table`` has two entries for each community
    and thread, ``seen`` has one, and both have some more, to keep threads apart.

    ``order`` has the ``hubs`` first, and ``places`` is its inverse. ``room`` is what neighbors of a hub may use up
    before it is visited again, in units of ``whole / ROOM``, where ``whole`` is the strength of all. It is indexed by
    place in the order, as are ``flags``, which are 1 and have 8 more entries, of 0. ``free`` has the numbers of
    communities without members, with their count in its last entry.
    """
    n, base, front = strength.size, thread * (table.size // threads), thread * (seen.size // threads)
    for c in range(n):
        store(table, base + 2 * c, 0.0)
        store(table, base + 2 * c + 1, load(totals, c))
    number, stale = np.int64(0), np.int64(STALE_PASSES)
    while True:
        number += 1
        length, listed_hubs = _list(thread, threads, memory, number, flags, hubs, room, listed)
        if length == 0:
            return
        number += 1
        barrier(memory, thread, threads, number)
        batches = (length + batch - 1) // batch
        others = length - listed_hubs
        for at in range(batches):
            first_hub = listed_hubs * at // batches
            batch_hubs = listed_hubs * (at + 1) // batches - first_hub
            shift = listed_hubs + others * at // batches - batch_hubs
            count = listed_hubs + others * (at + 1) // batches - shift
            chunk = max(np.int64(1), min(np.int64(_CHUNK), (count - batch_hubs) // (8 * threads)))
            arcs, wanted = np.int64(0), np.int64(0)
            while True:
                j = np.int64(atomic_add(cursors, 0, 1))
                if j >= batch_hubs:
                    break
                prefetch(targets, np.int64(load(offsets, np.int64(load(order, np.int64(load(
                    listed, min(j + threads, batch_hubs - 1) + first_hub
                )))))))  # fmt: skip
                seen_arcs, wanted_arcs = _visit(
                    np.int64(load(listed, j + first_hub)), j, offsets, targets, weights, strength, scale, whole,
                    community, sizes, order, hubs, room, flags, choices, edges, olds, masses, table, base,
                    seen, front,
                )  # fmt: skip
                arcs += seen_arcs
                wanted += wanted_arcs
            while True:
                first = batch_hubs + np.int64(atomic_add(cursors, LINE, chunk))
                if first >= count or load_relaxed(stop, 0) != 0:
                    break
                last = min(first + chunk, count)
                for j in range(first, last):
                    _ask_ahead(j, last - 1, shift, listed, order, offsets, targets, strength, community, table, base)
                    seen_arcs, wanted_arcs = _visit(
                        np.int64(load(listed, j + shift)), j, offsets, targets, weights, strength, scale, whole,
                        community, sizes, order, hubs, room, flags, choices, edges, olds, masses, table,
                        base, seen, front,
                    )  # fmt: skip
                    arcs += seen_arcs
                    wanted += wanted_arcs
            number += 1
            publish(memory, thread, number, _WANTED, wanted)
            publish(memory, thread, number, _ARCS, arcs)
            publish(memory, thread, number, _STOP, load_relaxed(stop, 0))
            barrier(memory, thread, threads, number)
            if total(memory, threads, number, _STOP) != 0:
                return
            wanted, arcs = total(memory, threads, number, _WANTED), total(memory, threads, number, _ARCS)
            number += 1
            if thread == 0:
                moved, moved_hubs = _make_moves(
                    count, batch_hubs, first_hub, shift, stale <= 0 or ONE_IN_EXACT * wanted <= arcs, offsets, targets,
                    weights, strength, scale, whole, community, sizes, order, hubs, room, flags, listed, choices, edges,
                    olds, masses, movers, left, joined, free, table, seen,
                )  # fmt: skip
                publish(memory, thread, number, _MOVED, moved)
                publish(memory, thread, number, _HUBS, moved_hubs)
                for cursor in range(CURSORS):
                    store_relaxed(cursors, cursor * LINE, 0)
            barrier(memory, thread, threads, number)
            moved, moved_hubs = published(memory, 0, number, _MOVED), published(memory, 0, number, _HUBS)
            if thread > 0:
                _copy_totals(moved, left, joined, table, base)
            chunk = max(np.int64(1), min(np.int64(_CHUNK), (moved - moved_hubs) // (8 * threads)))
            while moved > 0:
                first = np.int64(atomic_add(cursors, 2 * LINE, 1))
                last = first + 1
                if first >= moved_hubs:
                    first = moved_hubs + (first - moved_hubs) * chunk
                    last = min(first + chunk, moved)
                if first >= moved:
                    break
                for i in range(first, last):
                    prefetch(offsets, np.int64(load(movers, min(i + 2 * _ROWS, moved - 1))))
                    prefetch(targets, np.int64(load(offsets, np.int64(load(movers, min(i + _ROWS, moved - 1))))))
                    _flag_around(
                        np.int64(load(movers, i)), load(left, i), offsets, targets, weights, whole, community, places,
                        hubs, room, flags,
                    )  # fmt: skip
            number += 1
            barrier(memory, thread, threads, number)
        stale -= 1
