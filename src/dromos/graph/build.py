"""Build CSR rows from edges: in parallel, linear in the number of edges, within three times the memory of the input.

The result has its rows sorted by target; parallel edges stay in input order. See :mod:`dromos.graph.build_kernels`
for the method.
"""

from __future__ import annotations

import itertools
from typing import Any, Literal, NamedTuple

import numpy as np

from dromos.dtypes import OFFSET, Array, as_words, id_dtype, read_only
from dromos.errors import GraphDataError, InvalidArgumentError
from dromos.graph import build_small
from dromos.parallel import NO_MORE_WORK, num_threads, run_team

__all__ = [
    "EDGES_A_CALL",
    "MERGE_RULES",
    "CsrArrays",
    "MergeRule",
    "RowFlags",
    "build_csr",
    "expand_sources",
    "id_range",
    "narrow_sums",
    "scan_rows",
    "team_size",
]

MergeRule = Literal["first", "min", "max", "sum"]
MERGE_RULES: tuple[MergeRule, ...] = ("first", "min", "max", "sum")

_ARCS_A_BUCKET = 1 << 16  # 256 or 512 KiB of keys: half an L2 cache
_ROWS_A_BUCKET = 1 << 14  # 128 KiB of cursors
_DIGIT_BITS = 12
_MAX_BUCKETS = 2048  # write streams that a core can keep in its caches and TLB
_SMALL = 1 << 15
EDGES_A_CALL = 1 << 24  # of a kernel without a stop flag: Ctrl-C is handled between two calls
_APART = 32  # keys or counters between the data of two threads, so that they share no cache line
_NO_WEIGHTS = np.empty(0, dtype=np.float32)


class CsrArrays(NamedTuple):
    """The arrays of a graph in compressed sparse rows."""

    offsets: Array
    targets: Array
    weights: Array | None


class _Plan(NamedTuple):
    """How :func:`build_csr` sorts, for its kernels."""

    shift: int
    low_bits: int
    passes: int
    digit_bits: int
    in_place: bool
    weighted: bool
    mirror: bool = False
    drop_loops: bool = False
    dedupe: bool = False
    merge: int = 0


class RowFlags(NamedTuple):
    """The result of a pass over the rows; ``parallel`` is meaningful only if the rows are sorted."""

    loops: bool
    parallel: bool
    sorted: bool


def build_csr(
    src: Array,
    dst: Array,
    weight: Array | None,
    num_vertices: int,
    *,
    mirror: bool = False,
    drop_self_loops: bool = False,
    dedupe: bool = False,
    merge_weights: MergeRule = "first",
    dst_ascending: bool = False,
    threads: int | None = None,
) -> CsrArrays:
    """Sort edges with ids in ``0..num_vertices`` into rows.

    ``mirror`` stores each edge in both directions (a self-loop once). ``dst_ascending`` promises that ``dst`` never
    decreases along the input, as in a transposition, which saves most of the sorting.

    >>> offsets, targets, _ = build_csr(np.array([2, 0, 2]), np.array([1, 2, 0]), None, 3)
    >>> offsets.tolist(), targets.tolist()
    ([0, 1, 1, 3], [2, 0, 1])
    """
    if merge_weights not in MERGE_RULES:
        raise InvalidArgumentError(f"merge_weights={merge_weights!r} is not one of {', '.join(MERGE_RULES)}")
    src, dst = _kernel_ids(src), _kernel_ids(dst)
    exact_sums = weight is not None and weight.dtype == np.int32 and dedupe and merge_weights == "sum"
    given_weights = _NO_WEIGHTS if weight is None else weight
    values = read_only(np.ascontiguousarray(given_weights, dtype=np.int64 if exact_sums else None))
    team = team_size(src.size, threads)
    if build_small.is_preferred(src.size):
        offsets, targets, merged = build_small.rows(
            src, dst, None if weight is None else values, num_vertices,
            mirror=mirror, drop_loops=drop_self_loops, dedupe=dedupe, merge=merge_weights,
        )  # fmt: skip
        if exact_sums and merged is not None:
            merged = narrow_sums(merged, np.int32)
        return CsrArrays(offsets, targets, merged)
    from dromos.graph import build_kernels as kernels

    weighted = weight is not None and weight.size > 0
    plan, key_dtype = _plan(num_vertices, src.size * (2 if mirror else 1), weighted, dst_ascending)
    plan = plan._replace(
        mirror=mirror, drop_loops=drop_self_loops, dedupe=dedupe, merge=MERGE_RULES.index(merge_weights)
    )  # fmt: skip

    num_buckets = ((num_vertices - 1) >> plan.shift) + 1 if num_vertices else 0
    calls = [slice(begin, begin + EDGES_A_CALL) for begin in range(0, max(src.size, 1), EDGES_A_CALL)]
    shares = [slice(number * team, (number + 1) * team) for number in range(len(calls))]  # rows of counts and cursors
    counts = np.zeros((len(calls) * team, num_buckets), dtype=np.int64)
    for some, mine in zip(calls, shares, strict=True):
        run_team(kernels.count_buckets, src[some], dst[some], plan, counts[mine], threads=team)
    bucket_sizes = counts.sum(axis=0)
    arcs = int(bucket_sizes.sum())
    targets = np.empty(arcs, dtype=id_dtype(num_vertices))
    weights = np.empty(arcs if weighted else 0, dtype=values.dtype)
    offsets = np.zeros(num_vertices + 1, dtype=OFFSET)
    kept = np.zeros(num_buckets, dtype=np.int64)
    largest = int(bucket_sizes.max(initial=0))
    scratch = targets.view(key_dtype) if plan.in_place else np.empty(team * largest if plan.passes else 0, key_dtype)
    digit_counts = np.empty((team, (1 << plan.digit_bits) + _APART if plan.passes else 0), np.int64)
    row_cursors = np.empty((team, min(num_vertices, 1 << plan.shift) + _APART), np.int64)

    written = 0
    given = src.nbytes + dst.nbytes + values.nbytes
    taken = targets.nbytes + weights.nbytes + offsets.nbytes + (0 if plan.in_place else scratch.nbytes)
    room = max(given * 19 // 10 - taken, given // 8)  # so that the total stays below three times the input
    windows = _windows(bucket_sizes, room // (key_dtype.itemsize + (values.itemsize if weighted else 0)))
    nowhere = max((int(bucket_sizes[a:b].sum()) for a, b in windows), default=0) + _APART * np.arange(team)
    keys = np.empty(int(nowhere[-1]) + 1, dtype=key_dtype)
    key_weights = np.empty(len(keys) if weighted else 0, dtype=values.dtype)
    merged_by_value = weighted and dedupe and merge_weights != "first"
    moved = (lambda array: array) if merged_by_value else as_words
    for first, last in windows:
        sizes = bucket_sizes[first:last]
        starts = np.zeros(num_buckets + 1, dtype=np.int64)
        np.cumsum(sizes, out=starts[first + 1 : last + 1])
        cursors = np.column_stack([starts[:-1] + np.cumsum(counts, axis=0) - counts, np.tile(nowhere, len(calls))])
        for some, mine in zip(calls, shares, strict=True):
            run_team(
                kernels.scatter_to_buckets, src[some], dst[some], as_words(values[some] if weighted else values), plan,
                first, last, cursors[mine], keys, as_words(key_weights), threads=team,
            )  # fmt: skip
        ticket = np.zeros(1, np.int64)
        run_team(
            kernels.build_rows, ticket, plan, first, last, starts, written, keys, moved(key_weights), scratch,
            largest, digit_counts, row_cursors, offsets, targets, moved(weights), kept, threads=team,
            stop=ticket if arcs >= _SMALL else None, stop_value=NO_MORE_WORK,
        )  # fmt: skip
        if dedupe:
            run_team(
                kernels.close_gaps, plan, first, last, starts, written, kept, offsets, targets, as_words(weights),
                threads=1,
            )  # fmt: skip
        written += int(kept[first:last].sum())
    offsets[-1] = written
    if written < arcs:  # parallel edges were merged: release the tails
        del scratch
        targets.resize(written, refcheck=False)
        if weighted:
            weights.resize(written, refcheck=False)
    if weight is None:
        return CsrArrays(offsets, targets, None)
    return CsrArrays(offsets, targets, narrow_sums(weights, np.int32) if exact_sums else weights)


def id_range(ids: Array, threads: int | None = None) -> tuple[int, int]:
    """The smallest and the largest of ``ids``, which must not be empty.

    >>> id_range(np.array([3, 1, 2]))
    (1, 3)
    """
    if build_small.is_preferred(ids.size):
        return int(ids.min()), int(ids.max())
    from dromos.graph import build_kernels as kernels

    ids = _kernel_ids(ids)
    team = team_size(ids.size, threads)
    lows, highs = np.zeros(team, np.int64), np.zeros(team, np.int64)
    run_team(kernels.minmax, ids, lows, highs, threads=team)
    return int(lows.min()), int(highs.max())


def scan_rows(offsets: Array, targets: Array, threads: int | None = None) -> RowFlags:
    """Scan the rows once for self-loops, parallel edges and unsorted rows.

    >>> scan_rows(np.array([0, 2, 2]), np.array([0, 1], dtype=np.int32))
    RowFlags(loops=True, parallel=False, sorted=True)
    """
    if build_small.is_preferred(targets.size):
        return RowFlags(*build_small.row_flags(offsets, targets))
    from dromos.graph import build_kernels as kernels

    flags = np.zeros(3, dtype=np.uint8)
    team = team_size(targets.size, threads)
    run_team(kernels.scan_rows, np.zeros(1, np.int64), read_only(offsets), read_only(targets), flags, threads=team)
    return RowFlags(
        loops=bool(flags[kernels.HAS_LOOPS]),
        parallel=bool(flags[kernels.HAS_PARALLEL]),
        sorted=not flags[kernels.UNSORTED],
    )


def expand_sources(offsets: Array, dtype: np.dtype[np.generic], threads: int | None = None) -> Array:
    """The source of every arc, in the order of the rows.

    >>> expand_sources(np.array([0, 2, 2, 3]), np.dtype(np.int32)).tolist()
    [0, 0, 2]
    """
    if build_small.is_preferred(int(offsets[-1]) - int(offsets[0])):
        return np.repeat(np.arange(len(offsets) - 1, dtype=dtype), np.diff(offsets))
    from dromos.graph import build_kernels as kernels

    sources = np.empty(int(offsets[-1]) - int(offsets[0]), dtype=dtype)
    team = team_size(sources.size, threads)
    run_team(kernels.expand_rows, np.zeros(1, np.int64), offsets - offsets[0], sources, threads=team)
    return sources


def team_size(items: int, threads: int | None = None) -> int:
    """The number of threads for ``items`` edges: one if waking a second costs more than it saves.

    >>> team_size(100, threads=8), team_size(10**6, threads=8)
    (1, 8)
    """
    team = num_threads(threads)
    return 1 if items < _SMALL else team


def _kernel_ids(ids: Array) -> Array:
    """Ids as the kernels need them: contiguous, int32 or int64, read-only (so that few variants are compiled)."""
    if ids.dtype in (np.int32, np.int64):
        return read_only(np.ascontiguousarray(ids))
    return read_only(ids.astype(np.int64 if ids.dtype.itemsize >= 4 else np.int32))


def _plan(num_vertices: int, arcs: int, weighted: bool, dst_ascending: bool) -> tuple[_Plan, np.dtype[Any]]:
    """The plan for sorting ``arcs`` arcs, and the type of the keys."""
    low_bits = max(1, (max(num_vertices, 1) - 1).bit_length())
    buckets = max(arcs // _ARCS_A_BUCKET, num_vertices // _ROWS_A_BUCKET, 1)
    shift = max(0, low_bits - (min(buckets, _MAX_BUCKETS) - 1).bit_length())
    key_dtype = np.dtype(np.uint32 if low_bits + shift <= 32 else np.uint64)
    in_place = key_dtype.itemsize == id_dtype(num_vertices).itemsize
    passes = 0 if dst_ascending else -(-low_bits // _DIGIT_BITS)
    if in_place or weighted:  # an even number of passes ends where it began, and not in the result arrays
        passes += passes % 2
    plan = _Plan(
        shift=shift, low_bits=low_bits, passes=passes, digit_bits=-(-low_bits // max(passes, 1)), in_place=in_place,
        weighted=weighted,
    )  # fmt: skip
    return plan, key_dtype


def _windows(sizes: Array, budget: int) -> list[tuple[int, int]]:
    """Runs of buckets with about equally many arcs, hardly more than ``budget`` (unless one bucket is larger)."""
    ends = np.cumsum(sizes)
    arcs = int(ends[-1]) if len(ends) else 0
    count = -(-arcs // max(budget, 1))
    cuts = np.searchsorted(ends, arcs * np.arange(1, count) // max(count, 1))
    bounds = np.unique(np.concatenate([[0], cuts, [len(sizes)]])).tolist()
    return list(itertools.pairwise(bounds))


def narrow_sums(sums: Array, dtype: Any) -> Array:
    """Sums of weights in the type of the weights; integers that do not fit raise an error.

    >>> narrow_sums(np.array([3]), np.int32).dtype
    dtype('int32')
    """
    if dtype == np.int32 and sums.size and not (int(sums.min()) >= -(2**31) and int(sums.max()) < 2**31):
        raise GraphDataError(
            "summing the weights of parallel edges overflows int32; pass the weights as float64, or merge by min or max"
        )
    return sums.astype(dtype, copy=False)
