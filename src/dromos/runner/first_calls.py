"""The first calls of a process: answered by NumPy at once, while nothing is compiled or loaded.

A compiler takes some tenths of a second for an algorithm, and loading what is in the cache a tenth; NumPy is done with
a small graph by then. A process that goes on is better off with compiled code: once so much time was spent on such
calls, or where one takes long, the CPU's own engine takes over, for good. A program goes on there between two
supersteps, from the state that it is in; a kernel begins again. NumPy is waited for about as long as compiling would
take, so at most twice the lesser time is spent. Times are those of processors, not of the clock: other work may have
the cores.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from dromos import disk_cache
from dromos.compiling import kernels_are_loaded
from dromos.engines import Execution, GraphLike, Tell
from dromos.engines.native import is_compiled
from dromos.parallel import num_threads
from dromos.plan import Stats

__all__ = ["Effort", "TakesLong", "answers_at_once", "is_generated", "limit", "note", "tell"]

_SMALL_ARCS: Final = 1 << 19
_LOADING = 0.3  # seconds for a program or a kernel whose machine code is likely on disk
_COMPILING = 1.0  # the same for one that the compiler has not been at yet
_ENOUGH = 2.0  # seconds of all such calls of a process
_spent = 0.0


class TakesLong(Exception):
    """A kernel that is better begun again with compiled code."""


class Effort:
    """The time that a call would have taken by now if nothing else had the cores.

    Some of the work is this thread's alone, and some is dealt to all threads, which this one waits for.

    >>> effort = Effort()
    >>> sum(range(10**5)) > 0 and 0 < effort.seconds() < 60
    True
    """

    def __init__(self) -> None:
        self._thread, self._process = time.thread_time(), time.process_time()

    def seconds(self) -> float:
        """Since this was made."""
        return max(time.thread_time() - self._thread, (time.process_time() - self._process) / num_threads())


def answers_at_once(graph: GraphLike) -> bool:
    """Whether a graph is small enough, and nothing of this process has needed a compiler yet."""
    return _is_cold() and _spent < _ENOUGH and graph.num_arcs <= _SMALL_ARCS


def _is_cold() -> bool:
    return not kernels_are_loaded()


def note(seconds: float) -> None:
    """So much time has gone into a call without a compiler."""
    global _spent
    _spent += seconds


def limit(program: str) -> Callable[[Execution, Stats], bool]:
    """Tells when a run of a program of this name has lasted so long that compiled code is to go on with it."""
    effort = Effort()
    patience = _LOADING if is_generated(program) else _COMPILING
    return lambda execution, stats: effort.seconds() > patience


def is_generated(program: str) -> bool:
    """Whether code of a program of this name is in the cache folder; of whichever version, so it is only likely."""
    return any(disk_cache.cache_folder().glob(f"{program}_*.py"))


def tell(kernel: str) -> Tell:
    """What a kernel tells how far it is, and what ends it when compiled code would be there sooner.

    >>> tell("forest")(0.5)
    """
    effort = Effort()
    patience = _LOADING if is_compiled(kernel) else _COMPILING

    def told(done: float) -> None:
        spent = effort.seconds()
        if (spent * (1 - done) / done if done else spent) > patience:
            raise TakesLong

    return told
