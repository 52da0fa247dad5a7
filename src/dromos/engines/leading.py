"""A part that runs the first supersteps of a search for all parts, and parts that go on from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from dromos.dtypes import Array
from dromos.engines.parts import Part, Partial
from dromos.graph.slices import GraphSlice
from dromos.plan import Levels

__all__ = ["AdoptingPart", "LeadingPart", "Led", "LonePart", "can_adopt", "can_lead", "is_lone"]


@dataclass(frozen=True, eq=False)
class Led:
    """What a part that led tells the others."""

    ids: Array
    """Their vertices that were reached, those of the frontier last."""
    rows: Mapping[str, Array]
    """The fields of these vertices that may have changed."""
    frontier: int
    """How many of them are in the frontier."""
    own: Partial
    """The frontier of the part that led."""
    out_degree: int
    """Of the others' part of the frontier."""

    @property
    def front(self) -> Array:
        """The others' active vertices."""
        return self.ids[len(self.ids) - self.frontier :]


class LeadingPart(Part, Protocol):
    """A part that has the rows of all vertices at hand, and can run supersteps for all parts."""

    @property
    def can_lead(self) -> bool:
        """Whether there are other parts."""

    def begin_lead(self) -> None:
        """Run for all parts from here on, which is the first superstep."""

    @property
    def led_front(self) -> Array:
        """The active vertices of other parts, along whose rows the next :meth:`lead` pushes too."""

    def lead(self, rows: GraphSlice) -> Partial:
        """A push along the out-rows of all vertices, and what comes of it in all parts."""

    def end_lead(self) -> Led:
        """Keep the own part of the frontier, and tell what the others are to take over."""

    def learn_front(self, others: Array) -> None:
        """The active vertices of other parts, for a pull in this superstep; own ones are known."""


class AdoptingPart(Part, Protocol):
    """A part that can go on from where another led."""

    def adopt(self, led: Led) -> None:
        """Take over the rows of own vertices that were reached, and those of the frontier as the frontier."""


class LonePart(Part, Protocol):
    """A part that can run supersteps of a search by itself while no other part takes or sends messages."""

    @property
    def least_alone(self) -> int | None:
        """From how many active vertices on they may be another part's at first; None: it cannot do so now."""

    def begin_search(self, out: GraphSlice, into: GraphSlice, front: Partial) -> None:
        """Start a superstep in which the part's vertices pull, also from other parts' active vertices, whose marks are
        known; :meth:`settle` waits for it, and nothing else is to be settled."""

    def search_alone(
        self, out: GraphSlice, into: GraphSlice, front: Partial, horizon: int | None
    ) -> tuple[Partial, Levels]:
        """Up to ``horizon`` supersteps along the part's rows, from a frontier of which other parts' marks are known."""


def is_lone(part: Any) -> TypeGuard[LonePart]:
    """Whether a part can run by itself."""
    return hasattr(part, "search_alone")


def can_lead(part: Any) -> TypeGuard[LeadingPart]:
    """Whether a part can run supersteps for all."""
    return bool(getattr(part, "can_lead", False))


def can_adopt(part: Any) -> TypeGuard[AdoptingPart]:
    """Whether a part can go on from there."""
    return hasattr(part, "adopt")
