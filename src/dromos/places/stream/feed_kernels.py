"""Compiled kernels of the stream's feed."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np

from dromos.intrinsics import trailing_zeros
from dromos.jit import inline, kernel

_ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@inline
def mark_range(marked, begin, end, shift, last_marked):
    """Mark the pages of the arcs ``begin..end``, after those up to ``last_marked``; return the last marked one."""
    if end <= begin:
        return last_marked
    last = (end - 1) >> shift
    for page in range(max(begin >> shift, last_marked + 1), last + 1):
        marked[page] = 1
    return max(last_marked, last)


@kernel
def mark_pages(thread, num_threads, vertices, offsets, shift, marked):
    """Set ``marked`` to 1 for the pages of ``1 << shift`` arcs that hold arcs of ``vertices`` (ascending)."""
    last_marked = np.int64(-1)
    for i in range(vertices.size * thread // num_threads, vertices.size * (thread + 1) // num_threads):
        v = np.int64(vertices[i])
        last_marked = mark_range(marked, np.int64(offsets[v]), np.int64(offsets[v + 1]), shift, last_marked)


@kernel
def mark_pages_of_bits(thread, num_threads, bits, first, last, offsets, shift, marked):
    """As :func:`mark_pages`, for those of ``first..last`` whose bits are set: the rows of a run of them are one range.

    So where nearly all vertices are set, or none, the work does not grow with them.
    """
    low, high = first >> 6, (last + 63) >> 6
    last_marked = np.int64(-1)
    for word in range(low + (high - low) * thread // num_threads, low + (high - low) * (thread + 1) // num_threads):
        rest, base = bits[word], np.int64(word) << 6
        if base < first:
            rest &= _ALL << np.uint64(first & 63)
        if base + 64 > last:
            rest &= _ALL >> np.uint64(base + 64 - last)
        while rest != np.uint64(0):
            v = np.int64(trailing_zeros(rest))
            run = np.int64(trailing_zeros(~(rest >> np.uint64(v))))
            rest &= rest + (np.uint64(1) << np.uint64(v))  # carries past the run
            begin, end = np.int64(offsets[base + v]), np.int64(offsets[base + v + run])
            last_marked = mark_range(marked, begin, end, shift, last_marked)


@kernel
def spread_offsets(thread, num_threads, ids, ends, low, offsets):
    """Set ``offsets[v - low]`` to the end of rows before v: row ``ids[i]`` ends at ``ends[i]``, ``ids[0]`` is low."""
    if thread == 0:
        offsets[0] = 0
    for i in range(ids.size * thread // num_threads, ids.size * (thread + 1) // num_threads):
        begin = np.int64(ids[i]) - low + 1
        end = np.int64(ids[i + 1]) - low + 1 if i + 1 < ids.size else offsets.size
        for at in range(begin, end):
            offsets[at] = ends[i]


@kernel
def rows_with_arcs(thread, num_threads, vertices, start, offsets, ids, begins, starts, count):
    """List those of ``vertices`` whose rows have arcs, where each row begins, and where it begins after packing.

    ``offsets`` are those of the rows from vertex ``start`` on. Single-threaded: ``count`` gets the number of rows.
    """
    rows, arcs, first = 0, np.int64(0), np.int64(offsets[0])
    starts[0] = 0
    for i in range(vertices.size):
        v = np.int64(vertices[i]) - start
        begin, end = np.int64(offsets[v]), np.int64(offsets[v + 1])
        if end > begin:
            arcs += end - begin
            ids[rows], begins[rows], starts[rows + 1] = vertices[i], begin - first, arcs
            rows += 1
    count[0] = rows
