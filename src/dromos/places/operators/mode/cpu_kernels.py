"""The most frequent value of each list; threads take chunks of lists, and each has a hash table of its own."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from dromos.engines.native.cdlp_kernels import FEW, mode_of_few, mode_of_many
from dromos.intrinsics import atomic_add, load, load_relaxed, store
from dromos.jit import kernel

CHUNK = 256


@kernel
def count_lists(thread, threads, offsets, values, found, table, counts, size, cursor, stop):
    """Write the mode of each nonempty list to ``found``; ``table`` is all -1 before and after a list."""
    n, base = offsets.size - 1, thread * size
    while load_relaxed(stop, 0) == 0:
        first = atomic_add(cursor, 0, CHUNK)
        if first >= n:
            break
        for number in range(first, min(first + CHUNK, n)):
            begin, end = load(offsets, number), load(offsets, number + 1)
            if end - begin > FEW:
                store(found, number, mode_of_many(values, begin, end, table, counts, base))
            elif end > begin:
                store(found, number, mode_of_few(values, begin, end))
