"""What an algorithm costs on a place, in passes over the arcs: facts that each algorithm's own file states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

__all__ = ["MESSAGE_BYTES", "Cost", "SplitCost"]

MESSAGE_BYTES: Final = 8
"""What tells of a vertex across processors, where nothing better is known."""


@dataclass(frozen=True)
class SplitCost:
    """What an algorithm does on a graph that is split over processors; fitted to an R-MAT graph split in 15 ways."""

    arcs: float
    """How often a processor goes along its arcs."""
    vertices: float
    """How often it looks at its vertices."""
    crossing: float
    """Bytes that each vertex is told by."""
    steps: float
    """Supersteps, each of which takes a while even if there is nothing to do."""
    inner: bool = False
    """Whether of a CPU and a GPU the GPU does what crosses the cut, and the CPU the arcs within its part."""
    growth: float = 1.0
    """The work at a part's vertices grows with this power of their share: where it is less than 1, a vertex of a small
    part gets messages in more of the supersteps, since nearly all of its neighbours are elsewhere."""
    on_device: float = 1.0
    """How often a GPU goes along its arcs and looks at its vertices, by how often a CPU does."""

    def times(self, count: float) -> SplitCost:
        """So many of it, one after the other.

        >>> SplitCost(1, 2, 3, 4).times(2)
        SplitCost(arcs=2, vertices=4, crossing=6, steps=8, inner=False, growth=1.0, on_device=1.0)
        """
        return replace(
            self,
            arcs=count * self.arcs,
            vertices=count * self.vertices,
            crossing=count * self.crossing,
            steps=count * self.steps,
        )


@dataclass(frozen=True)
class Cost:
    """What an algorithm does on a graph in one place."""

    passes: float
    """How often it reads the arcs, about."""
    gathers: bool = False
    """Whether each of them is a pull along all arcs, so that engines sort the arcs for the later ones."""
    split: SplitCost | None = None
    """What it does on a split graph; None: it is no program that can be split."""
