"""One round of label propagation."""
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from dromos.jit import atomic_add, kernel

_CHUNK = 256


@kernel
def _count(offsets, targets, v, label, seen, best):
    for arc in range(offsets[v], offsets[v + 1]):
        name = label[targets[arc]]
        seen[name] += 1
        if best < 0 or seen[name] > seen[best] or (seen[name] == seen[best] and name < best):
            best = name
    return best


@kernel
def _forget(offsets, targets, v, label, seen):
    for arc in range(offsets[v], offsets[v + 1]):
        seen[label[targets[arc]]] = 0


@kernel
def relabel(thread, num_threads, offsets, targets, back_offsets, back_targets, label, after, seen, cursor):
    """Give each vertex the label most frequent around it, the least of those; ``seen[thread]`` is all zeros."""
    n = len(label)
    mine = seen[thread]
    while True:
        begin = atomic_add(cursor, 0, _CHUNK)
        if begin >= n:
            return
        for v in range(begin, min(begin + _CHUNK, n)):
            best = _count(offsets, targets, v, label, mine, -1)
            if len(back_offsets):
                best = _count(back_offsets, back_targets, v, label, mine, best)
                _forget(back_offsets, back_targets, v, label, mine)
            _forget(offsets, targets, v, label, mine)
            after[v] = label[v] if best < 0 else best
