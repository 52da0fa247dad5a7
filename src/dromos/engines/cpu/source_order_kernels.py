"""Kernels that order sources, and rows of blocks, by their number of arcs; see ``source_order``."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load, store
from dromos.jit import inline, kernel

CLASSES = 256  # of degrees


@inline
def _class_of(offsets, v):
    """A number that grows with the degree, by one for about a quarter of a power of two."""
    degree, octaves = np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v)), np.int64(0)
    while degree >= 8:
        degree >>= 1
        octaves += 1
    return octaves * 4 + degree


@kernel
def count_classes(thread, threads, offsets, counts, arcs):
    """Count the vertices of each class in this thread's range, and their arcs: ``counts[thread, class]``."""
    n, mine, own = offsets.size - 1, counts[thread], arcs[thread]
    for v in range(n * thread // threads, n * (thread + 1) // threads):
        kind = _class_of(offsets, v)
        mine[kind] += 1
        own[kind] += np.int64(load(offsets, v + 1)) - np.int64(load(offsets, v))


@kernel
def place_by_class(thread, threads, offsets, starts, nowhere, places):
    """Write the places of this thread's vertices, ``nowhere`` without arcs.

    ``starts[thread, class]`` is the place of the first of them in that class, and is advanced.
    """
    n, mine = offsets.size - 1, starts[thread]
    for v in range(n * thread // threads, n * (thread + 1) // threads):
        kind, place = _class_of(offsets, v), nowhere
        if kind > 0:
            place = np.uint32(mine[kind])
            mine[kind] += 1
        store(places, v, place)


@inline
def _class_of_row(offsets, row, longest):
    return _class_of(offsets, row) if load(offsets, row + 1) - load(offsets, row) <= longest else np.int64(0)


@kernel
def number_rows(thread, threads, offsets, longest, firsts, places, counts, starts, cursor):
    """Number the rows of each block by class; see ``row_numbers``.

    ``starts`` has ``CLASSES`` entries for each thread.
    """
    mine = thread * CLASSES
    while True:
        block = atomic_add(cursor, 0, 1)
        if block >= firsts.size - 1:
            break
        first, last = load(firsts, block), load(firsts, block + 1)
        for kind in range(mine, mine + CLASSES):
            store(starts, kind, 0)
        for row in range(first, last):
            kind = mine + _class_of_row(offsets, row, longest)
            store(starts, kind, load(starts, kind) + 1)
        count = np.int64(0)
        for lower in range(1, CLASSES):
            kind = mine + CLASSES - lower
            start = count
            count += load(starts, kind)
            store(starts, kind, start)
        store(counts, block, count)
        for row in range(first, last):
            kind, number = _class_of_row(offsets, row, longest), count
            if kind > 0:
                number = load(starts, mine + kind)
                store(starts, mine + kind, number + 1)
            store(places, row, np.uint32(number))


@kernel
def count_in_segments(thread, threads, offsets, sources, places, picked, rows, span, long, longest, found, cursor):
    """How many ``picked`` arcs have at least ``long`` arcs of their row in their tile: by id, and by ``places``.

    ``found`` has two counts for each thread.
    """
    shift, mine = np.int64(load(offsets, 0)), found[thread]
    while True:
        sample = atomic_add(cursor, 0, 1)
        if sample >= picked.size:
            break
        at, row = load(picked, sample), load(rows, sample)
        begin = np.int64(load(offsets, row)) - shift
        end = min(np.int64(load(offsets, row + 1)) - shift, begin + longest)
        tile, place = load(sources, at) >> span, load(places, load(sources, at)) >> span
        by_id = by_place = np.int64(0)
        for arc in range(begin, end):
            source = load(sources, arc)
            by_id += 1 if source >> span == tile else 0
            by_place += 1 if load(places, source) >> span == place else 0
        mine[0] += 1 if by_id >= long else 0
        mine[1] += 1 if by_place >= long else 0
