"""The numbers of rows in their blocks: by id, or those of many arcs first.

While a block is gathered tile by tile (:mod:`dromos.engines.cpu.arc_blocks`), what its rows have got so far is gone
through once for each tile. Rows of many arcs get something from nearly every tile, most others from few. With the
former together these passes stay within a part of that memory. Rows without arcs have no number of their own, so that a
block of a graph with many such rows has the more of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.parallel import run_team

__all__ = ["RowNumbers", "rows_by_arcs", "rows_by_id"]

_NONE = read_only(np.empty(0, np.uint32))


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """Of the rows of all blocks."""

    counts: Array
    """How many rows of each block have numbers."""
    places: Array
    """The number of each row, that behind the last one of the block where it has none. Empty: rows go by id."""
    listed: Array
    """From where a block begins, the rows by number, counted from the first one of the block. Empty: by id."""


def rows_by_id(
    offsets: Array, firsts: Array, longest: int, threads: int, new: Callable[[int, Any], Array]
) -> RowNumbers:
    """Every row has the number that it has in its block; arguments as for :func:`rows_by_arcs`.

    >>> rows_by_id(np.array([0, 1, 1, 4]), np.array([0, 3]), 9, 1, np.zeros).counts.tolist()
    [3]
    """
    return RowNumbers(read_only(np.diff(firsts)), _NONE, _NONE)


def rows_by_arcs(
    offsets: Array, firsts: Array, longest: int, threads: int, new: Callable[[int, Any], Array]
) -> RowNumbers:
    """Rows by how many arcs they have, to a quarter of a power of two; those of one such class by id.

    Rows without arcs, and with more than ``longest`` of them, have no number. ``firsts`` are where blocks begin, and
    where the last one ends; ``new(count, dtype)`` makes the places.

    >>> numbers = rows_by_arcs(np.array([0, 1, 1, 4], np.uint32), np.array([0, 3]), 9, 1, np.zeros)
    >>> numbers.counts.tolist(), numbers.places.tolist(), numbers.listed.tolist()[:2]
    ([2], [1, 2, 0], [2, 0])
    """
    from dromos.engines.cpu import source_order_kernels as kernels

    rows, counts = int(firsts[-1]), np.zeros(len(firsts) - 1, np.int64)
    places, listed = new(rows, np.uint32), np.empty(rows, np.uint32)
    starts, cursor = np.empty(kernels.CLASSES * threads, np.int64), np.zeros(1, np.int64)
    run_team(
        kernels.number_rows, read_only(offsets), longest, read_only(firsts), places, listed, counts, starts, cursor,
        threads=threads,
    )  # fmt: skip
    return RowNumbers(read_only(counts), read_only(places), listed)
