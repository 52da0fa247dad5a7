"""The first calls of a process on small graphs: answered by NumPy at once, while nothing is compiled or loaded.

Numba takes half a second to import, and seconds to compile what is not in the cache; NumPy is done with a small graph
by then. A process that goes on is better off with compiled code: once so much time was spent on such calls, or where
one call takes long (thousands of supersteps), the CPU's own engine takes over, for good.
"""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from dromos.engines import Execution, GraphLike
from dromos.plan import Stats

__all__ = ["TakesLong", "answers_at_once", "limit", "note"]

_SMALL_ARCS: Final = 1 << 18
_PATIENCE = 1.0  # seconds for one program
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


def limit() -> Any:
    """What watches such a run, and ends it when it has lasted too long."""
    until = time.perf_counter() + _PATIENCE

    def watch(execution: Execution, stats: Stats) -> None:
        if time.perf_counter() > until and not stats.finished:
            raise TakesLong

    return watch
