"""A program on one rank's part of a graph."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.places.driver import PlacedExecution

__all__ = ["RankExecution"]


class RankExecution(PlacedExecution):
    """See :class:`dromos.places.driver.PlacedExecution`; the part of this process is one of those of all ranks."""

    @property
    def own_rows(self) -> tuple[int, int]:
        """The first vertex that this rank owns, and the one after its last."""
        (part,) = self.parts
        return part.first, part.last

    def own_result(self) -> Mapping[str, Array]:
        """As :meth:`result`, but the rows of this rank's own vertices and arcs: nothing is exchanged."""
        (part,) = self.parts
        state, edges = part.state, part.edge_state
        rows = {spec.name: np.array(state[spec.name][part.first : part.last]) for spec in self.ir.fields}
        return {**rows, **{spec.name: np.array(edges[spec.name]) for spec in self.ir.edge_fields}}
