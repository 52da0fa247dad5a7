"""Operators over ranks: each does the blocks of its own rows, and gets from the others what it reads of theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.places.cluster.collectives import gather_all, swapped
from dromos.places.cluster.world import in_place
from dromos.places.feed import Feed
from dromos.places.operators.blocks import Blocks, Rows
from dromos.plan.path import Direction

__all__ = ["RankBlocks"]


class RankBlocks(Blocks):
    """The blocks of a rank's own vertices, ``bounds[rank]..bounds[rank + 1]``; every rank makes the same calls."""

    def __init__(
        self,
        comm: Any,
        bounds: Sequence[int],
        shape: GraphShape,
        feed: Feed,
        dtype: np.dtype[np.generic],
        *,
        threads: int | None,
        directions: tuple[Direction, ...],
        weighted: bool = False,
    ) -> None:
        rank = comm.Get_rank()
        self._comm, self._bounds = comm, bounds
        self._first, self._last = bounds[rank], bounds[rank + 1]
        arcs = -(-shape.num_arcs // comm.Get_size())
        super().__init__(
            shape,
            [feed],
            dtype,
            size=arcs,
            threads=threads,
            directions=directions,
            weighted=weighted,
            why_not="the store has no transpose",
        )
        self.process, self.processes = rank, comm.Get_size()

    def bounds(self) -> list[tuple[int, int]]:
        """See :class:`dromos.places.operators.blocks.Blocks`: those of the own vertices."""
        return self.bounds_within(self._first, self._last)

    def of_everybody(self, own: Iterable[Rows]) -> Iterator[Rows]:
        """See :class:`dromos.places.operators.blocks.Blocks`: those of one rank after the other."""
        rank, mine = self._comm.Get_rank(), iter(own)
        for root in range(self._comm.Get_size()):
            while True:
                rows = next(mine, None) if rank == root else None
                told = np.array([-1, 0, 0, 0] if rows is None else _told(rows))
                self._comm.Bcast(told, root)
                first, last, arcs, weighs = told.tolist()
                if first < 0:
                    break
                if rows is None:
                    weights = np.empty(arcs) if weighs else None
                    rows = Rows(first, last, np.empty(last - first + 1, np.int64), np.empty(arcs, self.dtype), weights)
                for array in (rows.offsets, rows.targets, rows.weights):
                    if array is not None:
                        self._comm.Bcast(array, root)
                yield rows

    def share(self, values: Array, bounds: Sequence[int] | None = None) -> None:
        """See :class:`dromos.places.operators.blocks.Blocks`."""
        width = values.strides[0]
        sizes = [(last - first) * width for first, last in pairwise(self._bounds if bounds is None else bounds)]
        gather_all(self._comm, in_place(), values.view(np.uint8), sizes)

    def ranges(self) -> list[int]:
        """See :class:`dromos.places.operators.blocks.Blocks`."""
        return list(self._bounds)

    def add_up(self, values: Array) -> None:
        """See :class:`dromos.places.operators.blocks.Blocks`."""
        self._comm.Allreduce(in_place(), values)

    def collect(self, values: Array) -> Array:
        """See :class:`dromos.places.operators.blocks.Blocks`."""
        sizes = np.empty(self._comm.Get_size(), np.int64)
        self._comm.Allgather(np.array([values.nbytes]), sizes)
        found = np.empty(int(sizes.sum()), np.uint8)
        gather_all(self._comm, np.ascontiguousarray(values).view(np.uint8), found, sizes.tolist())
        return found.view(values.dtype)

    def deal(self, values: Array, sizes: Sequence[int]) -> Array:
        """See :class:`dromos.places.operators.blocks.Blocks`."""
        return swapped(self._comm, np.ascontiguousarray(values), np.asarray(sizes, np.int64))


def _told(rows: Rows) -> list[int]:
    """What another rank needs to know to take the rows."""
    return [rows.first, rows.last, len(rows.targets), rows.weights is not None]
