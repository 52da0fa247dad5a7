"""Levels of processors: what machine code for many machines may use, and what a processor must have for it.

Code that is compiled on a machine is for its own processor. What a wheel brings was compiled elsewhere, once for each
level; a machine takes the highest that its processor reaches.
"""

from __future__ import annotations

import platform
import sys
from functools import cache
from typing import Final, NamedTuple

__all__ = ["Level", "levels", "own_level", "processor_description"]

_DESCRIPTION: Final = "/proc/cpuinfo"
_SAYS_WHAT: Final = ("flags", "Features")
_SAYS_WHICH: Final = (
    *_SAYS_WHAT,
    "vendor_id",
    "cpu family",
    "model",
    "stepping",
    "CPU implementer",
    "CPU variant",
    "CPU part",
)


class Level(NamedTuple):
    """What machine code may use."""

    name: str
    cpu: str
    features: str
    """As LLVM names them, like ``cpu``."""
    needs: frozenset[str]
    """As Linux names them."""
    has_crc: bool = False
    """Whether there is the instruction for checksums that kernels know."""


_LEVELS: Final = {
    "x86_64": (
        Level(
            "x86-64-v3", "x86-64-v3", "", frozenset(["abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"])
        ),
        Level("x86-64-v2", "x86-64-v2", "", frozenset(["cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"])),
    ),
    "aarch64": (
        Level("armv8.1-a", "generic", "+v8.1a", frozenset({"atomics", "crc32"}), has_crc=True),
        Level("armv8-a", "generic", "", frozenset({"asimd", "fp"})),
    ),
}


def levels() -> tuple[Level, ...]:
    """The levels of processors such as this one, the highest first; none on a system that wheels bring no code for.

    >>> all(level.needs for level in levels())
    True
    """
    return _LEVELS.get(platform.machine(), ()) if sys.platform == "linux" else ()


@cache
def own_level() -> Level | None:
    """The highest level that this processor reaches.

    >>> own_level() is None or own_level() in levels()
    True
    """
    has = _features()
    return next((level for level in levels() if level.needs <= has), None)


@cache
def processor_description() -> str:
    """What Linux says of the processors of this machine that machine code may depend on; empty elsewhere.

    >>> processor_description() == processor_description()
    True
    """
    return "\n".join(sorted({line for line in _lines() if line.startswith(_SAYS_WHICH)}))


def _features() -> frozenset[str]:
    """What Linux says that all processors of this machine have."""
    found = [frozenset(line.partition(":")[2].split()) for line in _lines() if line.startswith(_SAYS_WHAT)]
    return frozenset.intersection(*found) if found else frozenset()


def _lines() -> list[str]:
    try:
        with open(_DESCRIPTION) as lines:
            return lines.read().splitlines()
    except OSError:
        return []
