"""Processor levels: the features that machine code for many machines may use, and what a processor needs for it.

Code compiled on a machine targets its own processor. Code in a wheel was compiled elsewhere, once per level; a machine
uses the highest level that its processor supports.
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
    """The features that machine code may use."""

    name: str
    cpu: str
    features: str
    """By LLVM's names, like ``cpu``."""
    needs: frozenset[str]
    """By Linux's names."""
    has_crc: bool = False
    """Whether the processor has the instructions with which kernels compute checksums: CRC-32 steps on ARM, products
    without carry on x86."""


_LEVELS: Final = {
    "x86_64": (
        Level(
            "x86-64-v3",
            "x86-64-v3",
            "+pclmul",
            frozenset(["abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "pclmulqdq", "xsave"]),
            has_crc=True,
        ),
        Level("x86-64-v2", "x86-64-v2", "", frozenset(["cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"])),
    ),
    "aarch64": (
        Level("armv8.1-a", "generic", "+v8.1a", frozenset({"atomics", "crc32"}), has_crc=True),
        Level("armv8-a", "generic", "", frozenset({"asimd", "fp"})),
    ),
}


def levels() -> tuple[Level, ...]:
    """The levels for this kind of processor, the highest first; none on a system for which wheels have no code.

    >>> all(level.needs for level in levels())
    True
    """
    return _LEVELS.get(platform.machine(), ()) if sys.platform == "linux" else ()


@cache
def own_level() -> Level | None:
    """The highest level that this processor supports.

    >>> own_level() is None or own_level() in levels()
    True
    """
    has = _features()
    return next((level for level in levels() if level.needs <= has), None)


@cache
def processor_description() -> str:
    """Linux's description of this machine's processors, as far as machine code may depend on it; empty elsewhere.

    >>> processor_description() == processor_description()
    True
    """
    return "\n".join(sorted({line for line in _lines() if line.startswith(_SAYS_WHICH)}))


def _features() -> frozenset[str]:
    """The features that all processors of this machine have, according to Linux."""
    found = [frozenset(line.partition(":")[2].split()) for line in _lines() if line.startswith(_SAYS_WHAT)]
    return frozenset.intersection(*found) if found else frozenset()


def _lines() -> list[str]:
    try:
        with open(_DESCRIPTION) as lines:
            return lines.read().splitlines()
    except OSError:
        return []
