"""The arcs with both ends in one part of a graph."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.graph import Graph
from dromos.graph.build import team_size
from dromos.graph.partly_held import arrays_within
from dromos.graph.slices import GraphSlice
from dromos.identity_cache import IdentityCache
from dromos.parallel import run_team
from dromos.plan.path import Direction

__all__ = ["inner_slice"]

_kept = IdentityCache()


def inner_slice(graph: Graph, first: int, last: int, direction: Direction) -> GraphSlice:
    """The rows ``first..last`` without the arcs that leave the range; made once, and kept with the graph.

    Rows have to be sorted, as those of a split graph are: then the arcs of a row that stay are contiguous.

    >>> import dromos as dr
    >>> inner_slice(dr.generators.path(4), 0, 2, "push").targets.tolist()
    [1, 0]
    """
    rows = graph if direction == "push" else graph.transpose
    known, key = _kept.of(rows), (first, last)
    if key not in known:
        known[key] = _made(rows, first, last)
    found: GraphSlice = known[key]
    return found


def _made(rows: Graph, first: int, last: int) -> GraphSlice:
    from dromos.engines.cpu.copy_kernels import find_runs

    assert rows.sorted
    offsets, count = rows.offsets[first : last + 1], last - first
    begins, starts = np.empty(count, np.int64), np.zeros(count + 1, np.int64)
    targets, values = arrays_within(rows, first, last)
    team = team_size(int(offsets[-1]) - int(offsets[0]))
    run_team(find_runs, read_only(offsets), read_only(targets), first, last, begins, starts, threads=team)
    np.cumsum(starts, out=starts)
    weights = None if values is None else _gathered(values, begins, starts)
    return GraphSlice(first, last, starts, _gathered(targets, begins, starts), weights, lacks_arcs=True)


def _gathered(values: Array, begins: Array, starts: Array) -> Array:
    from dromos.engines.cpu.copy_kernels import gather_rows

    found, word = np.empty(int(starts[-1]), values.dtype), np.dtype(f"u{values.itemsize}")
    team = team_size(len(found))
    run_team(gather_rows, begins, starts, read_only(values.view(word)), found.view(word), threads=team)
    return found
