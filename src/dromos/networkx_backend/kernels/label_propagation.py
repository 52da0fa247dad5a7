"""Labels that spread to neighbors, with the random draws of Python's ``random``."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.jit import kernel

__all__ = ["settle_by_color", "settle_by_queue", "settle_in_rounds"]

_WORDS = 624  # of the Mersenne Twister's state, followed by the position


@kernel
def _next_word(state):
    """32 random bits."""
    at = state[_WORDS]
    if at >= _WORDS:
        for i in range(_WORDS):
            y = (state[i] & 0x80000000) | (state[(i + 1) % _WORDS] & 0x7FFFFFFF)
            state[i] = state[(i + 397) % _WORDS] ^ (y >> 1) ^ (0x9908B0DF if y & 1 else 0)
        at = 0
    y = state[at]
    state[_WORDS] = at + 1
    y ^= y >> 11
    y ^= (y << 7) & 0x9D2C5680
    y ^= (y << 15) & 0xEFC60000
    return y ^ (y >> 18)


@kernel
def _below(state, n):
    """As ``random.randrange(n)``."""
    bits = 0
    while n >> bits:
        bits += 1
    found = _next_word(state) >> (32 - bits)
    while found >= n:
        found = _next_word(state) >> (32 - bits)
    return found


@kernel
def _shuffle(state, order):
    """As ``random.shuffle``."""
    for i in range(order.size - 1, 0, -1):
        j = _below(state, i + 1)
        order[i], order[j] = order[j], order[i]


@kernel
def _count(offsets, targets, weights, node, label, weight_of, seen):
    """Sum the weights of the labels around ``node``; return how many labels, which ``seen`` gets as they appear."""
    found = 0
    for arc in range(offsets[node], offsets[node + 1]):
        one = label[targets[arc]]
        if np.isnan(weight_of[one]):
            weight_of[one] = 0.0
            seen[found] = one
            found += 1
        weight_of[one] += weights[arc]
    return found


@kernel
def _heaviest(weight_of, seen, found):
    """Move the heaviest labels to the front of ``seen``, in order; return how many. ``weight_of`` is NaN again."""
    most = -np.inf
    for i in range(found):
        most = max(most, weight_of[seen[i]])
    kept = 0
    for i in range(found):
        one = seen[i]
        if weight_of[one] == most:
            seen[kept] = one
            kept += 1
        weight_of[one] = np.nan
    return kept


def _counters(label: Array) -> tuple[Array, Array]:
    """The arrays of :func:`_count`: the weight of each label (NaN: none), and the labels seen."""
    return np.full(len(label), np.nan), np.empty(len(label), np.int64)


def settle_by_color(offsets: Array, targets: Array, order: Array, label: Array) -> None:
    """Each node of ``order`` takes the most frequent label around it, until all have one; the greatest if tied.

    A node whose own label is among the most frequent keeps it.
    """
    _settle_by_color(offsets, targets, np.ones(len(targets)), order, label, *_counters(label))


@kernel
def _settle_by_color(offsets, targets, weights, order, label, weight_of, seen):
    while True:
        settled = True
        for node in range(label.size):
            kept = _heaviest(weight_of, seen, _count(offsets, targets, weights, node, label, weight_of, seen))
            here = kept == 0
            for i in range(kept):
                here |= seen[i] == label[node]
            if not here:
                settled = False
                break
        if settled:
            return
        for node in order:
            kept = _heaviest(weight_of, seen, _count(offsets, targets, weights, node, label, weight_of, seen))
            greatest = -1
            for i in range(kept):
                if seen[i] == label[node]:
                    greatest = label[node]
                    break
                greatest = max(greatest, seen[i])
            if kept:
                label[node] = greatest


def settle_in_rounds(offsets: Array, targets: Array, weights: Array, state: Array, label: Array) -> None:
    """Rounds over all nodes in random order, each taking one of the heaviest labels around it, until none changes."""
    _settle_in_rounds(offsets, targets, weights, state, label, *_counters(label), np.empty(len(label), np.int64))


@kernel
def _settle_in_rounds(offsets, targets, weights, state, label, weight_of, seen, order):
    changed = True
    while changed:
        changed = False
        for i in range(order.size):
            order[i] = i
        _shuffle(state, order)
        for node in order:
            if offsets[node] == offsets[node + 1]:
                continue
            kept = _heaviest(weight_of, seen, _count(offsets, targets, weights, node, label, weight_of, seen))
            here = False
            for i in range(kept):
                here |= seen[i] == label[node]
            if not here:
                label[node] = seen[_below(state, kept)]
                changed = True


def settle_by_queue(offsets: Array, targets: Array, weights: Array, state: Array, label: Array) -> None:
    """Nodes in random order take one of the heaviest labels around them; a node that changes requeues its neighbors."""
    queue, waits = np.arange(len(label)), np.ones(len(label), np.bool_)
    _settle_by_queue(offsets, targets, weights, state, label, *_counters(label), queue, waits)


@kernel
def _settle_by_queue(offsets, targets, weights, state, label, weight_of, seen, queue, waits):
    """``queue`` must hold all nodes, and ``waits`` mark them."""
    n = label.size
    _shuffle(state, queue)
    first, waiting = 0, n
    while waiting > 0:
        node = queue[first]
        first, waiting = (first + 1) % n, waiting - 1
        waits[node] = False
        if offsets[node] == offsets[node + 1]:
            continue
        kept = _heaviest(weight_of, seen, _count(offsets, targets, weights, node, label, weight_of, seen))
        chosen = seen[_below(state, kept)]
        if label[node] == chosen:
            continue
        label[node] = chosen
        for arc in range(offsets[node], offsets[node + 1]):
            other = targets[arc]
            if label[other] != chosen and not waits[other]:
                queue[(first + waiting) % n] = other
                waiting += 1
                waits[other] = True
