"""Compiled kernels that sort the arcs of a range of rows: few rows, targets from the whole graph."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.jit import atomic_add, kernel

MERGE_FIRST, MERGE_MIN, MERGE_MAX, MERGE_SUM = range(4)
_ROWS_A_TICKET = 64
_INSERTION_LIMIT = 24


@kernel
def group_by_row(thread, num_threads, src, dst, weight, offsets, targets, weights):
    """Stable counting sort by row, on a single thread. ``offsets`` must be zeros."""
    weighted = weight.size > 0
    rows = offsets.size - 1
    for i in range(src.size):
        offsets[src[i] + 1] += 1
    for row in range(rows):
        offsets[row + 1] += offsets[row]
    for i in range(src.size):
        at = offsets[src[i]]
        offsets[src[i]] = at + 1
        targets[at] = dst[i]
        if weighted:
            weights[at] = weight[i]
    for row in range(rows, 0, -1):  # every offset has advanced to the beginning of the next row
        offsets[row] = offsets[row - 1]
    offsets[0] = 0


@kernel
def _insertion_sort(targets, weights, weighted, begin, end):
    for i in range(begin + 1, end):
        target = targets[i]
        j = i - 1
        if weighted:
            weight = weights[i]
            while j >= begin and targets[j] > target:
                targets[j + 1] = targets[j]
                weights[j + 1] = weights[j]
                j -= 1
            weights[j + 1] = weight
        else:
            while j >= begin and targets[j] > target:
                targets[j + 1] = targets[j]
                j -= 1
        targets[j + 1] = target


@kernel
def _merge_runs(targets, weights, weighted, begin, middle, end, spare_targets, spare_weights):
    """Merge two adjacent sorted runs; equal targets keep their order."""
    if targets[middle - 1] <= targets[middle]:
        return
    for i in range(begin, middle):
        spare_targets[i] = targets[i]
        if weighted:
            spare_weights[i] = weights[i]
    left, right, out = begin, middle, begin
    while left < middle:
        if right < end and targets[right] < spare_targets[left]:
            targets[out] = targets[right]
            if weighted:
                weights[out] = weights[right]
            right += 1
        else:
            targets[out] = spare_targets[left]
            if weighted:
                weights[out] = spare_weights[left]
            left += 1
        out += 1


@kernel
def sort_rows(thread, num_threads, ticket, offsets, targets, weights, spare_targets, spare_weights):
    """Sort every row by target, stably; the next free thread takes the next rows."""
    weighted = weights.size > 0
    rows = offsets.size - 1
    while True:
        first = atomic_add(ticket, 0, _ROWS_A_TICKET)
        if first >= rows:
            return
        for row in range(first, min(rows, first + _ROWS_A_TICKET)):
            begin, end = offsets[row], offsets[row + 1]
            for run in range(begin, end, _INSERTION_LIMIT):
                _insertion_sort(targets, weights, weighted, run, min(end, run + _INSERTION_LIMIT))
            width = _INSERTION_LIMIT
            while width < end - begin:
                for run in range(begin, end - width, 2 * width):
                    stop = min(end, run + 2 * width)
                    _merge_runs(targets, weights, weighted, run, run + width, stop, spare_targets, spare_weights)
                width *= 2


@kernel
def merge_parallel(thread, num_threads, offsets, targets, weights, merge):
    """Keep one of several arcs with the same ends, with merged weight; rows are compacted. On a single thread."""
    weighted = weights.size > 0
    out = np.int64(0)
    begin = offsets[0]
    for row in range(offsets.size - 1):
        end = offsets[row + 1]
        row_out = out
        for i in range(begin, end):
            if out > row_out and targets[out - 1] == targets[i]:
                if weighted:
                    if merge == MERGE_MIN:
                        weights[out - 1] = min(weights[out - 1], weights[i])
                    elif merge == MERGE_MAX:
                        weights[out - 1] = max(weights[out - 1], weights[i])
                    elif merge == MERGE_SUM:
                        weights[out - 1] += weights[i]
            else:
                targets[out] = targets[i]
                if weighted:
                    weights[out] = weights[i]
                out += 1
        begin = end
        offsets[row + 1] = out
