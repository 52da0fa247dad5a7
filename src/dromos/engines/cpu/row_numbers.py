"""The numbers of rows in their blocks: by id, or those of many arcs first.

While a block is gathered tile by tile (:mod:`dromos.engines.cpu.arc_blocks`), each tile makes one pass over the
accumulators of its rows. Rows of many arcs get something from nearly every tile, most others from few. With the former
together, these passes stay within a part of that memory. Rows without arcs are not numbered, so that a block of a graph
with many such rows holds more of the others.
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
    """The numbers of the rows of all blocks."""

    counts: Array
    """How many rows of each block are numbered."""
    places: Array
    """The number of each row; one past the last number of the block if it has none. Empty: by id."""


def rows_by_id(
    offsets: Array, firsts: Array, longest: int, threads: int, new: Callable[[int, Any], Array]
) -> RowNumbers:
    """Number every row by its position in its block; arguments as for :func:`rows_by_arcs`.

    >>> rows_by_id(np.array([0, 1, 1, 4]), np.array([0, 3]), 9, 1, np.zeros).counts.tolist()
    [3]
    """
    return RowNumbers(read_only(np.diff(firsts)), _NONE)


def rows_by_arcs(
    offsets: Array, firsts: Array, longest: int, threads: int, new: Callable[[int, Any], Array]
) -> RowNumbers:
    """Number rows by how many arcs they have, to a quarter of a power of two; within such a class by id.

    Rows without arcs, or with more than ``longest``, are not numbered. ``firsts`` are where blocks begin, and where the
    last one ends; ``new(count, dtype)`` allocates the places.

    >>> numbers = rows_by_arcs(np.array([0, 1, 1, 4], np.uint32), np.array([0, 3]), 9, 1, np.zeros)
    >>> numbers.counts.tolist(), numbers.places.tolist()
    ([2], [1, 2, 0])
    """
    from dromos.engines.cpu import source_order_kernels as kernels

    rows, counts = int(firsts[-1]), np.zeros(len(firsts) - 1, np.int64)
    places = new(rows, np.uint32)
    starts, cursor = np.empty(kernels.CLASSES * threads, np.int64), np.zeros(1, np.int64)
    run_team(
        kernels.number_rows, read_only(offsets), longest, read_only(firsts), places, counts, starts, cursor,
        threads=threads,
    )  # fmt: skip
    return RowNumbers(read_only(counts), read_only(places))
