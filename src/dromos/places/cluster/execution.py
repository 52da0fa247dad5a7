"""A program on one rank's part of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dromos.dtypes import Array
from dromos.places.cluster.exchange import MpiExchange
from dromos.places.cluster.grid import GridExchange
from dromos.places.driver import PlacedExecution
from dromos.plan import Path, Stats

__all__ = ["RankExecution"]


class RankExecution(PlacedExecution):
    """See :class:`dromos.places.driver.PlacedExecution`; each rank has one part, this process its own."""

    exchange: MpiExchange | GridExchange

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """As its base; it also reports how long the ranks computed and exchanged."""
        stats = super().step(path, horizon)
        split = self.exchange.split if self._ordered is None else self._ordered.split()
        if any(split):
            self.stats = replace(stats, parts=tuple(zip(("compute", "exchange"), split, strict=True)))
        return self.stats

    @property
    def own_rows(self) -> tuple[int, int]:
        """The vertex range (end exclusive) of this rank."""
        (part,) = self.parts
        return part.first, part.last

    def own_result(self) -> Mapping[str, Array]:
        """As :meth:`result`, but only the rows of this rank's own vertices and arcs: nothing is exchanged."""
        (part,) = self.parts
        state, edges = part.state, part.edge_state
        rows = {spec.name: np.array(state[spec.name][part.first : part.last]) for spec in self.ir.fields}
        return {**rows, **{spec.name: np.array(edges[spec.name]) for spec in self.ir.edge_fields}}
