"""Compiled passes over rows: facts about them, and sums that show whether two sets of arcs are the same."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.jit import atomic_add, kernel

LOOPS, FIRST_PARALLEL, FIRST_UNSORTED, FIRST_OUTSIDE, NUM_FACTS = range(5)
FORWARD, BACKWARD = range(2)
NOWHERE = np.iinfo(np.int64).max
ROWS_A_TICKET = 1024

_K1 = np.uint64(0x9E3779B97F4A7C15)
_K2 = np.uint64(0xD6E8FEB86659FD93)
_K3 = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)


@kernel
def _mixed(u, v, w):
    """A 64-bit hash of an arc that spreads every bit of its ends and its weight over all bits."""
    z = np.uint64(u) * _K1 + _K2
    z ^= z >> _HALF
    z = (z + np.uint64(v)) * _K3
    z ^= z >> _HALF
    z = (z ^ np.uint64(w)) * _K2
    z ^= z >> _HALF
    z *= _K3
    return z ^ (z >> _HALF)


@kernel
def scan_arcs(
    thread, num_threads, ticket, first_vertex, num_vertices, offsets, targets, weight_bits, minus_zero, facts, sums
):  # fmt: skip
    """Scan every arc of some rows; ``targets`` begin at ``offsets[0]``, and row 0 is the vertex ``first_vertex``.

    The sums over all arcs ``(u, v, w)`` and over all ``(v, u, w)`` do not depend on their order: they are equal if the
    graph is symmetric, and otherwise differ except with a chance of 2^-64.
    """
    rows = offsets.size - 1
    base = offsets[0]
    weighted = weight_bits.size > 0
    loops = 0
    parallel = unsorted = outside = NOWHERE
    forward = backward = np.uint64(0)
    while True:
        first = atomic_add(ticket, 0, ROWS_A_TICKET)
        if first >= rows:
            break
        for row in range(first, min(rows, first + ROWS_A_TICKET)):
            u = first_vertex + row
            begin = offsets[row] - base
            w = np.uint64(0)
            for i in range(begin, offsets[row + 1] - base):
                v = np.int64(targets[i])
                if v < 0 or v >= num_vertices:
                    outside = min(outside, base + i)
                if v == u:
                    loops += 1
                if i > begin:
                    before = np.int64(targets[i - 1])
                    if before == v:
                        parallel = min(parallel, base + i)
                    elif before > v:
                        unsorted = min(unsorted, base + i)
                if weighted:
                    w = np.uint64(weight_bits[i])
                    if w == minus_zero:
                        w = np.uint64(0)
                forward += _mixed(u, v, w)
                backward += _mixed(v, u, w)
    facts[thread, LOOPS] = loops
    facts[thread, FIRST_PARALLEL] = parallel
    facts[thread, FIRST_UNSORTED] = unsorted
    facts[thread, FIRST_OUTSIDE] = outside
    sums[thread, FORWARD] = forward
    sums[thread, BACKWARD] = backward


@kernel
def first_descent(thread, num_threads, values, found):
    """The smallest position of this thread's share where a value is below the one before it."""
    found[thread] = NOWHERE
    for i in range(max(1, values.size * thread // num_threads), values.size * (thread + 1) // num_threads):
        if values[i] < values[i - 1]:
            found[thread] = i
            return


@kernel
def text_hashes(thread, num_threads, utf8, offsets, hashes):
    """A 64-bit hash of each text."""
    count = offsets.size - 1
    for t in range(count * thread // num_threads, count * (thread + 1) // num_threads):
        h = np.uint64(offsets[t + 1] - offsets[t])
        for i in range(offsets[t], offsets[t + 1]):
            h = (h ^ np.uint64(utf8[i])) * _K1
            h ^= h >> _HALF
        hashes[t] = h
