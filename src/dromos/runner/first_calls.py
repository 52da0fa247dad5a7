"""The first calls of a process on small graphs: answered by NumPy at once, while nothing is compiled or loaded.

Numba takes half a second to import, and seconds to compile what is not in the cache; NumPy is done with a small graph
by then. A process that goes on is better off with compiled code: once so much time was spent on such calls, or where
one call takes long (thousands of supersteps), the CPU's own engine takes over, for good. A kernel that is not in the
cache is waited for until compiling it would have been done: so at most twice the lesser time is lost.
Times are those of the thread, not of the clock: other work may have the cores.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from dromos import disk_cache
from dromos.engines import Execution, GraphLike, Tell
from dromos.engines.native import is_compiled
from dromos.plan import Stats

__all__ = ["TakesLong", "answers_at_once", "limit", "note", "tell"]

_SMALL_ARCS: Final = 1 << 18
_PATIENCE = 1.0  # seconds for one program
_COMPILING = 3.0  # the same where the compiler has not been at it yet, which takes it three to eight
_ENOUGH = 2.0  # seconds of all such calls of a process
_spent = 0.0


class TakesLong(Exception):
    """A run that is better begun again with compiled code."""


def answers_at_once(graph: GraphLike) -> bool:
    """Whether a graph is small enough, and nothing of this process has needed a compiler yet."""
    return _is_cold() and _spent < _ENOUGH and graph.num_arcs <= _SMALL_ARCS


def _is_cold() -> bool:
    return "numba" not in sys.modules


def note(seconds: float) -> None:
    """So much time has gone into a call without a compiler."""
    global _spent
    _spent += seconds


def limit(program: str) -> Any:
    """What watches such a run of a program of this name, and ends it when it has lasted too long."""
    begin = time.thread_time()
    patience: float | None = None

    def watch(execution: Execution, stats: Stats) -> None:
        nonlocal patience
        spent = time.thread_time() - begin
        if spent > _PATIENCE and patience is None:
            generated = any(disk_cache.cache_folder().glob(f"{program}_*.py"))
            patience = _PATIENCE if generated else _COMPILING
        if patience is not None and spent > patience and not stats.finished:
            raise TakesLong

    return watch


def tell(kernel: str) -> Tell:
    """What a kernel tells how far it is, and what ends it when compiled code would be there sooner.

    >>> tell("forest")(0.5)
    """
    begin = time.thread_time()
    patience = _PATIENCE if is_compiled(kernel) else _COMPILING

    def told(done: float) -> None:
        spent = time.thread_time() - begin
        if (spent * (1 - done) / done if done else spent) > patience:
            raise TakesLong

    return told
