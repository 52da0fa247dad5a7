"""Parts whose copies for others lie on a device: what a transport between devices sends."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from dromos.engines.parts import Part, Phase

__all__ = ["CopiesThere", "DevicePart"]


class CopiesThere(NamedTuple):
    """What others need of a part, on its device."""

    fields: list[Any]
    """Fields of all vertices, of which the part's own rows are new."""
    marks: Any = None
    """The own frontier in bits, or None: see :class:`dromos.engines.parts.Copies`."""


class DevicePart(Part, Protocol):
    """A part on a device."""

    def copies_there(self, phase: Phase) -> CopiesThere | None:
        """What ``copies`` would tell, where all parts tell rows or bits that are sent as they lie there."""

    def room_for_marks(self, marks: Any, start: int, words: int) -> Any:
        """Memory on the device for the bits of all parts, with the part's own ones from ``start`` on."""
