"""What an algorithm costs on a place, in passes over the arcs: facts that each algorithm's own file states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["MESSAGE_BYTES", "Cost", "SplitCost"]

MESSAGE_BYTES: Final = 8
"""What tells of a vertex across processors, where nothing better is known."""


@dataclass(frozen=True)
class SplitCost:
    """What an algorithm does on a graph that is split over processors, counted on R-MAT graphs."""

    passes: float
    """Supersteps in which all vertices are active, or what amounts to them."""
    crossing: float = MESSAGE_BYTES
    """Bytes that each vertex is told by in such a superstep."""
    steps: float = 1.0
    """Supersteps, each of which takes a while even if there is nothing to do."""
    arcs: float = 1.0
    """The part of the arcs that such a superstep looks at."""


@dataclass(frozen=True)
class Cost:
    """What an algorithm does on a graph in one place."""

    passes: float
    """How often it reads the arcs, about."""
    split: SplitCost | None = None
    """What it does on a split graph; None: it is no program that can be split."""
