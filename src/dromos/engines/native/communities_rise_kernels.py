"""All levels of a Leiden round from a small one up, in one call.

Levels above the first few have some hundred vertices or less: a call from Python for each of their steps, with its
arguments, takes longer than the step.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.communities_aggregate_kernels import aggregate_all
from dromos.engines.native.communities_move_kernels import move_all
from dromos.engines.native.communities_refine_kernels import refine_all
from dromos.intrinsics import load, load_relaxed, store
from dromos.jit import inline, kernel

SIZE, ARCS, LEVELS, IS_TOP, ENTRIES = 0, 1, 2, 3, 4  # indices of the report on the last level


@inline
def _copy(source, target, count):
    for i in range(count):
        store(target, i, load(source, i))


@kernel
def rise(
    offsets, targets, weights, strength, scale, seeds, community, moved, ids, numbers, reals, counts, state,
    new_offsets, new_targets, new_weights, new_strength, parts, ends, found, stop,
):  # fmt: skip
    """Move, refine and aggregate, level by level, until one stays as it is; see ``community_climbs.climbed``.

    The first four arrays and ``community``, which may be written to, become those of the last level. ``parts`` gets the
    parts of each level, one after the other, and ``ends`` their ends. It stops at a level that has no room there, no
    seeds, or only single parts. ``ids``, ``numbers`` and ``reals`` have room for four, one and five entries for each
    vertex, and the first two for one more; ``counts`` is another view of ``reals``.
    """
    n, arcs, levels, written, is_top = strength.size, np.int64(offsets[strength.size]), np.int64(0), np.int64(0), 0
    while 2 * levels + 2 <= seeds.size and written + n <= parts.size:
        first, second, third = ids[: n + 1], ids[n + 1 : 2 * n + 1], ids[2 * n + 1 : 4 * n + 1]
        _copy(community, moved, n)
        count = move_all(
            offsets, targets, weights, strength[:n], scale, np.uint64(load(seeds, 2 * levels)), moved[:n], second,
            reals, third, state, reals[2 * n : 3 * n], numbers[: n + 1], first, stop,
        )  # fmt: skip
        if load_relaxed(stop, 0) != 0:
            break
        if count == n:
            is_top = 1
            break
        part = parts[written : written + n]
        groups = refine_all(
            offsets, targets, weights, strength[:n], scale, np.uint64(load(seeds, 2 * levels + 1)), moved, second,
            reals[4 * n : 5 * n], third, reals, first, part, stop,
        )  # fmt: skip
        if groups == n or load_relaxed(stop, 0) != 0:
            break
        arcs = aggregate_all(
            offsets, targets, weights, strength, part, numbers, second, new_offsets, new_targets, new_weights,
            new_strength[:groups], reals, counts, first, stop,
        )  # fmt: skip
        for v in range(n):  # the community of any of its vertices
            store(community, np.int64(load(part, v)), load(moved, v))
        _copy(new_offsets, offsets, groups + 1)
        _copy(new_targets, targets, arcs)
        _copy(new_weights, weights, arcs)
        _copy(new_strength, strength, groups)
        written += n
        store(ends, levels, written)
        levels += 1
        n = groups
    store(found, SIZE, n)
    store(found, ARCS, arcs)
    store(found, LEVELS, levels)
    store(found, IS_TOP, is_top)
