"""Numbers of bytes: parsing them, and how much memory is free."""

from __future__ import annotations

import os
import re

from dromos.errors import InvalidArgumentError
from dromos.whole_numbers import whole_number

__all__ = ["TypedSize", "as_bytes", "available_memory"]

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class TypedSize(int):
    """A number of bytes that was given as text; errors show it as it was written."""

    text: str


def as_bytes(size: int | str, name: str = "memory") -> int:
    """A number of bytes: a whole number, or text such as ``512M``, ``2GB`` or ``1.5GiB`` (units of 1024).

    >>> as_bytes("2G"), as_bytes(4096)
    (2147483648, 4096)
    """
    if isinstance(size, TypedSize):
        return size
    found: int
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", size.lower())
        found = TypedSize(0 if match is None else int(float(match[1]) * _UNITS[match[2]]))
        found.text = size.strip()
    else:
        found = whole_number(size) or 0
    if found <= 0:
        raise InvalidArgumentError(f"{name}={size!r} is not a size; write it like '512M' or '2G', or a number of bytes")
    return found


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
