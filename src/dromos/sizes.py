"""Numbers of bytes: parsing them, and how much memory is free."""

from __future__ import annotations

import os
import re

from dromos.errors import InvalidArgumentError
from dromos.whole_numbers import whole_number

__all__ = ["TypedSize", "as_bytes", "available_memory"]

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_MOST = 2**62  # no machine has as much, and arithmetic with counts of 64 bits stays within them


class TypedSize(int):
    """A number of bytes that was given as text; errors show it as it was written."""

    text: str


def as_bytes(size: int | float | str, name: str = "memory") -> int:
    """A number of bytes: a whole number (also ``4e9``), or text such as ``512M``, ``2GB``, ``1.5GiB`` (units of 1024).

    >>> as_bytes("2G"), as_bytes(4096), as_bytes(4e9)
    (2147483648, 4096, 4000000000)
    """
    if isinstance(size, TypedSize):
        return size
    if isinstance(size, float) and size.is_integer():  # as in memory=4e9
        size = int(size)
    number = _typed_bytes(size) if isinstance(size, str) else whole_number(size) or 0
    if not 1 <= number <= _MOST:
        raise InvalidArgumentError(f"{name}={size!r} is not a size; write it like '512M' or '2G', or a number of bytes")
    found = int(number)
    if isinstance(size, str):
        found = TypedSize(found)
        found.text = size.strip()
    return found


def _typed_bytes(text: str) -> float:
    """The bytes that a text says, 0 if it is not a size; infinite if it has hundreds of digits."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text.lower())
    return 0 if match is None else float(match[1]) * _UNITS[match[2]]


def available_memory() -> int:
    """The bytes that can be allocated without swapping."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
