"""Ranks in rows and columns; see :mod:`dromos.places.grid` for the superstep there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.parts import Part, Partial, Phase
from dromos.graph.slices import GraphSlice
from dromos.identity_cache import IdentityCache
from dromos.places.cluster.collectives import swapped
from dromos.places.cluster.exchange import MpiExchange
from dromos.places.cluster.host_memory import HostMemory
from dromos.places.cluster.transport import device_transport
from dromos.places.feed import Feed
from dromos.places.grid import Grid, GridFeed, arcs_by_row
from dromos.program import GraphTypes, TypedProgram

__all__ = ["GridExchange", "RankGrid", "rank_grid"]

_grids, _blocks = IdentityCache(), IdentityCache()


class RankGrid:
    """The grid of a job: this rank's position in it, and the communicators of its row and its column."""

    def __init__(self, comm: Any, grid: Grid) -> None:
        self.grid, self.comm, self.rank = grid, comm, comm.Get_rank()
        self.row = comm.Split(grid.row_of(self.rank), self.rank)
        self.column = comm.Split(grid.column_of(self.rank), self.rank)

    def feed(self, graph: Any, own_rows: Feed, bounds: Sequence[int], types: GraphTypes, *, weighted: bool) -> GridFeed:
        """The rank's block, kept as long as the graph lives.

        Ranks of a column exchange the arcs of their own rows, with weights if the program reads any.
        """
        known, key = _blocks.of(graph), (self.grid, weighted)
        if key not in known:
            known[key] = self._made(own_rows, bounds, types.id, types.weight if weighted else None)
        found: GridFeed = known[key]
        return found

    def _made(
        self, own_rows: Feed, bounds: Sequence[int], ids: np.dtype[Any], weights: np.dtype[Any] | None
    ) -> GridFeed:
        # a rank without arcs needs their types too
        first, none = bounds[self.rank], None if weights is None else np.empty(0, weights)
        pieces = [GraphSlice(first, first, np.zeros(1, np.int64), np.empty(0, ids), none)]
        rows = own_rows.fetch(own_rows.holding(None, "push"), "push")
        pieces += (piece if weights is not None else replace(piece, weights=None) for piece in rows)
        by_row = arcs_by_row(pieces, self.grid.target_bounds(bounds))
        counts = np.array([len(arcs[0]) for arcs in by_row], dtype=np.int64)
        columns = [np.concatenate(arrays) for arrays in zip(*by_row, strict=True)]
        arcs = [swapped(self.column, np.ascontiguousarray(column), counts) for column in columns]
        return GridFeed(self.grid, self.rank, bounds, arcs)


def rank_grid(comm: Any, text: str) -> RankGrid:
    """The grid of the given rows and columns, made once: it holds communicators."""
    grid = Grid.parse(text, comm.Get_size())
    known = _grids.of(comm)
    if grid not in known:
        known[grid] = RankGrid(comm, grid)
    found: RankGrid = known[grid]
    return found


class GridExchange:
    """See :class:`dromos.places.exchange.Exchange`: a column expands, a row folds, all ranks reduce."""

    in_grid = True

    def __init__(
        self,
        ranks: RankGrid,
        bounds: Sequence[int],
        typed: TypedProgram,
        ids: np.dtype[Any],
        host: HostMemory | None,
        device: int | None = None,
    ) -> None:
        """``device``: the number of the GPU that this rank has."""
        grid, ranges = ranks.grid, list(pairwise(bounds))
        mates = [ranges[number] for number in grid.members_of_row(grid.row_of(ranks.rank))]
        above = [ranges[number] for number in grid.members_of_column(grid.column_of(ranks.rank))]
        self._all = MpiExchange(ranks.comm, ranges, bounds[-1], typed, ids, host)
        row, column = (None if device is None else device_transport(some, device) for some in (ranks.row, ranks.column))
        self._row = MpiExchange(ranks.row, mates, bounds[-1], typed, ids, devices=row)
        self._column = MpiExchange(ranks.column, above, bounds[-1], typed, ids, host, column)

    @property
    def sent_bytes(self) -> int:
        """Bytes that this rank has sent to others so far."""
        return self._all.sent_bytes + self._row.sent_bytes + self._column.sent_bytes

    def refresh(self, parts: Sequence[Part], phase: Phase) -> None:
        """See :class:`dromos.places.exchange.Exchange`."""
        if phase not in ("push", "pull"):
            self._all.refresh(parts, phase)
            return
        pushes = phase == "push"
        self._column.refresh(parts, "sources" if pushes else "pull")
        self._row.refresh(parts, "push" if pushes else "targets")

    def deliver(self, parts: Sequence[Part]) -> None:
        """See :class:`dromos.places.exchange.Exchange`."""
        self._row.deliver(parts)

    def reduce(self, partials: Sequence[Partial], typed: TypedProgram) -> Partial:
        """See :class:`dromos.places.exchange.Exchange`."""
        for some in (self._row, self._column):
            self._all.seconds += some.seconds
            some.seconds = 0.0
        return self._all.reduce(partials, typed)

    @property
    def split(self) -> tuple[float, float]:
        """See :class:`dromos.places.cluster.exchange.MpiExchange`."""
        return self._all.split

    def largest(self, values: Sequence[float]) -> float:
        """See :class:`dromos.places.exchange.Exchange`."""
        return self._all.largest(values)

    def gather(self, parts: Sequence[Part], name: str, *, edges: bool = False) -> Array:
        """See :class:`dromos.places.exchange.Exchange`."""
        return self._all.gather(parts, name, edges=edges)
