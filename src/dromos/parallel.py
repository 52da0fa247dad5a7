"""Teams of threads that run one compiled kernel together.

A kernel is compiled with the GIL released and takes ``(thread, num_threads, *args)``; :func:`run_team` calls it once on
each thread of a team and waits. Dromos has its own threads instead of a library's parallel regions because its threads

- can be used from several Python threads at once, and work after a fork;
- all run at the same time, so that a kernel may use barriers and stay in one region for a whole traversal;
- leave the calling thread free to handle Ctrl-C, which sets the kernel's stop flag.

The threads are those of :mod:`dromos.teams`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from dromos.available_cores import available_cores
from dromos.compiler import Kernel, LoweringError
from dromos.compiler.calls import Call
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.teams import PythonTeam, give_back, is_supported, native_team, python_team, try_alone, try_by_python
from dromos.whole_numbers import whole_number

__all__ = ["MAX_THREADS", "NO_MORE_WORK", "THREADS_VARIABLE", "in_blocks", "is_compiled", "num_threads", "run_team"]

THREADS_VARIABLE = "DROMOS_NUM_THREADS"
MAX_THREADS = 512
NO_MORE_WORK = 1 << 62


def num_threads(threads: int | None = None) -> int:
    """The number of threads: the argument, else ``DROMOS_NUM_THREADS``, else the cores this process may use.

    >>> num_threads(2)
    2
    """
    origin = "threads"
    if threads is None:
        text = os.environ.get(THREADS_VARIABLE)
        if not text:
            return min(available_cores(), MAX_THREADS)
        origin = THREADS_VARIABLE
        try:
            threads = int(text)
        except ValueError:
            raise InvalidArgumentError(f"{THREADS_VARIABLE}={text!r} is not a whole number") from None
    count = whole_number(threads)
    if count is None:
        raise InvalidArgumentError(f"{origin}={threads!r} is not a whole number")
    if not 1 <= count <= MAX_THREADS:
        raise InvalidArgumentError(f"{origin}={count} is outside 1..{MAX_THREADS}")
    return count


def in_blocks(work: Callable[[int, int], Any], size: int, block: int = 1 << 16) -> None:
    """Call ``work(begin, end)`` for each block of ``range(size)``, on all threads if there are several blocks.

    For NumPy's functions, which release the GIL: with blocks that fit in the cache, several passes cost one.

    >>> out = [0] * 10
    >>> in_blocks(lambda begin, end: out.__setitem__(slice(begin, end), range(begin, end)), 10, block=4)
    >>> out
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """

    stop = np.zeros(1, dtype=np.int8)

    def part(thread: int, threads: int) -> None:
        for begin in range(thread * block, size, threads * block):
            if stop[0]:
                return
            work(begin, min(begin + block, size))

    if size <= block:
        part(0, 1)
    else:
        run_team(part, threads=min(num_threads(), -(-size // block)), stop=stop)


def run_team(
    kernel: Callable[..., Any],
    *args: Any,
    threads: int | None = None,
    stop: Array | None = None,
    stop_value: int = 1,
) -> None:
    """Call ``kernel(thread, num_threads, *args)`` on every thread of a team, all at once, and wait for all of them.

    The first exception of a thread is raised here. On Ctrl-C, ``stop[0]`` is set to ``stop_value`` if a stop flag was
    given, the team is waited for, and ``KeyboardInterrupt`` propagates; a kernel that may run for long should check its
    flag. A counter that hands out work can serve as the flag: with :data:`NO_MORE_WORK` as its value, no work is left.

    >>> seen = []
    >>> run_team(lambda thread, count: seen.append((thread, count)), threads=2)
    >>> sorted(seen)
    [(0, 2), (1, 2)]
    """
    count = num_threads(threads)
    if not isinstance(kernel, Kernel):
        _run_by_python(kernel, args, count, stop, stop_value)
        return
    leaves, known = kernel.for_team.find(args)
    for call in known:
        if _try(call, leaves, count, stop, stop_value):
            return
    if not _try(kernel.for_team.compile(args, known), leaves, count, stop, stop_value):
        raise LoweringError(f"the kernel {kernel.__name__!r} writes to an array that is read-only")


def _try(call: Call, leaves: Any, count: int, stop: Array | None, stop_value: int) -> bool:
    """Run machine code on a team if it fits the arguments; return whether it did."""
    if count == 1 and stop is None:
        return try_alone(call, leaves)
    if not is_supported():
        return try_by_python(call, leaves, count, stop, stop_value)
    # a kernel without a stop flag cannot be stopped either way, so the caller may as well be one of the threads
    team = native_team(count if stop is not None else count - 1)
    try:
        return team.try_run(call, leaves, stop, stop_value)
    finally:
        give_back(team)


def is_compiled(kernel: Any, *args: Any) -> bool:
    """Whether the machine code that :func:`run_team` needs for a kernel and these arguments is on disk."""
    return isinstance(kernel, Kernel) and kernel.for_team.is_kept(args)


def _run_by_python(
    function: Callable[..., Any], args: tuple[Any, ...], count: int, stop: Array | None, stop_value: int
) -> None:
    if count == 1 and stop is None:
        function(0, 1, *args)
        return
    team: PythonTeam = python_team(count)
    try:
        team.run(function, args, stop, stop_value)
    finally:
        give_back(team)
