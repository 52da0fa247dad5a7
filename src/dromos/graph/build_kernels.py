"""Compiled kernels that sort edges into CSR rows.

The sort has two levels, so that every random write stays in cache. Edges are first scattered, stably, into buckets of
consecutive source vertices; one key ``(row within the bucket) << low_bits | target`` holds an arc, in 32 bits if that
fits. Then each bucket, small enough for the L2 cache, is sorted by target with a least-significant-digit radix sort,
and finally distributed to its rows, which writes the targets to their final places.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import numpy as np

from dromos.jit import atomic_add, kernel

MERGE_FIRST, MERGE_MIN, MERGE_MAX, MERGE_SUM = range(4)
HAS_LOOPS, HAS_PARALLEL, UNSORTED = range(3)
ROWS_A_TICKET = 1024


@kernel
def minmax(thread, num_threads, values, lows, highs):
    first = values.size * thread // num_threads
    last = values.size * (thread + 1) // num_threads
    low = values[min(first, values.size - 1)]  # a share may be empty, the whole is not
    high = low
    for i in range(first, last):
        low = min(low, values[i])
        high = max(high, values[i])
    lows[thread] = low
    highs[thread] = high


@kernel
def count_buckets(thread, num_threads, src, dst, plan, counts):
    """``counts[thread, b]``: how many arcs of this thread's share of the edges start in bucket ``b``."""
    mine = counts[thread]
    for i in range(src.size * thread // num_threads, src.size * (thread + 1) // num_threads):
        u = src[i]
        v = dst[i]
        if u == v:
            if not plan.drop_loops:
                mine[u >> plan.shift] += 1
        else:
            mine[u >> plan.shift] += 1
            if plan.mirror:
                mine[v >> plan.shift] += 1


@kernel
def scatter_to_buckets(
    thread, num_threads, src, dst, weight, plan, first_bucket, last_bucket, cursors, keys, key_weights
):
    """Place this thread's arcs of buckets ``first_bucket..last_bucket`` at its cursors, in input order.

    Arcs of other buckets all go to one unused place, that of the last cursor: this avoids an unpredictable branch.
    """
    cursor = cursors[thread]
    nowhere = cursor.size - 1
    row_mask = (np.uint64(1) << np.uint64(plan.shift)) - np.uint64(1)
    low = np.uint64(plan.low_bits)
    for i in range(src.size * thread // num_threads, src.size * (thread + 1) // num_threads):
        u = src[i]
        v = dst[i]
        loop = u == v
        if loop and plan.drop_loops:
            continue
        b = u >> plan.shift
        wanted = first_bucket <= b < last_bucket
        b = b if wanted else nowhere
        at = cursor[b]
        cursor[b] = at + wanted
        keys[at] = ((np.uint64(u) & row_mask) << low) | np.uint64(v)
        if plan.weighted:
            key_weights[at] = weight[i]
        if plan.mirror and not loop:
            b = v >> plan.shift
            wanted = first_bucket <= b < last_bucket
            b = b if wanted else nowhere
            at = cursor[b]
            cursor[b] = at + wanted
            keys[at] = ((np.uint64(v) & row_mask) << low) | np.uint64(u)
            if plan.weighted:
                key_weights[at] = weight[i]


@kernel
def _is_sorted(keys):
    i = 1
    while i < keys.size and keys[i - 1] <= keys[i]:
        i += 1
    return i >= keys.size


@kernel
def _sort_by_digit(keys, weights, weighted, low, digit_bits, counts, sorted_keys, sorted_weights):
    """One stable pass: by the bits ``low..low + digit_bits``, from ``keys`` to ``sorted_keys``."""
    shift = np.uint64(low)
    mask = (np.uint64(1) << np.uint64(digit_bits)) - np.uint64(1)
    for d in range(1 << digit_bits):
        counts[d] = 0
    for i in range(keys.size):
        counts[np.int64((keys[i] >> shift) & mask)] += 1
    total = 0
    for d in range(1 << digit_bits):
        count = counts[d]
        counts[d] = total
        total += count
    for i in range(keys.size):
        key = keys[i]
        digit = np.int64((key >> shift) & mask)
        at = counts[digit]
        counts[digit] = at + 1
        sorted_keys[at] = key
        if weighted:
            sorted_weights[at] = weights[i]


@kernel
def _deal_to_rows(keys, key_weights, plan, begin, cursors, offsets, targets, weights):
    """Write a bucket's rows from ``begin`` on; ``cursors`` end up at the ends of the rows."""
    low = np.uint64(plan.low_bits)
    mask = (np.uint64(1) << low) - np.uint64(1)
    for r in range(cursors.size):
        cursors[r] = 0
    for i in range(keys.size):
        cursors[np.int64(keys[i] >> low)] += 1
    total = begin
    for r in range(cursors.size):
        offsets[r] = total
        count = cursors[r]
        cursors[r] = total
        total += count
    for i in range(keys.size):
        key = keys[i]
        row = np.int64(key >> low)
        at = cursors[row]
        cursors[row] = at + 1
        targets[at] = key & mask
        if plan.weighted:
            weights[at] = key_weights[i]


@kernel
def _merge_parallel(plan, begin, row_ends, offsets, targets, weights):
    """Keep one arc of each run of equal targets in a row, with merged weight; return where the last row then ends."""
    kept = i = begin
    for row in range(row_ends.size):
        offsets[row] = kept
        while i < row_ends[row]:
            target = targets[i]
            if kept > offsets[row] and targets[kept - 1] == target:
                if plan.weighted:
                    if plan.merge == MERGE_MIN:
                        weights[kept - 1] = min(weights[kept - 1], weights[i])
                    elif plan.merge == MERGE_MAX:
                        weights[kept - 1] = max(weights[kept - 1], weights[i])
                    elif plan.merge == MERGE_SUM:
                        weights[kept - 1] += weights[i]
            else:
                targets[kept] = target
                if plan.weighted:
                    weights[kept] = weights[i]
                kept += 1
            i += 1
    return kept


@kernel
def build_rows(
    thread, num_threads, ticket, plan, first_bucket, last_bucket, starts, base, keys, key_weights, scratch, largest,
    digit_counts, row_cursors, offsets, targets, weights, kept,
):  # fmt: skip
    """Sort buckets and write their rows; each free thread takes the next bucket.

    Bucket ``b`` is ``keys[starts[b]:starts[b + 1]]``; its rows go to ``targets`` from ``base + starts[b]`` on, where
    ``kept[b]`` arcs remain. Passes alternate between ``keys`` and ``scratch``, which is the result array itself if that
    has the same width, else ``largest`` keys per thread. Weights always pass through the result array.
    ``digit_counts`` and ``row_cursors`` have one row per thread, with room for all values of a digit and for the rows
    of a bucket.
    """
    num_vertices = offsets.size - 1
    counts, cursors = digit_counts[thread], row_cursors[thread]
    while True:
        b = first_bucket + atomic_add(ticket, 0, 1)
        if b >= last_bucket:
            return
        begin, end = starts[b], starts[b + 1]
        out = base + begin
        a, a_weights = keys[begin:end], key_weights[begin:end]
        if plan.passes and not _is_sorted(a):
            scratch_begin = out if plan.in_place else thread * largest
            c, c_weights = scratch[scratch_begin : scratch_begin + a.size], weights[out : out + a_weights.size]
            for p in range(plan.passes):
                low = p * plan.digit_bits
                digit_bits = min(plan.digit_bits, plan.low_bits - low)
                _sort_by_digit(a, a_weights, plan.weighted, low, digit_bits, counts, c, c_weights)
                a, c = c, a
                a_weights, c_weights = c_weights, a_weights
        first_row = b << plan.shift
        num_rows = min(num_vertices - first_row, 1 << plan.shift)
        rows = offsets[first_row : first_row + num_rows]
        _deal_to_rows(a, a_weights, plan, out, cursors[:num_rows], rows, targets, weights)
        kept[b] = end - begin
        if plan.dedupe:
            kept[b] = _merge_parallel(plan, out, cursors[:num_rows], rows, targets, weights) - out


@kernel
def close_gaps(thread, num_threads, plan, first_bucket, last_bucket, starts, base, kept, offsets, targets, weights):
    """Move the rows of merged buckets together, on one thread, since each bucket moves into the place of another."""
    num_vertices = offsets.size - 1
    out = base
    for b in range(first_bucket, last_bucket):
        gap = base + starts[b] - out
        if gap > 0:
            for i in range(out, out + kept[b]):
                targets[i] = targets[i + gap]
            if plan.weighted:
                for i in range(out, out + kept[b]):
                    weights[i] = weights[i + gap]
            for row in range(b << plan.shift, min(num_vertices, (b + 1) << plan.shift)):
                offsets[row] -= gap
        out += kept[b]


@kernel
def scan_rows(thread, num_threads, ticket, offsets, targets, flags):
    """Set the flags of what the rows hold: self-loops, parallel edges (adjacent in sorted rows), unsorted rows."""
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
    """``sources[i]``: the source of arc ``i``."""
    num_vertices = offsets.size - 1
    while True:
        first = atomic_add(ticket, 0, ROWS_A_TICKET)
        if first >= num_vertices:
            return
        for u in range(first, min(num_vertices, first + ROWS_A_TICKET)):
            for i in range(offsets[u], offsets[u + 1]):
                sources[i] = u
