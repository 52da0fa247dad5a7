"""Checks of what generators are asked for, with messages that say what to do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from dromos import whole_numbers
from dromos.errors import InvalidArgumentError, ResourceError
from dromos.graph.summary import human_bytes

__all__ = ["MAX_SCALE", "memory_limit", "probability", "require_memory", "whole_number"]

MAX_SCALE = 48  # 2^48 vertices: beyond any machine, and edge numbers still fit 64 bits
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def whole_number(name: str, value: Any, low: int, high: int | None = None) -> int:
    """``value`` as an integer within ``low..high``, both included.

    >>> whole_number("scale", 20, 0, 48)
    20
    """
    number = whole_numbers.whole_number(value)
    if number is None:
        raise InvalidArgumentError(f"{name}={value!r} is not a whole number")
    if number < low or (high is not None and number > high):
        wanted = f"at least {low}" if high is None else f"within {low}..{high}"
        raise InvalidArgumentError(f"{name}={number} is out of range; give a whole number {wanted}")
    return number


def probability(name: str, value: Any) -> float:
    """``value`` as a number in ``[0, 1]``.

    >>> probability("p", 0.25)
    0.25
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{name}={value!r} is not a number; give a probability within 0..1") from None
    if not 0.0 <= number <= 1.0:
        raise InvalidArgumentError(f"{name}={value!r} is not a probability; give a number within 0..1")
    return number


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse work that cannot fit, before it is begun: ``what`` needs ``needed`` bytes, ``remedy`` says what to do."""
    limit = memory_limit()
    if needed > limit:
        raise ResourceError(f"{what} needs about {human_bytes(needed)} and there are {human_bytes(limit)}; {remedy}")


def memory_limit() -> int:
    """The bytes of memory that this process may use: the machine's, or its control group's if those are fewer."""
    limit = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for name in _CGROUP_LIMITS:
        try:
            limit = min(limit, int(Path(name).read_text()))
        except (OSError, ValueError):  # no such group, or "max"
            continue
    return limit
