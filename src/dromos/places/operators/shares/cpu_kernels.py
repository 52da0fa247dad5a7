"""Shares of shortest paths: threads take chunks of arcs, whose result rows were counted before.

Shared memory. A row of ``through`` is written only by the thread that has its arc.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.graph.gather_kernels import row_at
from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import kernel

CHUNK = 4096


@kernel
def count_edges(thread, threads, offsets, targets, start, rows, cursor, stop):
    """``rows[i + 1]``: the number of arcs of chunk ``i`` that lead from a lesser id to a greater one."""
    arcs, base = np.int64(targets.size), np.int64(load(offsets, 0))
    while load_relaxed(stop, 0) == 0:
        chunk = atomic_add(cursor, 0, 1)
        begin = chunk * CHUNK
        if begin >= arcs:
            break
        row, found = row_at(offsets, np.int64(0), np.int64(offsets.size - 1), base + begin), np.int64(0)
        for arc in range(begin, min(begin + CHUNK, arcs)):
            while np.int64(load(offsets, row + 1)) <= base + arc:
                row += 1
            if start + row < np.int64(load(targets, arc)):
                found += 1
        store(rows, chunk + 1, found)


@kernel
def add_shares(
    thread, threads, offsets, targets, start, rows, level, paths, gain, width, by_arc, through, cursor, stop,
):  # fmt: skip
    """Add as the contract says; the rows of chunk ``i`` begin at ``rows[i]``."""
    arcs, base = np.int64(targets.size), np.int64(load(offsets, 0))
    while load_relaxed(stop, 0) == 0:
        chunk = atomic_add(cursor, 0, 1)
        begin = chunk * CHUNK
        if begin >= arcs:
            break
        row, at = row_at(offsets, np.int64(0), np.int64(offsets.size - 1), base + begin), np.int64(load(rows, chunk))
        for arc in range(begin, min(begin + CHUNK, arcs)):
            while np.int64(load(offsets, row + 1)) <= base + arc:
                row += 1
            u, v = start + row, np.int64(load(targets, arc))
            if by_arc == 0 and u >= v:
                continue
            u, v = u * width, v * width
            total = load(through, at)
            for source in range(width):
                step = load(level, v + source) - load(level, u + source)
                if step == 1:
                    total += load(paths, u + source) * load(gain, v + source)
                elif step == -1 and by_arc == 0:
                    total += load(paths, v + source) * load(gain, u + source)
            store(through, at, total)
            at += 1
