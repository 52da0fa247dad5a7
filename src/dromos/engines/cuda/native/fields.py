"""What a kernel's fields are by, where that is not the vertices in the device's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["AsItIs", "ByArc"]


@dataclass(frozen=True)
class ByArc:
    """Values by arc along the out-rows, in the device's order."""

    values: Any


@dataclass(frozen=True)
class AsItIs:
    """Values whose order is the caller's already: they are by pairs, walks or edges. On the device or the host."""

    values: Any
