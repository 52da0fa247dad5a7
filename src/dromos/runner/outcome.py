"""The outcome of a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dromos.dtypes import Array

__all__ = ["Outcome"]


class Outcome(NamedTuple):
    """Outcome of one program."""

    fields: Mapping[str, Array]
    finished: str
    """Why it ended: ``"frontier empty"``, ``"converged"``, or empty if it was cut off at ``max_iter``."""
    supersteps: int
    reductions: Mapping[str, Any]
    """The last value of each reduction, as Python numbers or tuples of them."""
