"""Teams of threads that run one compiled kernel together.

A kernel is compiled with the GIL released and takes ``(thread, num_threads, *args)``; :func:`run_team` calls it once on
each thread of a team and waits. We keep our own threads instead of Numba's parallel regions because these

- may be entered from several Python threads at once, and work again after a fork;
- all run at the same time, so that a kernel may hold barriers and stay in one region for a whole traversal;
- leave the calling thread free to see Ctrl-C, which raises the kernel's stop flag.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from dromos.compiling import compiling
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.interrupts import remembered_interrupts

__all__ = ["MAX_THREADS", "NO_MORE_WORK", "THREADS_VARIABLE", "in_blocks", "num_threads", "run_team"]

THREADS_VARIABLE = "DROMOS_NUM_THREADS"
MAX_THREADS = 512
NO_MORE_WORK = 1 << 62
_LONGEST_SLEEP = 0.2
"""Seconds. A signal that comes just before a lock is waited for does not wake the waiter, and Python calls the signal's
handler only when the wait is over; without an end of its own the wait would last until the kernel is done."""


def num_threads(threads: int | None = None) -> int:
    """How many threads to use: the argument, else ``DROMOS_NUM_THREADS``, else the cores this process may use.

    >>> num_threads(2)
    2
    """
    origin = "threads"
    if threads is None:
        text = os.environ.get(THREADS_VARIABLE)
        if not text:
            return min(_available_cores(), MAX_THREADS)
        origin = THREADS_VARIABLE
        try:
            threads = int(text)
        except ValueError:
            raise InvalidArgumentError(f"{THREADS_VARIABLE}={text!r} is not a whole number") from None
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise InvalidArgumentError(f"{origin}={threads!r} is not a whole number")
    count = threads.__index__()
    if not 1 <= count <= MAX_THREADS:
        raise InvalidArgumentError(f"{origin}={count} is outside 1..{MAX_THREADS}")
    return count


def in_blocks(work: Callable[[int, int], Any], size: int, block: int = 1 << 16) -> None:
    """Call ``work(begin, end)`` for each block of ``range(size)``, on all threads where there are several blocks.

    For NumPy's functions, which let go of the GIL: blocks that fit the cache make several passes cost one.

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
    """Call ``kernel(thread, num_threads, *args)`` on every thread of a team, all at once, and wait for the last.

    The first exception of a thread is raised here. On Ctrl-C, ``stop[0]`` is set to ``stop_value`` if a stop flag was
    given, the team is waited for, and ``KeyboardInterrupt`` goes on; a kernel that may run for long is to look at its
    flag. A counter that deals out work can be one: with :data:`NO_MORE_WORK` as its value, nothing is left to take.

    >>> seen = []
    >>> run_team(lambda thread, count: seen.append((thread, count)), threads=2)
    >>> sorted(seen)
    [(0, 2), (1, 2)]
    """
    count = num_threads(threads)
    _compile(kernel, (0, count, *args))
    if count == 1 and stop is None:
        kernel(0, 1, *args)
        return
    team = _take_team(count)
    try:
        team.run(kernel, args, stop, stop_value)
    finally:
        _give_back(team)


_compiled: weakref.WeakKeyDictionary[Any, set[Any]] = weakref.WeakKeyDictionary()
"""For each kernel the types of arguments that it has been compiled for, as Numba's fingerprints of them."""


def _compile(kernel: Any, args: tuple[Any, ...]) -> None:
    """Let Numba compile a kernel for these arguments, or find it on disk, on the calling thread, where Ctrl-C is seen.

    On the threads of a team that may take many seconds in which nothing looks at a stop flag, and all of them would
    come to the compiler at once.
    """
    if not hasattr(kernel, "typeof_pyval"):
        return  # an ordinary function
    known = _compiled.get(kernel)
    if known is None:
        known = _compiled.setdefault(kernel, set())
    try:
        types = _fingerprint(kernel, args)
    except NotImplementedError:  # an argument that has none; the dispatcher knows more types
        return
    if types not in known:
        with compiling(f"the kernel {getattr(kernel, '__name__', 'of a caller')!r}"), remembered_interrupts():
            kernel.compile(tuple(kernel.typeof_pyval(value) for value in args))
        known.add(types)


def _fingerprint(kernel: Any, args: tuple[Any, ...]) -> Any:
    """What stands for the types of the arguments, in a microsecond; a Numba without that function takes a few more."""
    try:
        from numba._dispatcher import compute_fingerprint
    except ImportError:
        return tuple(kernel.typeof_pyval(value) for value in args)
    return compute_fingerprint(args)


def _available_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


class _Team:
    """``size`` sleeping threads that wake together, run one kernel, and sleep again.

    Ctrl-C may come between any two instructions here, so nothing is counted by who took which lock. What counts are the
    numbers of rounds: ``_round`` is the one that runs, ``_finished[rank]`` the last one that a thread finished. The
    locks only put threads to sleep; a lock that was released once too often wakes a thread that finds nothing new.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._go = [threading.Lock() for _ in range(size)]
        self._done = [threading.Lock() for _ in range(size)]
        self._kernel: Callable[..., Any] | None = None
        self._args: tuple[Any, ...] = ()
        self._errors: list[BaseException] = []
        self._round = 0
        self._finished = [0] * size
        for rank in range(size):
            self._go[rank].acquire()
            self._done[rank].acquire()
            threading.Thread(target=self._work, args=(rank,), name=f"dromos-{rank}", daemon=True).start()

    def run(self, kernel: Callable[..., Any], args: tuple[Any, ...], stop: Array | None, stop_value: int = 1) -> None:
        self._kernel, self._args, self._errors = kernel, args, []
        this = self._round + 1
        interrupt: BaseException | None = None
        while True:
            try:
                self._start(this)
                for rank, gate in enumerate(self._done):
                    while self._finished[rank] != this:
                        gate.acquire(timeout=_LONGEST_SLEEP)
                break
            except BaseException as error:  # Ctrl-C: stop the team, wait for it, then let the exception go on
                interrupt = error
                if stop is not None:
                    # nothing is published with it: kernels look by a relaxed load, and see it soon enough
                    stop[0] = stop_value
        self._kernel, self._args = None, ()
        if interrupt is not None:
            raise interrupt
        if self._errors:
            raise self._errors[0]

    def _start(self, this: int) -> None:
        self._round = this
        for gate in self._go:
            if gate.locked():
                gate.release()

    def _work(self, rank: int) -> None:
        go, done, seen = self._go[rank], self._done[rank], 0
        while True:
            go.acquire()
            if self._round == seen:
                continue
            seen = self._round
            kernel = self._kernel
            if kernel is None:
                return
            try:
                kernel(rank, self.size, *self._args)
            except BaseException as error:
                self._errors.append(error)
            finally:
                del kernel  # a sleeping thread keeps no array alive
                self._finished[rank] = seen
                if done.locked():
                    done.release()

    def dismiss(self) -> None:
        self._kernel = None
        self._start(self._round + 1)


_IDLE_TEAMS_KEPT = 4
_idle: list[_Team] = []
_idle_lock = threading.Lock()


def _take_team(size: int) -> _Team:
    with _idle_lock:
        for position in range(len(_idle) - 1, -1, -1):
            if _idle[position].size == size:
                return _idle.pop(position)
    return _Team(size)


def _give_back(team: _Team) -> None:
    with _idle_lock:
        _idle.append(team)
        surplus = _idle.pop(0) if len(_idle) > _IDLE_TEAMS_KEPT else None
    if surplus is not None:
        surplus.dismiss()


def _forget_teams() -> None:
    """In a forked child the threads of the parent's teams do not exist."""
    global _idle_lock
    _idle.clear()
    _idle_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_teams)
