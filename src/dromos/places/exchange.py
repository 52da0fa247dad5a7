"""What the parts of a graph tell each other in a superstep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from dromos.dtypes import Array
from dromos.engines.parts import Part, Partial, Phase, merge_partials
from dromos.program import TypedProgram

__all__ = ["CopyExchange", "Exchange"]


class Exchange(Protocol):
    """Called by the driver with the parts that live in this process; it knows who the others are.

    Every process calls the same methods in the same order, so each may be a collective operation.
    """

    in_grid: bool
    """Whether arcs lie in a grid of parts: then a pull too gathers messages to others' vertices."""

    @property
    def sent_bytes(self) -> int:
        """Bytes that this process has sent to others so far."""

    @property
    def split(self) -> tuple[float, float]:
        """Of the last superstep: the seconds that the slowest process computed, and those that the exchange took on the
        one that waited least there; zeros where nobody measures."""

    def refresh(self, parts: Sequence[Part], phase: Phase) -> None:
        """Every part gets the copies that it reads in ``phase``."""

    def deliver(self, parts: Sequence[Part]) -> None:
        """Every outbox goes to the owner of its vertices."""

    def reduce(self, partials: Sequence[Partial], typed: TypedProgram) -> Partial:
        """Those of all parts, everywhere, as one."""

    def largest(self, values: Sequence[float]) -> float:
        """The largest of all parts' values, everywhere."""

    def gather(self, parts: Sequence[Part], name: str, *, edges: bool = False) -> Array:
        """A field (or edge field) of the whole graph, from the rows that each part owns; it belongs to the caller."""


class CopyExchange:
    """All parts live in this process: what one tells another is copied."""

    sent_bytes = 0
    in_grid = False
    split = (0.0, 0.0)

    def refresh(self, parts: Sequence[Part], phase: Phase) -> None:
        """See :class:`Exchange`."""
        if len(parts) == 1:
            return
        copies = [part.copies(phase) for part in parts]
        for part, own in zip(parts, copies, strict=True):
            for told in copies:
                if told is not None and told is not own:
                    part.refresh(told)

    def deliver(self, parts: Sequence[Part]) -> None:
        """See :class:`Exchange`."""
        for part in parts:
            for other in parts:
                if other is not part:
                    other.inbox(part.outbox(other.first, other.last))

    def reduce(self, partials: Sequence[Partial], typed: TypedProgram) -> Partial:
        """See :class:`Exchange`."""
        return merge_partials(partials, typed)

    def largest(self, values: Sequence[float]) -> float:
        """See :class:`Exchange`."""
        return max(values)

    def gather(self, parts: Sequence[Part], name: str, *, edges: bool = False) -> Array:
        """See :class:`Exchange`."""
        if edges:
            return np.concatenate([part.edge_state[name] for part in parts])
        if len(parts) == 1:
            return parts[0].state[name][parts[0].first : parts[0].last]
        return np.concatenate([part.state[name][part.first : part.last] for part in parts])
