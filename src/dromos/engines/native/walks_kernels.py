"""Random walks, optionally with the second-order bias of node2vec.

A walk has its own stream of random numbers (SplitMix64 from a hash of the seed and the walk's number), so that it does
not depend on the threads. A step draws a neighbor in proportion to its weight, and draws again until the bias accepts
it (rejection sampling): 1/p for the way back, 1 for a common neighbor, 1/q for others, over the greatest of them. After
``TRIES`` rejections, which happen if no neighbor has nearly the greatest bias, all neighbors are weighed.

Shared memory. The row of a walk, or of sums, is written by the thread that took it.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import atomic_add, load_relaxed
from dromos.jit import inline, kernel

TRIES = 1000  # never needed for p and q from 1/4 to 4
_CHUNK = 64
_ROWS = 1024
STEP = np.uint64(0x9E3779B97F4A7C15)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


@inline
def mixed(x):
    """SplitMix64, as in :mod:`dromos.engines.splitmix` for arrays."""
    x = (x ^ (x >> np.uint64(30))) * _A
    x = (x ^ (x >> np.uint64(27))) * _B
    return x ^ (x >> np.uint64(31))


@inline
def _unit(x):
    """A number in [0, 1)."""
    return np.float64(mixed(x) >> np.uint64(11)) * _UNIT


@inline
def _drawn(offsets, sums, v, chance):
    """Draw an arc of ``v`` in proportion to its weight: ``sums`` are running sums over each row, or of size 0."""
    begin, end = offsets[v], offsets[v + 1]
    if sums.size == 0:
        return begin + np.int64(chance * (end - begin))
    wanted = chance * sums[end - 1]
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] <= wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inline
def _joined(offsets, targets, u, v):
    """Whether there is an arc from ``u`` to ``v``; the ids in a row ascend."""
    low, high = offsets[u], offsets[u + 1]
    while low < high:
        middle = (low + high) >> 1
        if targets[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low < offsets[u + 1] and targets[low] == v


@inline
def _bias(offsets, targets, before, u, p, q):
    """The bias of a step to ``u`` for a walk that was at ``before``."""
    bias = 1.0 / q
    if u == before:
        bias = 1.0 / p
    elif _joined(offsets, targets, before, u):
        bias = 1.0
    return bias


@inline
def _weighed(offsets, targets, sums, v, before, p, q, arc):
    """The weight of an arc of ``v`` times its bias."""
    share = 1.0
    if sums.size:
        share = sums[arc] - (sums[arc - 1] if arc > offsets[v] else 0.0)
    return share * _bias(offsets, targets, before, np.int64(targets[arc]), p, q)


@inline
def _drawn_of_all(offsets, targets, sums, v, before, p, q, chance):
    """Draw an arc of ``v`` in proportion to weight times bias, among all of them."""
    total = 0.0
    for arc in range(offsets[v], offsets[v + 1]):
        total += _weighed(offsets, targets, sums, v, before, p, q, arc)
    wanted = chance * total
    arc = np.int64(offsets[v])
    running = _weighed(offsets, targets, sums, v, before, p, q, arc)
    while running <= wanted and arc < offsets[v + 1] - 1:
        arc += 1
        running += _weighed(offsets, targets, sums, v, before, p, q, arc)
    return arc


@kernel
def sum_rows(thread, threads, offsets, weights, sums, cursor, stop):
    """Write the running sums of each row of ``weights``, relative to its greatest; added one after the other."""
    n = offsets.size - 1
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _ROWS)
        if start >= n:
            break
        for v in range(start, min(start + _ROWS, n)):
            heaviest, running = 0.0, 0.0
            for arc in range(offsets[v], offsets[v + 1]):
                heaviest = max(heaviest, np.float64(weights[arc]))
            if heaviest == 0.0:
                heaviest = 1.0
            for arc in range(offsets[v], offsets[v + 1]):
                running += np.float64(weights[arc]) / heaviest
                sums[arc] = running


@kernel
def walk(thread, threads, offsets, targets, sums, starts, seed, p, q, length, walks, cursor, stop):
    """Write walks of ``length`` steps into ``walks``, ``length + 1`` entries each, initially -1; one may end early."""
    top = max(1.0 / p, 1.0, 1.0 / q)
    plain = p == 1.0 and q == 1.0
    while load_relaxed(stop, 0) == 0:
        start = atomic_add(cursor, 0, _CHUNK)
        if start >= starts.size:
            break
        for number in range(start, min(start + _CHUNK, starts.size)):
            random = mixed(mixed(seed + STEP) ^ np.uint64(number))
            base = number * (length + 1)
            before, v = np.int64(-1), np.int64(starts[number])
            walks[base] = v
            for step in range(1, length + 1):
                if offsets[v] == offsets[v + 1] or (sums.size and sums[offsets[v + 1] - 1] <= 0.0):
                    break
                tries = 0
                while True:
                    random += STEP
                    if tries == TRIES:
                        u = np.int64(targets[_drawn_of_all(offsets, targets, sums, v, before, p, q, _unit(random))])
                        break
                    u = np.int64(targets[_drawn(offsets, sums, v, _unit(random))])
                    if plain or before < 0:
                        break
                    bias = _bias(offsets, targets, before, u, p, q)
                    random += STEP
                    if _unit(random) * top < bias:
                        break
                    tries += 1
                before, v = v, u
                walks[base + step] = v
