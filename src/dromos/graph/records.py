"""Plain records: edges as columns, and the flags of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dromos.dtypes import Array

__all__ = ["Edges", "Flags"]


class Edges(NamedTuple):
    """Edges as columns; ``weight`` is ``None`` for an unweighted graph."""

    src: Array
    dst: Array
    weight: Array | None


@dataclass(frozen=True)
class Flags:
    """Known facts about a graph; ``None`` means "not determined yet"."""

    directed: bool = True
    symmetric: bool | None = None
    sorted: bool | None = None
    parallel_edges: bool | None = None
    self_loops: bool | None = None
