"""The compiled kernel that gives random weights to arcs; see :mod:`.weights`."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from dromos.graph.generators.rng_kernels import below, random_word, unit_float
from dromos.jit import atomic_add, kernel

ROWS_A_TICKET = 1024


@kernel
def _edge_word(u, v, copy, low, high):
    """A random word for the ``copy``-th edge from ``u`` to ``v``: the words of ``u`` and ``copy`` key that of ``v``."""
    return random_word(v, random_word(u, low, high), random_word(copy, high, low))


@kernel
def arc_weights(
    thread, num_threads, ticket, low, high, offsets, targets, undirected, count_copies, whole, start, span, largest,
    weights,
):  # fmt: skip
    """Fill ``weights`` from ``start`` on: with one of ``span`` whole numbers, or a real below ``start + span``."""
    num_vertices = offsets.size - 1
    while True:
        first = atomic_add(ticket, 0, ROWS_A_TICKET)
        if first >= num_vertices:
            return
        for u in range(first, min(num_vertices, first + ROWS_A_TICKET)):
            copy = 0
            for i in range(offsets[u], offsets[u + 1]):
                v = np.int64(targets[i])
                copy = copy + 1 if count_copies and i > offsets[u] and targets[i - 1] == v else 0
                a, b = (v, u) if undirected and v < u else (u, v)
                word = _edge_word(a, b, copy, low, high)
                step = np.float64(below(word, np.uint64(span))) if whole else unit_float(word) * span
                weights[i] = min(start + step, largest)
