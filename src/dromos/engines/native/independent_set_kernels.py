"""Vertices in the order of their draws, and those that join an independent set in that order, by one thread."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.walks_kernels import STEP, mixed
from dromos.intrinsics import load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel

_DRAW_BITS, _ID_BITS = 30, 33  # of a key
_ID = (1 << _ID_BITS) - 1
DIGIT_BITS = 11  # bits per sorting pass: so many places are written to in turn, and a small cache holds them
_DIGIT = (1 << DIGIT_BITS) - 1
_PATIENCE = 4095  # vertices between two checks of the stop flag
_AHEAD = 16  # vertices between the prefetch of a row and its use
UNDECIDED = 2


@inline
def _draw(seed, n, keys, digits, lowest, counts):
    """The draws of all vertices, ``dr.random(v, seed)``, each with the vertex in the lower bits; digits are counted."""
    of_seed = np.uint64(seed) * STEP + STEP
    for v in range(n):
        word = mixed(mixed(np.uint64(v) * STEP + STEP) + of_seed)
        key = (np.int64(word >> np.uint64(64 - _DRAW_BITS)) << _ID_BITS) | v
        store(keys, v, key)
        for digit in range(digits):
            place = (digit << DIGIT_BITS) | ((key >> (lowest + digit * DIGIT_BITS)) & _DIGIT)
            store(counts, place, load(counts, place) + 1)


@inline
def _place(n, keys, source, goal, shift, counts, first):
    """Copy the keys from ``source`` on to ``goal`` on, sorted by the digit at ``shift``."""
    before = goal
    for place in range(first, first + (1 << DIGIT_BITS)):
        count = load(counts, place)
        store(counts, place, before)
        before += count
    for i in range(source, source + n):
        key = load(keys, i)
        place = first + ((key >> shift) & _DIGIT)
        at = load(counts, place)
        store(keys, at, key)
        store(counts, place, at + 1)


@inline
def _settle(n, keys, first):
    """Sort keys that are sorted except for lower digits: few are in the wrong place, and near to the right one."""
    for i in range(first + 1, first + n):
        key, at = load(keys, i), i
        while at > first and load(keys, at - 1) > key:
            store(keys, at, load(keys, at - 1))
            at -= 1
        store(keys, at, key)


@kernel
def choose(thread, threads, offsets, targets, seed, digits, keys, counts, member, stop):
    """From the highest draw on, add each vertex that has no member next to it; ``member`` is ``UNDECIDED`` before.

    ``keys`` has room for two per vertex. They are sorted by their highest ``digits`` digits, whose ``counts`` are zero,
    and then by insertion.
    """
    n = member.size
    lowest = _ID_BITS + _DRAW_BITS - digits * DIGIT_BITS
    _draw(seed, n, keys, digits, lowest, counts)
    first = np.int64(0)
    for digit in range(digits):
        _place(n, keys, first, n - first, lowest + digit * DIGIT_BITS, counts, digit << DIGIT_BITS)
        first = n - first
    _settle(n, keys, first)
    for i in range(n):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return
        last = first + n - 1 - i
        coming = load(keys, max(last - 2 * _AHEAD, first)) & _ID
        prefetch(offsets, coming)
        prefetch(member, coming)
        coming = load(keys, max(last - _AHEAD, first)) & _ID
        if load(member, coming) == UNDECIDED:
            prefetch(targets, np.int64(load(offsets, coming)))
        v = load(keys, last) & _ID
        if load(member, v) == UNDECIDED:
            store(member, v, 1)
            for arc in range(np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))):
                store(member, np.int64(load(targets, arc)), 0)
