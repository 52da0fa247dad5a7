"""Blocks of memory and bitmaps, copied by all threads of a team."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load, store
from dromos.jit import inline, kernel


@kernel
def copy_words(thread, threads, values, into):
    """All of ``values`` to ``into``."""
    for at in range(values.size * thread // threads, values.size * (thread + 1) // threads):
        store(into, at, load(values, at))


@kernel
def spread_bits(thread, threads, marks, first, last, into):
    """The bits of ``first..last`` to one byte each; ``marks`` are words that begin with the one of ``first``."""
    low, count = first >> 6, last - first
    for v in range(first + count * thread // threads, first + count * (thread + 1) // threads):
        into[v] = np.uint8((load(marks, (v >> 6) - low) >> np.uint64(v & 63)) & np.uint64(1))


@inline
def _first_from(targets, begin, end, least):
    """Where the targets ``begin..end``, which ascend, are ``least`` or more."""
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
    """Rows one behind the other: row ``i`` begins at ``begins[i]`` of ``values``, and at ``starts[i]`` of ``into``."""
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
