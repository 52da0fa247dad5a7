"""Rows of a host's active vertices, copied to a device that sends messages along them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

import numpy as np

from dromos.dtypes import Array
from dromos.engines.parts import Part

__all__ = ["RowStage", "RowTakingPart", "takes_rows"]


@dataclass(frozen=True, eq=False)
class RowStage:
    """A buffer for consecutive rows, from which a device fetches them."""

    sources: Array
    """The vertex of each row."""
    starts: Array
    """Where each row begins, and where the last one ends."""
    targets: Array
    weights: Array | None


class RowTakingPart(Part, Protocol):
    """A part that can send messages along rows of other parts' vertices."""

    def stage_rows(self, rows: int, arcs: int, weight: np.dtype[Any] | None) -> RowStage:
        """Allocate a buffer, to be filled before :meth:`push_rows`."""

    def push_rows(self, stage: RowStage) -> None:
        """Send messages along these rows to the part's own vertices; the fields of the sources are known here."""


def takes_rows(part: Any) -> TypeGuard[RowTakingPart]:
    """Whether a part is a :class:`RowTakingPart`."""
    return hasattr(part, "push_rows")
