"""Kernels that copy blocks of memory, bitmaps and rows, with all threads of a team."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load, store
from dromos.jit import inline, kernel


@kernel
def copy_words(thread, threads, values, into):
    """Copy all of ``values`` to ``into``."""
    for at in range(values.size * thread // threads, values.size * (thread + 1) // threads):
        store(into, at, load(values, at))


@kernel
def spread_bits(thread, threads, marks, first, last, into):
    """Unpack the bits of ``first..last`` to one byte each; ``marks`` begins with the word of ``first``."""
    low, count = first >> 6, last - first
    for v in range(first + count * thread // threads, first + count * (thread + 1) // threads):
        into[v] = np.uint8((load(marks, (v >> 6) - low) >> np.uint64(v & 63)) & np.uint64(1))


@inline
def _first_from(targets, begin, end, least):
    """The first index in ``begin..end`` of the ascending ``targets`` whose value is at least ``least``."""
    while begin < end:
        middle = (begin + end) >> 1
        if targets[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@kernel
def find_runs(thread, threads, offsets, targets, first, last, begins, lengths):
    """``begins[i]``, ``lengths[i + 1]``: the run of the sorted row ``i`` whose targets lie in ``first..last``."""
    for row in range(begins.size * thread // threads, begins.size * (thread + 1) // threads):
        begin, end = offsets[row], offsets[row + 1]
        begins[row] = _first_from(targets, begin, end, first)
        lengths[row + 1] = _first_from(targets, begins[row], end, last) - begins[row]


@kernel
def gather_rows(thread, threads, begins, starts, values, into):
    """Copy rows to be contiguous: row ``i`` from ``begins[i]`` of ``values`` to ``starts[i]`` of ``into``."""
    total = load(starts, begins.size)
    at, end = total * thread // threads, total * (thread + 1) // threads
    low, high = np.int64(0), np.int64(begins.size)
    while high - low > 1:  # the row that holds `at`
        middle = (low + high) >> 1
        if load(starts, middle) <= at:
            low = middle
        else:
            high = middle
    row = low
    while at < end:
        while load(starts, row + 1) <= at:
            row += 1
        stop = min(end, load(starts, row + 1))
        shift = load(begins, row) - load(starts, row)
        for place in range(at, stop):
            store(into, place, load(values, place + shift))
        at = stop
