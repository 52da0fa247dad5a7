"""The first calls of a process: answered by NumPy at once, or begun with it, while nothing is compiled or loaded.

Numba takes half a second to import, and seconds to compile what is not in the cache; NumPy is done with a small graph
by then. So calls on small graphs are answered without it, and programs that were never compiled begin without it on
larger graphs too. A process that goes on is better off with compiled code: once so much time was spent on such calls,
or where one takes long, the CPU's own engine takes over, for good. A program goes on there between two supersteps,
from the state that it is in; a kernel begins again. What is not in the cache is waited for about as long as compiling
it would take, so at most twice the lesser time is spent. Times are those of processors, not of the clock: other work
may have the cores.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from dromos import disk_cache
from dromos.compiling import kernels_are_loaded
from dromos.engines import Execution, GraphLike, Tell, graph_types
from dromos.engines.native import is_compiled
from dromos.parallel import num_threads
from dromos.plan import Constants, Stats
from dromos.program import Program, analyse
from dromos.program.forms import is_ordered
from dromos.runner import compile_behind

__all__ = [
    "Effort",
    "TakesLong",
    "answers_at_once",
    "begins_at_once",
    "is_generated",
    "limit",
    "note",
    "note_on_disk",
    "seconds_on_disk",
    "tell",
]

_SMALL_ARCS: Final = 1 << 18
_LARGE_ARCS: Final = 1 << 25
_PATIENCE = 1.0  # seconds for one program
_COMPILING = 3.0  # the same for a kernel where the compiler has not been at it yet, which takes it three to eight
_COMPILING_PROGRAM = 6.0  # the same for a program, which takes it five to twelve
_COMPILING_BEHIND = 20.0  # the same while another process compiles, whose cores this one may be using
_ENOUGH = 2.0  # seconds of all such calls of a process
_LOOK_AGAIN = 0.25  # seconds after which a run looks whether there is compiled code now
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


def begins_at_once(graph: GraphLike, program: Program) -> bool:
    """Whether a run on a larger graph is to begin without the compiler, since that has not seen the program yet.

    Not where there may be thousands of thin supersteps, nor where the CPU's engine takes vertices in an order of their
    own: NumPy would take many times as long.
    """
    if not _is_cold() or graph.num_arcs > _LARGE_ARCS:
        return False
    compile_behind.is_allowed()  # if the environment is wrong, that is told now, not after the work
    name = program.ir().name
    if compile_behind.is_running():
        if _spent >= _COMPILING_BEHIND:
            return False
    elif _spent >= _ENOUGH or is_generated(name) or seconds_on_disk(name) >= _COMPILING_PROGRAM:
        return False
    typed = program.typed(graph_types(graph))
    always = typed.ir.kind == "iterative"
    return (always or not _is_likely_deep(graph)) and not is_ordered(typed, analyse(typed))


def _is_likely_deep(graph: GraphLike) -> bool:
    return graph.num_arcs < Constants().delta * graph.num_vertices


def _is_cold() -> bool:
    return not kernels_are_loaded()


def note(seconds: float) -> None:
    """So much time has gone into a call without a compiler."""
    global _spent
    _spent += seconds


def limit(program: str) -> Callable[[Execution, Stats], bool]:
    """Tells when a run of a program of this name has lasted so long that compiled code is to go on with it."""
    effort = Effort()
    look_at = _PATIENCE

    def has_lasted(execution: Execution, stats: Stats) -> bool:
        nonlocal look_at
        spent = effort.seconds()
        if spent <= look_at:
            return False
        look_at = spent + _LOOK_AGAIN
        if compile_behind.is_running():
            return spent > _COMPILING_BEHIND
        return spent > (_PATIENCE if is_generated(program) else _COMPILING_PROGRAM - seconds_on_disk(program))

    return has_lasted


def note_on_disk(program: str, seconds: float) -> None:
    """So much time of this process has gone into a program on a larger graph without a compiler.

    Processes that come after it know: when they have spent as much together as compiling takes, it is compiled.
    """
    disk_cache.save(f"first_calls/{program}", repr(seconds_on_disk(program) + seconds).encode())


def seconds_on_disk(program: str) -> float:
    """What :func:`note_on_disk` was told of a program, in all processes.

    >>> seconds_on_disk("NoSuchProgram")
    0.0
    """
    return float(disk_cache.read(f"first_calls/{program}") or b"0")


def is_generated(program: str) -> bool:
    """Whether code of a program of this name is in the cache folder; of whichever version, so it is only likely."""
    return any(disk_cache.cache_folder().glob(f"{program}_*.py"))


def tell(kernel: str) -> Tell:
    """What a kernel tells how far it is, and what ends it when compiled code would be there sooner.

    >>> tell("forest")(0.5)
    """
    effort = Effort()
    patience = _PATIENCE if is_compiled(kernel) else _COMPILING

    def told(done: float) -> None:
        spent = effort.seconds()
        if (spent * (1 - done) / done if done else spent) > patience:
            raise TakesLong

    return told
