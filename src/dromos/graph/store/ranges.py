"""Sort the arcs of a range of rows in memory: few rows, targets from a graph that may be larger than memory."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import OFFSET, Array, as_words
from dromos.graph.build import MERGE_RULES, CsrArrays, MergeRule, narrow_sums
from dromos.parallel import num_threads, run_team

__all__ = ["sorted_rows"]

_SMALL = 1 << 15


def sorted_rows(
    src: Array,
    dst: Array,
    weight: Array | None,
    num_rows: int,
    *,
    dedupe: bool = False,
    merge_weights: MergeRule = "first",
    threads: int | None = None,
) -> CsrArrays:
    """Rows ``0..num_rows`` of arcs to any targets, each sorted by target; parallel arcs stay in input order.

    >>> rows = sorted_rows(np.array([1, 0, 1]), np.array([9, 7, 3]), None, 2)
    >>> rows.offsets.tolist(), rows.targets.tolist()
    ([0, 1, 3], [7, 3, 9])
    """
    from dromos.graph.store import range_kernels as kernels

    exact_sums = weight is not None and weight.dtype == np.int32 and dedupe and merge_weights == "sum"
    given = np.empty(0, dtype=np.float32) if weight is None else weight.astype(np.int64) if exact_sums else weight
    offsets = np.zeros(num_rows + 1, dtype=OFFSET)
    targets, weights = np.empty_like(dst), np.empty_like(given)
    run_team(kernels.group_by_row, src, dst, as_words(given), offsets, targets, as_words(weights), threads=1)
    team = 1 if len(src) < _SMALL else num_threads(threads)
    run_team(
        kernels.sort_rows, np.zeros(1, np.int64), offsets, targets, as_words(weights), np.empty_like(dst),
        as_words(np.empty_like(given)), threads=team,
    )  # fmt: skip
    if dedupe:
        run_team(kernels.merge_parallel, offsets, targets, weights, MERGE_RULES.index(merge_weights), threads=1)
        targets = targets[: offsets[-1]]
        weights = weights[: offsets[-1]]
    if weight is None:
        return CsrArrays(offsets, targets, None)
    return CsrArrays(offsets, targets, narrow_sums(weights, weight.dtype))
