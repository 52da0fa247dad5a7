"""Interfaces for a part that runs the first supersteps of a search for all parts, and for parts that continue it."""

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
    """What a leading part hands to the other parts at the end."""

    ids: Array
    """The other parts' vertices that were reached, those of the frontier last."""
    rows: Mapping[str, Array]
    """The fields of these vertices that may have changed."""
    frontier: int
    """How many of them are in the frontier."""
    own: Partial
    """The leading part's own share of the frontier."""
    out_degree: int
    """The out-degree of the other parts' share of the frontier."""

    @property
    def front(self) -> Array:
        """The other parts' active vertices."""
        return self.ids[len(self.ids) - self.frontier :]


class LeadingPart(Part, Protocol):
    """A part that has access to the rows of all vertices, and can run supersteps for all parts."""

    @property
    def can_lead(self) -> bool:
        """Whether there are other parts."""

    def begin_lead(self) -> None:
        """Start to run for all parts, from the first superstep on."""

    @property
    def led_front(self) -> Array:
        """The active vertices of other parts, along whose rows the next :meth:`lead` pushes too."""

    def lead(self, rows: GraphSlice) -> Partial:
        """Push along the out-rows of all vertices; return the outcome over all parts."""

    def end_lead(self) -> Led:
        """Keep the own share of the frontier, and return what the other parts are to take over."""

    def learn_front(self, others: Array) -> None:
        """Set the active vertices of other parts, for a pull in this superstep; own ones are known."""


class AdoptingPart(Part, Protocol):
    """A part that can continue where a leading part stopped."""

    def adopt(self, led: Led) -> None:
        """Take over the reached rows of own vertices; those of the frontier become this part's frontier."""


class LonePart(Part, Protocol):
    """A part that can run supersteps of a search by itself while no other part receives or sends messages."""

    @property
    def least_alone(self) -> int | None:
        """The least number of active vertices if some are another part's; None: the part cannot run alone now."""

    def begin_search(self, out: GraphSlice, into: GraphSlice, front: Partial) -> None:
        """Start a superstep in which the part's vertices pull, also from other parts' active vertices, whose marks are
        known; :meth:`settle` waits for it, and nothing else is to be settled."""

    def search_alone(
        self, out: GraphSlice, into: GraphSlice, front: Partial, horizon: int | None
    ) -> tuple[Partial, Levels]:
        """Up to ``horizon`` supersteps along the part's rows; other parts' marks of the first frontier are known."""


def is_lone(part: Any) -> TypeGuard[LonePart]:
    """Whether a part can run by itself."""
    return hasattr(part, "search_alone")


def can_lead(part: Any) -> TypeGuard[LeadingPart]:
    """Whether a part can run supersteps for all."""
    return bool(getattr(part, "can_lead", False))


def can_adopt(part: Any) -> TypeGuard[AdoptingPart]:
    """Whether a part can continue where a leading part stopped."""
    return hasattr(part, "adopt")
