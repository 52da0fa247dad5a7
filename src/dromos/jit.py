"""What compiled kernels are made with: the decorators, and barriers between the threads of a team.

Importing this module imports Numba, so only modules of kernels import it, and those are imported when first needed.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from dromos.intrinsics import (
    atomic_add,
    load_acquire,
    load_relaxed,
    sched_yield,
    spin_hint,
    store_relaxed,
    store_release,
)
from dromos.kernel_parts import for_python, kernel_part, lean_passes, team_kernel
from dromos.machine_code import keep_machine_code
from dromos.stamps import source_digest

__all__ = [
    "LINE",
    "atomic_add",
    "barrier",
    "inline",
    "kernel",
    "lean_kernel",
    "publish",
    "published",
    "python_kernel",
    "team_memory",
    "total",
]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a kernel: no GIL, no bounds checks, NumPy's division, machine code kept on disk."""
    compiled: F = team_kernel(function, {"nogil": True, "boundscheck": False, "error_model": "numpy"}, _keep)
    return compiled


def lean_kernel(function: F) -> F:
    """Compile a kernel that allocates nothing, without reference counting.

    Numba does not always prune the counting of arrays that are passed on to a helper, and a pair of atomics in an inner
    loop more than doubles its time.
    """
    options = {"nogil": True, "boundscheck": False, "error_model": "numpy", "_nrt": False, **lean_passes()}
    compiled: F = team_kernel(function, options, _keep)
    return compiled


def python_kernel(function: F) -> F:
    """Compile a function that allocates nothing and that only Python calls, for one thread.

    It has no form for teams of threads, which :func:`kernel` compiles besides the one for Python.
    """
    options = {"nogil": True, "boundscheck": False, "error_model": "numpy", "_nrt": False, **lean_passes()}
    compiled: F = for_python(function, options, _keep)
    return compiled


def _keep(compiled, variant):
    """Keep machine code on disk; it is made again when the kernel's module has changed, or what that imports."""
    try:
        digest = source_digest(compiled.py_func.__code__.co_filename)
    except OSError:  # there is no source to look at
        return
    keep_machine_code(compiled, digest + variant)


def inline(function: F) -> F:
    """Compile a part of lean kernels: always inlined, without reference counting, not to be called from Python."""
    options = {"nogil": True, "boundscheck": False, "error_model": "numpy", "_nrt": False, "forceinline": True}
    compiled: F = kernel_part(function, options)
    return compiled


# ---- barriers ------------------------------------------------------------------------------------------------------
#
# Each thread owns three lines of the team's memory: the number of the last barrier that it reached, and two lines of
# values that it publishes, taken in turn. A thread publishes, then stores the barrier's number (release), then waits
# until every other thread's number is as high (acquire). Everything written before the barrier is then visible, and the
# published values may be read until the next barrier but one, because the lines alternate.

LINE = 16  # words of 8 bytes: two cache lines, since neighbours are fetched in pairs
_SPINS = 200  # some microseconds; then give the core away: a thread that is waited for may be on the same one


def team_memory(threads: int) -> Any:
    """The memory that the threads of a team wait for each other in."""
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
    """What ``thread`` said before barrier ``number``."""
    return load_relaxed(memory, (3 * thread + 1 + (number & 1)) * LINE + slot)


@inline
def total(memory, threads, number, slot):
    """The sum of what all threads said before barrier ``number``."""
    result = np.int64(0)
    for thread in range(threads):
        result += published(memory, thread, number, slot)
    return result
