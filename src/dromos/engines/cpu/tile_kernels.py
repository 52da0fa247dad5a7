"""Kernels that split rows into tiles of sources; see ``tiles``. Each row and its segments belong to one thread."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load
from dromos.jit import kernel

ROWS = 16  # that a thread takes at a time
SHIFT = 16  # right shift that turns a source's id into the number of its tile


@kernel
def count_segments(thread, threads, offsets, ends, counts, cursor):
    """Count the arcs of each segment, at its index plus one: prefix sums are where segments begin."""
    rows = offsets.size - 1
    shift = np.int64(load(offsets, 0))
    while True:
        first = atomic_add(cursor, 0, ROWS)
        if first >= rows:
            break
        for row in range(first, min(first + ROWS, rows)):
            for arc in range(np.int64(load(offsets, row)) - shift, np.int64(load(offsets, row + 1)) - shift):
                tile = np.int64(load(ends, arc)) >> SHIFT
                counts[tile * rows + row + 1] += counts.dtype.type(1)


@kernel
def fill_segments(thread, threads, offsets, ends, places, sources, cursor):
    """Write the sources of each segment; ``places`` are where segments begin, and are advanced."""
    rows = offsets.size - 1
    shift = np.int64(load(offsets, 0))
    while True:
        first = atomic_add(cursor, 0, ROWS)
        if first >= rows:
            break
        for row in range(first, min(first + ROWS, rows)):
            for arc in range(np.int64(load(offsets, row)) - shift, np.int64(load(offsets, row + 1)) - shift):
                source = np.int64(load(ends, arc))
                segment = (source >> SHIFT) * rows + row
                sources[places[segment]] = np.uint16(source)
                places[segment] += places.dtype.type(1)
