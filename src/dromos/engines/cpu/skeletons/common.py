"""What all skeletons share and what depends on no hooks: locks, queues that several threads fill, and dealing out
work."""

# mypy: ignore-errors
from __future__ import annotations

import platform

import numpy as np

from dromos.intrinsics import (
    atomic_add,
    compare_and_swap,
    load,
    load_relaxed,
    sched_yield,
    spin_hint,
    store_release,
)  # fmt: skip
from dromos.jit import LINE, inline

BLOCK = 256  # entries that a thread buffers before it reserves room in a shared queue
CHUNK = 64  # vertices that a thread takes at a time
ROWS = 1024  # vertices that a thread takes at a time in a pass over all of them
HUB = 16384  # a longer row is split into pieces, so that it does not stall a thread
PIECE = 4096
FOLD = 64  # vertices whose reductions are folded into one place; threads take whole numbers of such blocks
ONE = np.uint8(1)
SWAPS_WAIT = platform.machine() in ("x86_64", "AMD64")  # a compare-and-swap waits for all stores before it

# Counters of the team, a cache line each: four cursors that threads take work from, three sizes, and the stop flag.
FIRST, SECOND, THIRD, HUBS, HUB_COUNT, QUEUE, TOUCHED, STOP = range(8)
NO_MORE = np.int64(1) << np.int64(62)

# What a thread reports, in int64 words of its own line; a skeleton may add more words.
MESSAGES, OUT_DEGREES, IN_DEGREES, OVERFLOWS = range(4)


@inline
def is_there(pages, first_page, page_bits, begin, end):
    """Whether the slice has the arcs ``begin..end`` (numbers in the whole graph); no ``pages``: it has all."""
    if pages.size == 0 or begin == end:
        return True
    first, last = (begin >> page_bits) - first_page, ((end - 1) >> page_bits) - first_page
    if first < 0 or last >= pages.size:
        return False
    there = True
    for page in range(first, last + 1):
        there &= load(pages, page) != 0
    return there


@inline
def first_arc(offsets, v):
    """Where the row of ``v`` begins; offsets may have 4 or 8 bytes."""
    return np.int64(load(offsets, v))


@inline
def fold_share(thread, threads, n):
    """A thread's share of all vertices, ``first..last``, in whole blocks of ``FOLD``."""
    blocks = (n + FOLD - 1) // FOLD
    return blocks * thread // threads * FOLD, min(blocks * (thread + 1) // threads * FOLD, n)


@inline
def lock(locks, v):
    spins = 0
    while not compare_and_swap(locks, v, np.uint8(0), np.uint8(1)):
        spins += 1
        if spins < 100:
            spin_hint()
        else:
            sched_yield()


@inline
def unlock(locks, v):
    store_release(locks, v, np.uint8(0))


@inline
def append(queue, counters, which, buffer, base, held, v):
    """Put ``v`` into a shared queue through the thread's buffer; return the number of buffered entries."""
    buffer[base + held] = v
    held += 1
    if held == BLOCK:
        flush(queue, counters, which, buffer, base, held)
        held = 0
    return held


@inline
def flush(queue, counters, which, buffer, base, held):
    at = reserve(counters, which, held)
    for i in range(held):
        queue[at + i] = buffer[base + i]


@inline
def take_work(counters, which, size):
    """The first of the next ``size`` items that no thread has taken; past the end once the team is to stop."""
    if load_relaxed(counters, STOP * LINE) != 0:
        return NO_MORE
    return atomic_add(counters, which * LINE, size)


@inline
def reserve(counters, which, size):
    """Reserve ``size`` entries in a shared queue; return the position of the first."""
    return atomic_add(counters, which * LINE, size)


@inline
def take_piece(counters, hubs, offsets):
    """A piece of a hub's row that no thread has taken: the vertex and its arcs; the vertex is -1 if none is left.

    The pieces of all hubs are numbered consecutively; a number is located by walking the few hubs.
    """
    count = load_relaxed(counters, HUB_COUNT * LINE)
    piece = take_work(counters, HUBS, 1) if count > 0 else NO_MORE
    for index in range(count):
        u = np.int64(load(hubs, index))
        begin, end = first_arc(offsets, u), first_arc(offsets, u + 1)
        pieces = (end - begin + PIECE - 1) // PIECE
        if piece < pieces:
            begin += piece * PIECE
            return u, begin, min(begin + PIECE, end)
        piece -= pieces
    return np.int64(-1), np.int64(0), np.int64(0)
