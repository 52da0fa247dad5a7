"""The building blocks of compiled kernels: the decorators, and barriers between the threads of a team.

Only kernel modules import it, and those are imported when first needed.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from dromos.compiler import Kernel, Part
from dromos.intrinsics import (
    atomic_add,
    load_acquire,
    load_relaxed,
    sched_yield,
    spin_hint,
    store_relaxed,
    store_release,
)

__all__ = [
    "LINE",
    "atomic_add",
    "barrier",
    "inline",
    "kernel",
    "publish",
    "published",
    "team_memory",
    "total",
]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Make a kernel: compiled for the types of its arguments when called, run without the GIL, and kept on disk."""
    compiled: Any = Kernel(function)
    return cast("F", compiled)


def inline(function: F) -> F:
    """Make a function that is inlined into the kernels that call it; Python cannot call it."""
    part: Any = Part(function)
    return cast("F", part)


# ---- barriers ------------------------------------------------------------------------------------------------------
#
# Each thread owns three lines of the team's memory: the number of the last barrier that it reached, and two lines of
# values that it publishes, used alternately. A thread publishes, then stores the barrier's number (release), then waits
# until every other thread's number is as high (acquire). Everything written before the barrier is then visible, and the
# published values may be read until the next barrier but one, because the lines alternate.

LINE = 16  # words of 8 bytes: two cache lines, since adjacent lines are fetched in pairs
_SPINS = 200  # some microseconds; then yield the core: the awaited thread may be on the same one


def team_memory(threads: int) -> Any:
    """The memory for the barriers and published values of a team."""
    return np.zeros(3 * LINE * threads, dtype=np.int64)


@inline
def barrier(memory, thread, threads, number):
    """Barrier ``number``: 1, 2, 3 and so on, the same on all threads."""
    store_release(memory, 3 * LINE * thread, number)
    for other in range(threads):
        spins = 0
        while load_acquire(memory, 3 * LINE * other) < number:
            spins += 1
            if spins < _SPINS:
                spin_hint()
            else:
                sched_yield()


@inline
def publish(memory, thread, number, slot, value):
    """Publish a value that all threads may read after barrier ``number``."""
    store_relaxed(memory, (3 * thread + 1 + (number & 1)) * LINE + slot, np.int64(value))


@inline
def published(memory, thread, number, slot):
    """The value that ``thread`` published before barrier ``number``."""
    return load_relaxed(memory, (3 * thread + 1 + (number & 1)) * LINE + slot)


@inline
def total(memory, threads, number, slot):
    """The sum of the values that all threads published before barrier ``number``."""
    result = np.int64(0)
    for thread in range(threads):
        result += published(memory, thread, number, slot)
    return result
