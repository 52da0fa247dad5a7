"""Compiled kernels that copy rows in another order: pieces for a device that renames them, or a few renamed rows."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from dromos.intrinsics import prefetch
from dromos.jit import inline, kernel

_AHEAD = 12  # rows whose arcs are prefetched; their offsets are prefetched as far ahead again


@inline
def row_at(starts, low, high, arc):
    """The last of the rows ``low..high`` that begins at ``arc`` or before."""
    while high - low > 1:
        middle = (low + high) >> 1
        if starts[middle] <= arc:
            low = middle
        else:
            high = middle
    return low


@inline
def _copy_part(thread, threads, values, into):
    for at in range(values.size * thread // threads, values.size * (thread + 1) // threads):
        into[at] = values[at]


@kernel
def gather_piece(thread, threads, first, last, old_ids, offsets, starts, values, staged, found, into):
    """Copy ``found`` to ``into``, and the rows ``first..last`` to ``staged``, one after the other.

    Row ``i`` begins at ``starts[i]`` among all new rows, and is that of ``old_ids[i]``, which begins at ``offsets`` of
    that vertex in ``values``. All threads copy equally much, even from one long row.
    """
    _copy_part(thread, threads, found, into)
    if first == last:
        return
    base, total = starts[first], starts[last] - starts[first]
    at, end = base + total * thread // threads, base + total * (thread + 1) // threads
    if at == end:
        return
    row = row_at(starts, first, last, at)
    while at < end:
        while starts[row + 1] <= at:
            row += 1
        prefetch(offsets, old_ids[min(row + 2 * _AHEAD, last - 1)])
        prefetch(values, offsets[old_ids[min(row + _AHEAD, last - 1)]])
        stop = min(end, starts[row + 1])
        source = offsets[old_ids[row]] + (at - starts[row])
        place = at - base
        for k in range(stop - at):
            staged[place + k] = values[source + k]
        at = stop


@kernel
def rename_rows(
    thread, threads, vertices, old_ids, new_ids, given_offsets, offsets, given_targets, targets, given_words, words
):
    """Copy the rows of ``vertices`` to their places, with new ids; ``words`` are their weights, or empty."""
    for i in range(thread, vertices.size, threads):
        v = vertices[i]
        source, place = given_offsets[old_ids[v]], offsets[v]
        count = offsets[v + 1] - place
        for k in range(count):
            targets[place + k] = new_ids[given_targets[source + k]]
        if words.size:
            for k in range(count):
                words[place + k] = given_words[source + k]
