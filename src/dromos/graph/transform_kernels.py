"""Compiled kernels behind the transformations of graphs."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from dromos.jit import atomic_add, kernel

ROWS_A_TICKET = 1024


@kernel
def count_kept(thread, num_threads, ticket, offsets, targets, chosen, new_ids, degrees):
    """``degrees[i]``: the number of arcs of vertex ``chosen[i]`` to vertices with a new id (0 or more)."""
    while True:
        first = atomic_add(ticket, 0, ROWS_A_TICKET)
        if first >= chosen.size:
            return
        for i in range(first, min(chosen.size, first + ROWS_A_TICKET)):
            degree = 0
            for at in range(offsets[chosen[i]], offsets[chosen[i] + 1]):
                degree += new_ids[targets[at]] >= 0
            degrees[i] = degree


@kernel
def gather_kept(
    thread, num_threads, ticket, offsets, targets, weights, weighted, chosen, new_ids, starts, src, dst, kept_weights
):
    """Write the arcs counted by :func:`count_kept`, in new ids; those of ``chosen[i]`` from ``starts[i]`` on.

    Sources are not written if ``src`` is empty: the rows imply them.
    """
    with_sources = src.size != 0
    while True:
        first = atomic_add(ticket, 0, ROWS_A_TICKET)
        if first >= chosen.size:
            return
        for i in range(first, min(chosen.size, first + ROWS_A_TICKET)):
            out = starts[i]
            for at in range(offsets[chosen[i]], offsets[chosen[i] + 1]):
                v = new_ids[targets[at]]
                if v >= 0:
                    if with_sources:
                        src[out] = i
                    dst[out] = v
                    if weighted:
                        kept_weights[out] = weights[at]
                    out += 1


@kernel
def count_loops(thread, num_threads, ticket, offsets, targets, found):
    """``found[thread]``: the number of self-loops in the rows that this thread took."""
    num_vertices = offsets.size - 1
    loops = 0
    while True:
        first = atomic_add(ticket, 0, ROWS_A_TICKET)
        if first >= num_vertices:
            break
        for u in range(first, min(num_vertices, first + ROWS_A_TICKET)):
            for at in range(offsets[u], offsets[u + 1]):
                loops += targets[at] == u
    found[thread] = loops


@kernel
def loops_by_row(thread, num_threads, ticket, offsets, targets, loops):
    """``loops[u]``: the number of self-loops of ``u``."""
    while True:
        first = atomic_add(ticket, 0, ROWS_A_TICKET)
        if first >= loops.size:
            return
        for u in range(first, min(loops.size, first + ROWS_A_TICKET)):
            own = 0
            for at in range(offsets[u], offsets[u + 1]):
                own += targets[at] == u
            loops[u] = own
