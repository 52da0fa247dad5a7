"""Afforest's passes: hooking trees together by compare-and-swap, and flattening them."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from dromos.intrinsics import atomic_add, compare_and_swap
from dromos.jit import kernel

_CHUNK = 2048


@kernel
def _link(label, u, v):
    a, b = label[u], label[v]
    while a != b:
        high, low = max(a, b), min(a, b)
        above = label[high]
        if above == low or (above == high and compare_and_swap(label, high, high, low)):
            return
        a = label[label[high]]
        b = label[low]


@kernel
def link_nth(thread, num_threads, offsets, targets, label, nth, cursor):
    """Link every vertex with its ``nth`` neighbour."""
    n = len(label)
    while True:
        begin = atomic_add(cursor, 0, _CHUNK)
        if begin >= n:
            return
        for u in range(begin, min(begin + _CHUNK, n)):
            arc = offsets[u] + nth
            if arc < offsets[u + 1]:
                _link(label, u, targets[arc])


@kernel
def link_rest(thread, num_threads, offsets, targets, label, first, skipped, cursor):
    """Link every vertex that is not in the component ``skipped`` with its neighbours from the ``first`` on."""
    n = len(label)
    while True:
        begin = atomic_add(cursor, 0, _CHUNK)
        if begin >= n:
            return
        for u in range(begin, min(begin + _CHUNK, n)):
            if label[u] == skipped:
                continue
            for arc in range(offsets[u] + first, offsets[u + 1]):
                _link(label, u, targets[arc])


@kernel
def compress(thread, num_threads, label, cursor):
    """Let every vertex point at its root."""
    n = len(label)
    while True:
        begin = atomic_add(cursor, 0, _CHUNK)
        if begin >= n:
            return
        for u in range(begin, min(begin + _CHUNK, n)):
            while label[u] != label[label[u]]:
                label[u] = label[label[u]]
