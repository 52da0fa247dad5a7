"""Triangles of a graph on disk: whole rows of slices against rows of lower ranks that are held in memory.

Ranks, hubs, bits and credits are those of ``dromos.engines.native.triangles_oriented_kernels``. Rows come by with ids;
a triangle is found with the row of its corner ``u`` of highest rank.

Shared memory. A row is processed by one thread; rows of bits and ``by_rank`` are updated by relaxed atomics.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.common import first_arc
from dromos.engines.native.triangles_oriented_kernels import ONE, marked_of, shared_bits
from dromos.intrinsics import atomic_add, atomic_or, load, load_relaxed, prefetch, store
from dromos.jit import LINE, kernel

CHUNK = 64
AHEAD = 16  # arcs whose ranks are asked for in advance: branches that depend on them would wait for memory


@kernel
def look_over(thread, threads, start, offsets, targets, first, last, rank, lower, hub_rows, hubs, cursor, stop):
    """Count the neighbors of lower rank of the rows ``first..last``; those of hubs become bits, both ways."""
    shift, words = first_arc(offsets, 0), hubs >> 6
    while load_relaxed(stop, 0) == 0:
        position = first + atomic_add(cursor, 0, CHUNK)
        if position >= last:
            break
        for row in range(position, min(position + CHUNK, last)):
            r = np.int64(load(rank, start + row))
            begin, end = first_arc(offsets, row) - shift, first_arc(offsets, row + 1) - shift
            found = np.int64(0)
            for arc in range(begin, end):
                prefetch(rank, load(targets, min(arc + AHEAD, end - 1)))
                found += np.int64(np.int64(load(rank, load(targets, arc))) < r)
            store(lower, r, np.int32(found))
            for arc in range(begin, end if r < hubs else begin):
                q = np.int64(load(rank, load(targets, arc)))
                if q < r:
                    atomic_or(hub_rows, r * words + (q >> 6), ONE << np.uint64(q & 63))
                    atomic_or(hub_rows, q * words + (r >> 6), ONE << np.uint64(r & 63))


@kernel
def hold(thread, threads, start, offsets, targets, first, last, rank, begins, held, low, cursor, stop):
    """Write the neighbors of lower rank of the rows whose rank is ``low`` or one of the next, which ``begins`` has."""
    shift, high = first_arc(offsets, 0), low + begins.size - 1
    while load_relaxed(stop, 0) == 0:
        position = first + atomic_add(cursor, 0, CHUNK)
        if position >= last:
            break
        for row in range(position, min(position + CHUNK, last)):
            r = np.int64(load(rank, start + row))
            if r < low or r >= high:
                continue
            at, full = load(begins, r - low), load(begins, r - low + 1)
            end = first_arc(offsets, row + 1) - shift
            for arc in range(first_arc(offsets, row) - shift, end):
                prefetch(rank, load(targets, min(arc + AHEAD, end - 1)))
                if at == full:  # the next entry belongs to another row
                    break
                q = load(rank, load(targets, arc))
                store(held, at, q)
                at += np.int64(q < r)


@kernel
def count(
    thread, threads, start, offsets, targets, first, last, rank, begins, held, low, with_hubs, hub_rows, hubs, bits,
    lists, credit, by_rank, totals, cursor, stop,
):  # fmt: skip
    """Count the triangles whose corner of highest rank is one of the rows ``first..last``, and whose middle one is held
    or, ``with_hubs``, a hub whose other corner is one as well.

    Per thread, ``bits`` has a bit for each vertex, ``lists`` room for one more than the most members of lower rank,
    ``credit`` a number for each hub and ``totals`` the number of triangles.
    """
    shift, high, words = first_arc(offsets, 0), low + begins.size - 1, hubs >> 6
    base, mine = thread * (bits.size // threads), thread * hubs
    list_base = thread * (lists.size // threads)
    total = np.int64(0)
    while load_relaxed(stop, 0) == 0:
        position = first + atomic_add(cursor, 0, CHUNK)
        if position >= last:
            break
        for row in range(position, min(position + CHUNK, last)):
            r = np.int64(load(rank, start + row))
            if r <= low and not with_hubs:  # none of its members is held, and it may not be there whole
                continue
            end, top, wanted = list_base, np.int64(-1), np.int64(0)
            after = first_arc(offsets, row + 1) - shift
            for arc in range(first_arc(offsets, row) - shift, after):
                prefetch(rank, load(targets, min(arc + AHEAD, after - 1)))
                q = np.int64(load(rank, load(targets, arc)))
                store(lists, end, q)  # the next one takes its place if it is not lower
                end += np.int64(q < r)
            for place in range(list_base, end):
                q = np.int64(load(lists, place))
                word = base + (q >> 6)
                store(bits, word, load(bits, word) | (ONE << np.uint64(q & 63)))
                if q < hubs:
                    top = max(top, q)
                elif low <= q and q < high:
                    wanted += 1
                    prefetch(begins, q - low)
            among_hubs, found = np.int64(0), np.int64(0)
            if end - list_base > 1 and (wanted > 0 or with_hubs):
                for place in range(list_base, end):
                    v = np.int64(load(lists, place))
                    if v < hubs:
                        if with_hubs:
                            shared = shared_bits(hub_rows, v * words, bits, base, (top >> 6) + 1)
                            among_hubs += shared
                            store(credit, mine + v, load(credit, mine + v) + shared)
                    elif low <= v and v < high:
                        of_v = marked_of(
                            load(begins, v - low), load(begins, v - low + 1), held, hubs, bits, base, credit, mine,
                            by_rank,
                        )  # fmt: skip
                        if of_v:
                            atomic_add(by_rank, v, of_v)
                            found += of_v
            for place in range(list_base, end):
                store(bits, base + (np.int64(load(lists, place)) >> 6), np.uint64(0))
            found += among_hubs >> 1
            if found:
                atomic_add(by_rank, r, found)
                total += found
    store(totals, thread * LINE, load(totals, thread * LINE) + total)
