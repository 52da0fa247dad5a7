"""The same graph with its vertices in another order: in one parallel pass over the rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from dromos.dtypes import OFFSET, Array, id_dtype, order_of, read_only
from dromos.graph.build import CsrArrays, team_size
from dromos.parallel import NO_MORE_WORK, run_team

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["Empty", "degree_order", "inverse", "permuted_rows", "random_order", "row_starts"]

Empty: TypeAlias = Callable[[int, Any], Array]
"""Allocates an uninitialized array of a given size and type."""
_CLASSES: Final = 1 << 12  # degrees that are distinguished by counting; few vertices have higher ones
_ARCS_A_RUN: Final = 1 << 16  # of rows that a thread takes at once
_SMALL: Final = 1 << 16  # vertices that NumPy sorts faster than a team wakes
_IN_CACHE: Final = 1 << 18  # vertices that NumPy shuffles as quickly
_DRAWS: Final = 1 << 15  # words of random bits drawn at once
_PICKS: Final = 256  # positions that are prefetched


def degree_order(degree: Array, *, descending: bool) -> Array:
    """All vertices by degree; those of equal degree in ascending order.

    >>> degree_order(np.array([1, 9, 5, 9]), descending=True).tolist()
    [1, 3, 2, 0]
    """
    n = len(degree)
    if n < _SMALL:
        return order_of(degree.max(initial=0) - degree if descending else degree).astype(id_dtype(n))
    from dromos.graph import permute_kernels as kernels

    degree, team, order = read_only(degree), team_size(n), np.empty(n, dtype=id_dtype(n))
    counts = np.zeros((team, _CLASSES), np.int64)
    run_team(kernels.count_classes, degree, descending, counts, threads=team)
    before = np.cumsum(counts.T.ravel()) - counts.T.ravel()  # class by class, and thread by thread within a class
    cursors = np.ascontiguousarray(before.reshape(_CLASSES, team).T)
    run_team(kernels.place_by_class, degree, descending, cursors, order, threads=team)
    many = int(counts[:, 0 if descending else -1].sum())
    hubs = order[:many] if descending else order[n - many :]
    keys = degree[hubs]
    hubs[:] = hubs[np.argsort(-keys if descending else keys, kind="stable")]
    return order


def random_order(n: int, seed: int) -> Array:
    """All ``n`` vertices in random order: that of ``np.random.default_rng(seed).permutation(n)``, in less time.

    The bits are NumPy's. Most of the time goes to cache misses on random positions of the array; here they are
    prefetched.

    >>> random_order(5, 1).tolist() == np.random.default_rng(1).permutation(5).tolist()
    True
    """
    random = np.random.default_rng(seed)
    if n < _IN_CACHE or n > 1 << 32:  # beyond this a position takes 64 bits
        return random.permutation(n).astype(id_dtype(n), copy=False)
    from dromos.graph import permute_kernels as kernels

    order, picks = np.arange(n, dtype=id_dtype(n)), np.empty(_PICKS, np.int64)
    last = np.array([n - 1])
    while last[0] > 0:
        bits = random.bit_generator.random_raw(_DRAWS).view(np.uint32)  # the lower half of each word comes first
        run_team(kernels.shuffle, bits, last, picks, order, threads=1)
    return order


def inverse(old_ids: Array, dtype: np.dtype[Any], empty: Empty = np.empty) -> Array:
    """The position of each vertex in ``old_ids``, which holds all of them.

    ``empty``: allocates arrays; one with random lookups is best in huge pages.

    >>> inverse(np.array([2, 0, 1]), np.dtype(np.int32)).tolist()
    [1, 2, 0]
    """
    n = len(old_ids)
    new_ids = empty(n, dtype)
    if n < _SMALL:
        new_ids[old_ids] = np.arange(n, dtype=dtype)
        return new_ids
    from dromos.graph import permute_kernels as kernels

    run_team(kernels.invert, read_only(old_ids), new_ids, threads=team_size(n))
    return new_ids


def row_starts(offsets: Array, old_ids: Array) -> Array:
    """Where each row begins if row ``i`` is the old ``old_ids[i]``, and where the last one ends.

    >>> row_starts(np.array([0, 5, 6, 8]), np.array([2, 0, 1])).tolist()
    [0, 2, 7, 8]
    """
    n = len(old_ids)
    starts = np.zeros(n + 1, dtype=OFFSET)
    if n < _SMALL:
        np.cumsum(offsets[old_ids + 1] - offsets[old_ids], out=starts[1:])
        return starts
    from dromos.graph import permute_kernels as kernels

    team = team_size(n)
    sums = np.zeros(team, np.int64)
    run_team(kernels.sum_degrees, read_only(offsets), read_only(old_ids), starts, sums, threads=team)
    run_team(kernels.add_bases, np.cumsum(sums) - sums, starts, threads=team)
    return starts


def permuted_rows(graph: Graph, old_ids: Array, new_ids: Array, empty: Empty = np.empty) -> CsrArrays:
    """The rows of ``graph`` if vertex ``i`` is the old ``old_ids[i]``; sorted, parallel arcs keep their order.

    ``empty``: allocates the arrays of the rows.

    >>> import dromos as dr
    >>> swapped = np.array([1, 0, 2])
    >>> permuted_rows(dr.generators.path(3), swapped, swapped).targets.tolist()
    [1, 2, 0, 0]
    """
    from dromos.graph import permute_kernels as kernels

    n, arcs = graph.num_vertices, graph.num_arcs
    old_ids, new_ids = (read_only(ids.astype(graph.targets.dtype, copy=False)) for ids in (old_ids, new_ids))
    starts = row_starts(graph.offsets, old_ids)
    cuts = np.searchsorted(starts, np.arange(0, arcs, _ARCS_A_RUN))
    bounds = np.unique(np.concatenate(([0], cuts, [n])))
    weighted = graph.weights is not None
    weights = np.empty(0, np.uint32) if graph.weights is None else graph.weights
    words = weights.view(np.dtype(f"u{weights.itemsize}"))  # weights are only moved
    targets, moved = empty(arcs, graph.targets.dtype), empty(len(words), words.dtype)
    passes = -(-max(n - 1, 1).bit_length() // kernels.DIGIT_BITS)
    longest = int(graph.out_degree.max(initial=0))
    ticket, team = np.zeros(1, np.int64), team_size(arcs)
    spare_ids = np.empty((team, longest), targets.dtype)
    spare_words = np.empty((team, longest if weighted else 0), words.dtype)
    digit_counts = np.empty((team, passes << kernels.DIGIT_BITS), np.int64)
    run_team(
        kernels.permute_rows, ticket, bounds, passes, read_only(graph.offsets), read_only(graph.targets),
        read_only(words), weighted, old_ids, new_ids, starts, targets, moved, spare_ids, spare_words, digit_counts,
        threads=team, stop=ticket, stop_value=NO_MORE_WORK,
    )  # fmt: skip
    return CsrArrays(starts, targets, moved.view(weights.dtype) if weighted else None)
