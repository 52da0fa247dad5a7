"""Triangles for skewed degrees: ids by descending degree, and the hubs' rows as bits.

Every vertex keeps only its neighbors of lower rank, so no row is longer than the square root of twice the number of
edges. Every triangle is found at its corner ``u`` of highest rank, whose neighbors of lower rank are marked by bits. If
the other two corners are hubs, the row of each hub neighbor is intersected with the bits, 64 vertices at a time: their
number is the hub's credit, and half the sum of all credits is the number of triangles. If the middle corner ``v`` is
not a hub, its short row is looked up.

Shared memory. Ranks and rows are written by the thread that took the chunk, and read after a barrier. ``by_rank`` is
updated by relaxed atomics. A thread's bits and its credits to hubs, which receive nearly all credits, are private; they
are summed after a barrier. Each phase has its own cursor.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, atomic_or, count_bits, load, load_relaxed, prefetch, store
from dromos.jit import LINE, barrier, inline, kernel

HUBS = 8192
ROWS = 512
CHUNK = 64
PHASES = 4
ONE = np.uint64(1)


@kernel
def rank_by_degree(offsets, begins, rank, member):
    """Rank vertices by descending degree, ties by id: ``member[rank[v]] == v``. ``begins``: max degree + 2 zeros."""
    n, top = offsets.size - 1, begins.size - 2
    for v in range(n):
        place = top - (load(offsets, v + 1) - load(offsets, v)) + 1
        store(begins, place, load(begins, place) + 1)
    for place in range(top + 1):
        begins[place + 1] += begins[place]
    for v in range(n):
        place = top - (load(offsets, v + 1) - load(offsets, v))
        r = load(begins, place)
        store(begins, place, r + 1)
        store(rank, v, r)
        store(member, r, v)


@kernel
def orient(
    thread, threads, offsets, targets, rank, member, low_offsets, low_targets, hub_rows, hubs, cursors, stop, memory
):  # fmt: skip
    """Write rows of lower ranks; those of the first ``hubs`` ranks also as bits, both ways (``hub_rows`` is zeros)."""
    n = offsets.size - 1
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursors, 0, ROWS)
        if start >= n:
            break
        for r in range(start, min(start + ROWS, n)):
            v = load(member, r)
            lower = np.int64(0)
            for arc in range(load(offsets, v), load(offsets, v + 1)):
                lower += np.int64(load(rank, load(targets, arc)) < r)
            store(low_offsets, r + 1, lower)
    barrier(memory, thread, threads, 1)
    if load_relaxed(cursors, 0) < n:  # stopped: not all rows are counted
        return
    if thread == 0:
        so_far = np.int64(0)
        store(low_offsets, 0, 0)
        for r in range(n):
            so_far += load(low_offsets, r + 1)
            store(low_offsets, r + 1, so_far)
    barrier(memory, thread, threads, 2)
    words = hubs >> 6
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursors, LINE, ROWS)
        if start >= n:
            break
        for r in range(start, min(start + ROWS, n)):
            v = load(member, r)
            at, end = load(low_offsets, r), load(low_offsets, r + 1)
            for arc in range(load(offsets, v), load(offsets, v + 1)):
                if at == end:  # the next entry belongs to another row
                    break
                q = load(rank, load(targets, arc))
                store(low_targets, at, q)
                at += np.int64(q < r)
            if r < hubs:
                for at in range(load(low_offsets, r), end):
                    q = np.int64(load(low_targets, at))
                    atomic_or(hub_rows, r * words + (q >> 6), ONE << np.uint64(q & 63))
                    atomic_or(hub_rows, q * words + (r >> 6), ONE << np.uint64(r & 63))


@inline
def shared_bits(hub_rows, row, bits, base, words):
    """How many of the first vertices are marked and in a row of bits."""
    found = np.uint64(0)
    for word in range(words):
        found += count_bits(load(hub_rows, row + word) & load(bits, base + word))
    return np.int64(found)


@inline
def marked_of(begin, end, targets, hubs, bits, base, credit, mine, by_rank):
    """How many members of a row are marked; each of them gets a credit."""
    found = np.int64(0)
    for at in range(begin, end):
        w = np.int64(load(targets, at))
        if (load(bits, base + (w >> 6)) >> np.uint64(w & 63)) & ONE:
            found += 1
            if w < hubs:
                store(credit, mine + w, load(credit, mine + w) + 1)
            else:
                atomic_add(by_rank, w, np.int64(1))
    return found


@inline
def _below(u, offsets, targets, hub_rows, hubs, bits, base, credit, mine, by_rank):
    """Count the triangles whose highest rank is ``u``; its neighbors are marked."""
    begin, end = load(offsets, u), load(offsets, u + 1)
    top = np.int64(-1)
    for at in range(begin, end):
        v = np.int64(load(targets, at))
        word = base + (v >> 6)
        store(bits, word, load(bits, word) | (ONE << np.uint64(v & 63)))
        if v < hubs:
            top = max(top, v)
        else:
            prefetch(offsets, v)
    words = (top >> 6) + 1
    among_hubs, found = np.int64(0), np.int64(0)
    for at in range(begin, end):
        v = np.int64(load(targets, at))
        if v < hubs:
            shared = shared_bits(hub_rows, v * (hubs >> 6), bits, base, words)
            among_hubs += shared
            store(credit, mine + v, load(credit, mine + v) + shared)
            continue
        of_v = marked_of(
            load(offsets, v), load(offsets, v + 1), targets, hubs, bits, base, credit, mine, by_rank
        )  # fmt: skip
        if of_v:
            atomic_add(by_rank, v, of_v)
            found += of_v
    for at in range(begin, end):
        store(bits, base + (np.int64(load(targets, at)) >> 6), np.uint64(0))
    return found + (among_hubs >> 1)


@kernel
def count_oriented(
    thread, threads, offsets, targets, hub_rows, hubs, bits, credit, by_rank, member, counts, cursors, stop, totals,
    memory,
):  # fmt: skip
    """Write the triangles of every vertex into ``counts``, in the order of ids; this thread's number into ``totals``.

    Per thread, ``bits`` has a bit for each vertex and ``credit`` a number for each hub; ``by_rank`` has one for each
    vertex. All are zeros.
    """
    n = offsets.size - 1
    base, mine = thread * ((n + 63) >> 6), thread * hubs
    total = np.int64(0)
    while True:
        start = n - 1 - atomic_add(cursors, 2 * LINE, CHUNK)
        if start < 0 or load_relaxed(stop, 0) != 0:
            break
        for u in range(start, max(start - CHUNK, -1), -1):
            if load(offsets, u + 1) - load(offsets, u) > 1:
                found = _below(u, offsets, targets, hub_rows, hubs, bits, base, credit, mine, by_rank)
                if found:
                    atomic_add(by_rank, u, found)
                    total += found
    store(totals, thread * LINE, total)
    barrier(memory, thread, threads, 1)
    while True:
        start = atomic_add(cursors, 3 * LINE, ROWS)
        if start >= n:
            break
        for r in range(start, min(start + ROWS, n)):
            found = load_relaxed(by_rank, r)
            if r < hubs:
                for other in range(threads):
                    found += load(credit, other * hubs + r)
            store(counts, load(member, r), found)
