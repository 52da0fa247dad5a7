"""Parts whose copies for other parts are in device memory, for a transport between devices."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from dromos.engines.parts import Part, Phase

__all__ = ["CopiesThere", "DevicePart"]


class CopiesThere(NamedTuple):
    """What other parts need of a part, in the memory of its device."""

    fields: list[Any]
    """Fields of all vertices; only the part's own rows are new."""
    marks: Any = None
    """The own frontier as bits, or None: see :class:`dromos.engines.parts.Copies`."""


class DevicePart(Part, Protocol):
    """A part on a device."""

    def copies_there(self, phase: Phase) -> CopiesThere | None:
        """As ``copies``, if all parts send rows or bits that can be sent as they lie on the device; otherwise None."""

    def room_for_marks(self, marks: Any, start: int, words: int) -> Any:
        """Allocate device memory for the bits of all parts, with the part's own ones from ``start`` on."""
