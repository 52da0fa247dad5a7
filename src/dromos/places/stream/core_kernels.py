"""Upper bounds of core numbers, lowered row by row until they are right.

A bound is too high if fewer neighbors than that have such a bound. Then the row of the vertex finds the next one: the
greatest number of neighbors that have at least this bound. Beside the bound of a vertex stands a count: the number of
neighbors whose bounds are at least its own, or less. Whoever lowers a bound takes one from the counts of the neighbors
that counted it, and marks those whose counts fall below their bounds.

Shared memory. A row is processed by one thread, others only lower its count and set its mark. Two neighbors may be
processed at once: each writes its bound, passes a fence, and reads the bound of the other. So one of them at least sees
the new bound of the other: the later one counts right, or the earlier one takes from its count. If both do, the count
is too low, and the row is looked at once more.

``state[2 * v]`` is the bound of ``v`` and ``state[2 * v + 1]`` its count, so that both are in one cache line. A branch
that depends on such a line is often predicted wrongly, and then waits for memory; so lines are asked for in advance.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.common import first_arc, is_there
from dromos.intrinsics import atomic_add, full_fence, load, load_relaxed, prefetch, store, store_relaxed
from dromos.jit import inline, kernel

CHUNK = 64
AHEAD = 16  # arcs
SETTLED, MARKED = np.uint8(0), np.uint8(1)


@inline
def _lower(v, targets, begin, end, state, marks, numbers, base):
    """Lower the bound of ``v`` to what its row allows; ``numbers`` from ``base`` on is zero, before and after."""
    store_relaxed(marks, v, SETTLED)
    store_relaxed(state, 2 * v + 1, np.int32(0))
    full_fence()
    bound = np.int64(load_relaxed(state, 2 * v))
    for arc in range(begin, end):
        prefetch(state, 2 * np.int64(load(targets, min(arc + AHEAD, end - 1))))
        other = np.int64(load_relaxed(state, 2 * np.int64(load(targets, arc))))
        place = base + min(other, bound)
        store(numbers, place, load(numbers, place) + 1)
    least, enough = bound, np.int64(load(numbers, base + bound))
    while enough < least:
        least -= 1
        enough += np.int64(load(numbers, base + least))
    for place in range(base, base + bound + 1):
        store(numbers, place, np.int32(0))
    if least < bound:
        store_relaxed(state, 2 * v, np.int32(least))
        full_fence()
        enough = np.int64(0)
        for arc in range(begin, end):
            prefetch(state, 2 * np.int64(load(targets, min(arc + AHEAD, end - 1))))
            u = np.int64(load(targets, arc))
            other = np.int64(load_relaxed(state, 2 * u))
            enough += np.int64(other >= least)
            if least < other and other <= bound and atomic_add(state, 2 * u + 1, np.int32(-1)) <= other:
                store_relaxed(marks, u, MARKED)
    if np.int64(atomic_add(state, 2 * v + 1, np.int32(enough))) + enough < least:
        store_relaxed(marks, v, MARKED)


@kernel
def lower_bounds(
    thread, threads, start, offsets, targets, first, last, pages, first_page, page_bits, state, marks, numbers, cursor,
    stop,
):  # fmt: skip
    """Process the marked rows ``first..last`` of a slice that begins with vertex ``start``, if all of a row is there.

    ``numbers``: for each thread, one more than the greatest bound.
    """
    shift = first_arc(offsets, 0)
    base = thread * (numbers.size // threads)
    while load_relaxed(stop, 0) == 0:
        position = first + atomic_add(cursor, 0, CHUNK)
        if position >= last:
            break
        for row in range(position, min(position + CHUNK, last)):
            if load_relaxed(marks, start + row) != MARKED:
                continue
            begin, end = first_arc(offsets, row), first_arc(offsets, row + 1)
            if is_there(pages, first_page, page_bits, begin, end):
                _lower(start + row, targets, begin - shift, end - shift, state, marks, numbers, base)
