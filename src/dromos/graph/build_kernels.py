"""Compiled kernels that sort edges into CSR rows.

The sort runs in two levels so that every random write stays in cache. Edges are first scattered, stably, into buckets
of consecutive source vertices; one 64-bit key ``(row within the bucket) << low_bits | target`` holds an arc. Then each
bucket, small enough for the L2 cache, is sorted by key with a least-significant-digit radix sort, and unpacked.
"""

from __future__ import annotations

import numpy as np

from dromos.jit import atomic_add, kernel

MERGE_FIRST, MERGE_MIN, MERGE_MAX, MERGE_SUM = range(4)
HAS_LOOPS, HAS_PARALLEL, UNSORTED = range(3)
DIGIT_BITS = 11
ROWS_A_TICKET = 1024
_INSERTION_LIMIT = 48


@kernel
def minmax(thread, num_threads, values, lows, highs):
    first = values.size * thread // num_threads
    last = values.size * (thread + 1) // num_threads
    low = values[first] if first < last else 0
    high = low
    for i in range(first, last):
        low = min(low, values[i])
        high = max(high, values[i])
    lows[thread] = low
    highs[thread] = high


@kernel
def count_buckets(thread, num_threads, src, dst, shift, mirror, drop_loops, counts):
    """``counts[thread, b]``: how many arcs of this thread's share of the edges start in bucket ``b``."""
    mine = counts[thread]
    for i in range(src.size * thread // num_threads, src.size * (thread + 1) // num_threads):
        u = src[i]
        v = dst[i]
        if u == v:
            if not drop_loops:
                mine[u >> shift] += 1
        else:
            mine[u >> shift] += 1
            if mirror:
                mine[v >> shift] += 1


@kernel
def scatter_to_buckets(
    thread, num_threads, src, dst, weight, shift, low_bits, mirror, drop_loops, first_bucket, last_bucket,
    cursors, keys, key_weights,
):  # fmt: skip
    """Place this thread's arcs of buckets ``first_bucket..last_bucket`` at its cursors, in input order."""
    cursor = cursors[thread]
    weighted = weight.size > 0
    row_mask = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    low = np.uint64(low_bits)
    for i in range(src.size * thread // num_threads, src.size * (thread + 1) // num_threads):
        u = src[i]
        v = dst[i]
        loop = u == v
        if loop and drop_loops:
            continue
        b = u >> shift
        if first_bucket <= b < last_bucket:
            at = cursor[b]
            cursor[b] = at + 1
            keys[at] = ((np.uint64(u) & row_mask) << low) | np.uint64(v)
            if weighted:
                key_weights[at] = weight[i]
        if mirror and not loop:
            b = v >> shift
            if first_bucket <= b < last_bucket:
                at = cursor[b]
                cursor[b] = at + 1
                keys[at] = ((np.uint64(v) & row_mask) << low) | np.uint64(u)
                if weighted:
                    key_weights[at] = weight[i]


@kernel
def _insertion_sort(keys, weights, weighted):
    for i in range(1, keys.size):
        key = keys[i]
        j = i - 1
        if weighted:
            w = weights[i]
            while j >= 0 and keys[j] > key:
                keys[j + 1] = keys[j]
                weights[j + 1] = weights[j]
                j -= 1
            weights[j + 1] = w
        else:
            while j >= 0 and keys[j] > key:
                keys[j + 1] = keys[j]
                j -= 1
        keys[j + 1] = key


@kernel
def _radix_sort(keys, weights, weighted, spare_keys, spare_weights, low, high, counts):
    """Stable sort of ``keys`` by their bits ``low..high``; the result ends up in ``keys``."""
    passes = (high - low + DIGIT_BITS - 1) // DIGIT_BITS
    digit = (high - low + passes - 1) // passes
    a, wa, b, wb = keys, weights, spare_keys, spare_weights
    swapped = False
    for p in range(passes):
        shift = np.uint64(low + p * digit)
        mask = (np.uint64(1) << np.uint64(digit)) - np.uint64(1)
        counts[: np.int64(mask) + 1] = 0
        for i in range(a.size):
            counts[np.int64((a[i] >> shift) & mask)] += 1
        if counts[np.int64((a[0] >> shift) & mask)] == a.size:
            continue
        total = 0
        for d in range(np.int64(mask) + 1):
            count = counts[d]
            counts[d] = total
            total += count
        for i in range(a.size):
            key = a[i]
            d = np.int64((key >> shift) & mask)
            at = counts[d]
            counts[d] = at + 1
            b[at] = key
            if weighted:
                wb[at] = wa[i]
        a, b = b, a
        wa, wb = wb, wa
        swapped = not swapped
    if swapped:
        keys[:] = a
        if weighted:
            weights[:] = wa


@kernel
def _is_sorted(keys):
    for i in range(1, keys.size):
        if keys[i - 1] > keys[i]:
            return False
    return True


@kernel
def _merge_parallel(keys, weights, weighted, merge):
    """Keep one arc of each run of equal keys, its weight merged; return how many are left."""
    if keys.size == 0:
        return 0
    kept = 0
    for i in range(1, keys.size):
        if keys[i] != keys[kept]:
            kept += 1
            keys[kept] = keys[i]
            if weighted:
                weights[kept] = weights[i]
        elif weighted:
            if merge == MERGE_MIN:
                weights[kept] = min(weights[kept], weights[i])
            elif merge == MERGE_MAX:
                weights[kept] = max(weights[kept], weights[i])
            elif merge == MERGE_SUM:
                weights[kept] += weights[i]
    return kept + 1


@kernel
def sort_buckets(
    thread, num_threads, ticket, first_bucket, last_bucket, starts, keys, key_weights, weighted,
    low, high, dedupe, merge, largest, kept,
):  # fmt: skip
    """Sort buckets, taken one by one by whichever thread is free, and merge parallel arcs if asked.

    ``starts[b]`` is where bucket ``b`` begins in ``keys``; ``kept[b]`` becomes the number of arcs left in it.
    """
    counts = np.empty(1 << DIGIT_BITS, np.int64)
    spare_keys = np.empty(largest, np.uint64)
    spare_weights = np.empty(largest if weighted else 0, key_weights.dtype)
    while True:
        b = first_bucket + atomic_add(ticket, 0, 1)
        if b >= last_bucket:
            return
        begin, end = starts[b], starts[b + 1]
        bucket = keys[begin:end]
        bucket_weights = key_weights[begin:end] if weighted else key_weights[:0]
        size = end - begin
        if size > 1 and not _is_sorted(bucket):
            if size <= _INSERTION_LIMIT:
                _insertion_sort(bucket, bucket_weights, weighted)
            else:
                _radix_sort(
                    bucket, bucket_weights, weighted, spare_keys[:size], spare_weights[: size if weighted else 0],
                    low, high, counts,
                )  # fmt: skip
        kept[b] = _merge_parallel(bucket, bucket_weights, weighted, merge) if dedupe else size


@kernel
def unpack_buckets(
    thread, num_threads, ticket, first_bucket, last_bucket, starts, out_starts, kept, keys, key_weights, weighted,
    shift, low_bits, offsets, targets, weights,
):  # fmt: skip
    """Write sorted buckets as CSR rows: ``offsets[u]`` for each row begun, targets and weights."""
    num_vertices = offsets.size - 1
    mask = (np.uint64(1) << np.uint64(low_bits)) - np.uint64(1)
    low = np.uint64(low_bits)
    while True:
        b = first_bucket + atomic_add(ticket, 0, 1)
        if b >= last_bucket:
            return
        at = starts[b]
        end = at + kept[b]
        out = out_starts[b]
        first_row = b << shift
        for row in range(min(num_vertices, (b + 1) << shift) - first_row):
            offsets[first_row + row] = out
            while at < end and np.int64(keys[at] >> low) == row:
                targets[out] = keys[at] & mask
                if weighted:
                    weights[out] = key_weights[at]
                out += 1
                at += 1


@kernel
def scan_rows(thread, num_threads, ticket, offsets, targets, flags):
    """Raise the flags of what the rows hold: self-loops, parallel edges (adjacent in sorted rows), unsorted rows."""
    num_vertices = offsets.size - 1
    loops = parallel = unsorted = False
    while True:
        first = atomic_add(ticket, 0, ROWS_A_TICKET)
        if first >= num_vertices:
            break
        for u in range(first, min(num_vertices, first + ROWS_A_TICKET)):
            for i in range(offsets[u], offsets[u + 1]):
                v = targets[i]
                loops |= v == u
                if i > offsets[u]:
                    parallel |= targets[i - 1] == v
                    unsorted |= targets[i - 1] > v
    if loops:
        flags[HAS_LOOPS] = 1
    if parallel:
        flags[HAS_PARALLEL] = 1
    if unsorted:
        flags[UNSORTED] = 1


@kernel
def expand_rows(thread, num_threads, ticket, offsets, sources):
    """``sources[i]``: the vertex whose row arc ``i`` is in."""
    num_vertices = offsets.size - 1
    while True:
        first = atomic_add(ticket, 0, ROWS_A_TICKET)
        if first >= num_vertices:
            return
        for u in range(first, min(num_vertices, first + ROWS_A_TICKET)):
            sources[offsets[u] : offsets[u + 1]] = u
