"""What an algorithm costs on a place, in passes over the arcs: facts that each algorithm's own file states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

__all__ = ["MESSAGE_BYTES", "Cost", "SplitCost"]

MESSAGE_BYTES: Final = 8
"""What tells of a vertex across processors, where nothing better is known."""


@dataclass(frozen=True)
class SplitCost:
    """What an algorithm does on a graph that is split over processors; fitted to R-MAT graphs split in 16 ways.

    Vertices without arcs count nowhere. :func:`dromos.places.hybrid.model.predicted_run` has the equation.
    """

    arcs: float
    """How often a processor goes along its arcs."""
    vertices: float
    """How often it looks at its vertices."""
    steps: float
    """Supersteps, each of which takes a while even if there is nothing to do."""
    crossing: float = 0.0
    """Bytes by which a processor is told of each vertex elsewhere before it begins; 0: it is told of few vertices."""
    inner: float = 0.0
    """Above 0: of a CPU and a GPU the GPU does what crosses the cut, and the CPU goes along the arcs within its part.
    Their share of its arcs is this power of its share of all arcs: 1 if ends of arcs were drawn at random, and more
    where a small part has less to do again, since most of its vertices are settled from elsewhere."""
    search: bool = False
    """Whether pulls end at the first active neighbour. Then time goes with the vertices and not with the arcs: a CPU
    looks at those with a neighbour across the cut for messages, and at those with one in its own part to pull."""
    whole_rows: bool = False
    """Whether pulls go along whole rows. Then a CPU's rows of hubs are cut into tiles, which has a rate of its own."""
    in_turn: bool = False
    """Whether processors work one after the other, and not at the same time."""
    growth: float = 1.0
    """The work at a CPU's vertices grows with this power of their share: where it is less than 1, a vertex of a small
    part gets messages in more of the supersteps, since nearly all of its neighbours are elsewhere."""
    on_device: float = 1.0
    """How often a GPU goes along its arcs and looks at its vertices, by how often a CPU does."""
    shared: float = 0.0
    """Supersteps' worth of time that a search takes on top where it does not end on the GPU alone. It ends so once all
    vertices of the CPU are reached: hubs are soon, and of other vertices some never are."""

    def times(self, count: float) -> SplitCost:
        """So many of it, one after the other.

        >>> SplitCost(1, 2, 3, crossing=4).times(2)  # doctest: +NORMALIZE_WHITESPACE
        SplitCost(arcs=2, vertices=4, steps=6, crossing=8, inner=0.0, search=False, whole_rows=False,
        in_turn=False, growth=1.0, on_device=1.0, shared=0.0)
        """
        return replace(
            self,
            arcs=count * self.arcs,
            vertices=count * self.vertices,
            steps=count * self.steps,
            crossing=count * self.crossing,
            shared=count * self.shared,
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
