"""How rows are cut into tiles of sources; see ``tiles``. Each row belongs to one thread, and so do its segments."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load
from dromos.jit import kernel

ROWS = 16  # that a thread takes at a time
SHIFT = 16  # of a source's id: the rest is the number of its tile


@kernel
def count_segments(thread, threads, offsets, ends, counts, cursor):
    """The arcs of each segment, one place behind it: sums over all of them are where segments begin."""
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
    """The sources of each segment; ``places`` are where segments begin, and are moved."""
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
