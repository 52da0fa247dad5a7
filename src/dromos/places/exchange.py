"""The communication between the parts of a graph in a superstep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from dromos.dtypes import Array
from dromos.engines.parts import Part, Partial, Phase, merge_partials
from dromos.program import TypedProgram

__all__ = ["CopyExchange", "Exchange"]


class Exchange(Protocol):
    """Called by the driver with the parts of this process; it knows the parts of the other processes.

    Every process calls the same methods in the same order, so each may be a collective operation.
    """

    in_grid: bool
    """Whether arcs are stored in a grid of parts. Then a pull also gathers messages to vertices of other parts."""

    @property
    def sent_bytes(self) -> int:
        """Bytes that this process has sent to others so far."""

    @property
    def split(self) -> tuple[float, float]:
        """Seconds of the last superstep: the compute time of the slowest process, and the exchange time of the process
        that waited least. Zeros if they are not measured."""

    def refresh(self, parts: Sequence[Part], phase: Phase) -> None:
        """Update the copies that each part reads in ``phase``."""

    def deliver(self, parts: Sequence[Part]) -> None:
        """Send every outbox to the owner of its vertices."""

    def reduce(self, partials: Sequence[Partial], typed: TypedProgram) -> Partial:
        """Reduce the partials of all parts to one, the same in every process."""

    def largest(self, values: Sequence[float]) -> float:
        """The maximum of the values of all parts, the same in every process."""

    def gather(self, parts: Sequence[Part], name: str, *, edges: bool = False) -> Array:
        """A field (or edge field) of the whole graph, from the rows that each part owns; the caller owns it."""


class CopyExchange:
    """The exchange between parts of one process: rows and messages are copied."""

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
