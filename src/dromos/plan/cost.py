"""The cost of an algorithm on a place, in passes over the arcs; each algorithm's own file states its facts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

__all__ = ["MESSAGE_BYTES", "Cost", "SplitCost"]

MESSAGE_BYTES: Final = 8
"""Bytes per vertex of a message between processors, where nothing better is known."""


@dataclass(frozen=True)
class SplitCost:
    """The work of an algorithm on a graph that is split over processors; fitted to R-MAT graphs split in 16 ways.

    Vertices without arcs are not counted anywhere. :func:`dromos.places.hybrid.model.predicted_run` has the equation.
    """

    arcs: float
    """How often a processor traverses its arcs."""
    vertices: float
    """How often it visits its vertices."""
    steps: float
    """Supersteps, each of which has a fixed cost even if there is nothing to do."""
    crossing: float = 0.0
    """Bytes that a processor receives for each vertex elsewhere before it begins; 0: for few vertices only."""
    inner: float = 0.0
    """Above 0: the GPU handles what crosses the cut, and the CPU traverses the arcs within its part. These are a
    fraction of the CPU's arcs: its share of all arcs, to this power. The power would be 1 if the ends of arcs were
    drawn at random. It is more where a small part has even less to do, since most of its vertices are settled from
    elsewhere."""
    search: bool = False
    """Whether pulls end at the first active neighbor. Then time depends on the vertices and not on the arcs: a CPU
    visits those with a neighbor across the cut for messages, and those with a neighbor in its own part to pull."""
    whole_rows: bool = False
    """Whether pulls read whole rows. Then a CPU's rows of hubs are cut into tiles, which have a rate of their own."""
    in_turn: bool = False
    """Whether processors work one after the other rather than at the same time."""
    growth: float = 1.0
    """The work at a CPU's vertices grows with this power of their share. Below 1, a vertex of a small part gets
    messages in more of the supersteps, since nearly all of its neighbors are elsewhere."""
    on_device: float = 1.0
    """How often a GPU traverses its arcs and visits its vertices, relative to a CPU."""
    shared: float = 0.0
    """Extra time, in supersteps, of a search that does not end on the GPU alone. It ends there once all vertices of the
    CPU are reached: hubs are reached soon, and some other vertices never are."""

    def times(self, count: float) -> SplitCost:
        """The cost of running it ``count`` times in sequence.

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
    """The work of an algorithm on a graph in one place."""

    passes: float
    """About how often it reads the arcs."""
    gathers: bool = False
    """Whether each pass is a pull along all arcs, so that engines sort the arcs for the later passes."""
    split: SplitCost | None = None
    """Its work on a split graph; None: it is not a program that can be split."""
    weighted: bool = False
    """Whether it reads the weights of a graph that has some."""
    undirected_on_disk: bool = False
    """Whether a directed graph on disk is refused."""
    over_pages: int = 40
    """Bytes per vertex that a run over the pages of a graph on disk takes at least, with 4-byte ids."""
    beside: int = 96
    """Bytes per vertex that a run takes beside the arcs of a graph that was read whole from disk, with 4-byte ids."""
