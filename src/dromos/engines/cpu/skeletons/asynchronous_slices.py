"""Asynchronous execution over slices: each row comes by once in a superstep, and new values spread with the next rows.

As in ``asynchronous``, a message is applied as soon as it is made, and programs in which sending changes a vertex
(``sent``) are left out. ``marks[v]`` is one of:

- ``NEVER``: ``v`` was not active yet, so it must not send.
- ``PENDING``: its state has changed since it was sent; it is in the next frontier unless its row still comes by.
- ``QUIET``: its state has been sent along all of its arcs.
- ``CHANGED``: as ``PENDING``, in a pull that does not send: such a vertex changed in this superstep.

A row is processed by one thread, which swaps the mark from ``PENDING`` to ``QUIET`` before it reads the state to send.
Whoever changes a state writes it before swapping the mark to ``PENDING``. So a change is either read, or leaves the
vertex ``PENDING``; see ``asynchronous`` for why both have to swap.

A row may gather from every source that is not ``NEVER``: what a quiet source sends again changes nothing.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.asynchronous import NO, deliver, gather, send
from dromos.engines.cpu.skeletons.common import (
    BLOCK,
    CHUNK,
    FIRST,
    HUB,
    HUB_COUNT,
    HUBS,
    MESSAGES,
    ONE,
    OVERFLOWS,
    QUEUE,
    append,
    first_arc,
    flush,
    is_there,
    reserve,
    take_piece,
    take_work,
)  # fmt: skip
from dromos.engines.cpu.skeletons.hooks import WANTS_ALWAYS, wants_at
from dromos.intrinsics import atomic_swap_acq_rel, load, load_relaxed, store, store_relaxed
from dromos.jit import LINE, barrier, inline, kernel

# ---- everything above is replaced by a program's own hooks

NEVER, PENDING, QUIET, CHANGED = NO, ONE, np.uint8(2), np.uint8(3)
WAITING_WORD = np.uint64(0x0101010101010101)  # the bit that PENDING and CHANGED have in common, in each of eight marks

# What becomes of a row that the slice may hold only a piece of.
BY_MARK, ALWAYS, NOT = 0, 1, 2


@inline
def gather_along(S, O, E, K, locks, marks, changed, v, begin, end, sources, weights, fits):
    """Gather along the arcs ``begin..end`` of a slice, which lead to ``v``, and apply the message; return the number of
    messages."""
    if not WANTS_ALWAYS and not wants_at(S, K, v):
        return 0, fits
    message, found = gather(S, E, K, marks, v, begin, end, sources, weights)
    if found:
        active, fitted = deliver(S, O, K, locks, v, message)
        fits &= fitted
        if active:
            atomic_swap_acq_rel(marks, v, changed)
    return found, fits


@inline
def is_taken(marks, v, rule):
    """Whether the row of ``v`` is to be sent now; marks it as sent. One thread asks for each row."""
    if rule != BY_MARK:
        return rule == ALWAYS
    return load_relaxed(marks, v) == PENDING and atomic_swap_acq_rel(marks, v, QUIET) == PENDING


@kernel
def pass_slice(
    thread, threads, piece, pages, first_page, page_bits, gathers, sends, first_rule, last_rule, listed, rows, size,
    S, O, E, K, locks, marks, following, hubs, buffer, counters, memory, report,
):  # fmt: skip
    """Let the rows of a slice gather, send, or both: ``rows`` if ``listed``, else all that the slice has.

    ``first_rule`` and ``last_rule``: whether the first and the last row, which may be cut, are sent.
    """
    start, offsets, ends, weights = piece
    shift = first_arc(offsets, 0)
    last = offsets.size - 2
    count = size if listed else last + 1
    changed = PENDING if sends else CHANGED
    base = thread * BLOCK
    messages = held = 0
    fits = True
    while True:
        position = take_work(counters, FIRST, CHUNK)
        if position >= count:
            break
        for index in range(position, min(position + CHUNK, count)):
            row = np.int64(load(rows, index)) - start if listed else index
            v = start + row
            rule = first_rule if row == 0 else last_rule if row == last else BY_MARK
            if not gathers and (rule == NOT or (rule == BY_MARK and load_relaxed(marks, v) != PENDING)):
                continue
            begin, end = first_arc(offsets, row), first_arc(offsets, row + 1)
            if not is_there(pages, first_page, page_bits, begin, end):
                continue
            if end - begin > HUB:
                hubs[reserve(counters, HUB_COUNT, 1)] = row
                continue
            if gathers:
                found, fits = gather_along(
                    S, O, E, K, locks, marks, changed, v, begin - shift, end - shift, ends, weights, fits
                )
                messages += found
            if sends and is_taken(marks, v, rule):
                held, fits = send(
                    S, O, S, E, K, locks, marks, not listed, v, begin - shift, end - shift, ends, weights, following,
                    counters, buffer, base, held, fits,
                )  # fmt: skip
                messages += end - begin
    barrier(memory, thread, threads, 1)
    if load_relaxed(counters, HUB_COUNT * LINE) > 0:
        if gathers:
            while True:
                row, begin, end = take_piece(counters, hubs, offsets)
                if row < 0:
                    break
                found, fits = gather_along(
                    S, O, E, K, locks, marks, changed, start + row, begin - shift, end - shift, ends, weights, fits
                )
                messages += found
        barrier(memory, thread, threads, 2)
        if thread == 0:
            kept = np.int64(0)
            for index in range(load_relaxed(counters, HUB_COUNT * LINE)):
                row = load(hubs, index)
                rule = first_rule if row == 0 else last_rule if row == last else BY_MARK
                if sends and is_taken(marks, start + row, rule):
                    store(hubs, kept, row)
                    kept += 1
            store_relaxed(counters, HUB_COUNT * LINE, kept)
            store_relaxed(counters, HUBS * LINE, np.int64(0))
        barrier(memory, thread, threads, 3)
        while True:
            row, begin, end = take_piece(counters, hubs, offsets)
            if row < 0:
                break
            held, fits = send(
                S, O, S, E, K, locks, marks, not listed, start + row, begin - shift, end - shift, ends, weights,
                following, counters, buffer, base, held, fits,
            )  # fmt: skip
            messages += end - begin
    flush(following, counters, QUEUE, buffer, base, held)
    report[thread * LINE + MESSAGES] = messages
    report[thread * LINE + OVERFLOWS] = 0 if fits else 1


@kernel
def collect_waiting(thread, threads, offsets, words, marks, pulled, following, buffer, counters):
    """List the vertices of the next frontier by their marks, which ``words`` views, eight in each.

    ``pulled``: all vertices have gathered from those that were ``PENDING``, and only those ``CHANGED`` since are left.
    A vertex without arcs has nothing to send, and no slice need have its row.
    """
    n = offsets.size - 1
    base = thread * BLOCK
    held = 0
    for word in range(words.size * thread // threads, words.size * (thread + 1) // threads):
        if load(words, word) & WAITING_WORD == np.uint64(0):
            continue
        for v in range(8 * word, min(8 * word + 8, n)):
            mark = load(marks, v)
            if mark != PENDING and mark != CHANGED:
                continue
            if (pulled and mark == PENDING) or first_arc(offsets, v) == first_arc(offsets, v + 1):
                store(marks, v, QUIET)
            else:
                store(marks, v, PENDING)
                held = append(following, counters, QUEUE, buffer, base, held, v)
    flush(following, counters, QUEUE, buffer, base, held)
