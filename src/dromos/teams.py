"""The threads of teams, and the pool of idle teams.

Native teams, whose threads wait inside compiled code, run kernels. Teams of Python threads run ordinary functions, and
kernels on systems without native teams.
"""

from __future__ import annotations

import atexit
import os
import platform
import struct
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.available_cores import available_cores
from dromos.compiler.calls import Call
from dromos.dtypes import Array
from dromos.team_layout import BLOCK_ARGUMENTS, BLOCK_THREADS, BLOCK_WORDS, FUTEX_NUMBERS, TEAM_WORDS

__all__ = [
    "NativeTeam", "PythonTeam", "give_back", "is_supported", "native_team", "python_team", "try_alone", "try_by_python",
]  # fmt: skip

_LONGEST_SLEEP: Final = 0.2
_LONGEST_SLEEP_NS: Final = 200_000_000
"""Seconds (and nanoseconds). A signal that arrives just before the wait for a lock does not end the wait, and Python
calls its handler only when the wait is over; without a timeout the wait would last until the kernel is done."""
_WORKER_SPINS: Final = 50_000  # ns that a worker spins for the next round
_CALLER_SPINS: Final = 20_000  # ns that the caller spins for the end of a round


def _aligned(words: int, dtype: type[np.generic]) -> Array:
    """Zeros aligned to a pair of cache lines."""
    size = words * np.dtype(dtype).itemsize
    room = np.zeros(size + 128, dtype=np.uint8)
    begin = -room.ctypes.data % 128
    return room[begin : begin + size].view(dtype)


class NativeTeam:
    """``size`` threads inside compiled code; see :mod:`dromos.team_kernels`.

    Waiting threads spin for some microseconds, since the next round, or the end of this one, is usually near. If no
    core is left for the caller, they yield their cores while spinning, so as not to keep each other from working.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._words = _aligned(TEAM_WORDS, np.int32)
        self._block = _aligned(BLOCK_WORDS, np.int64)
        self._address = self._block.ctypes.data
        self._gives_way = int(size >= available_cores())
        kernels = _prepared()
        self._run_round, self._wait, self._dismiss = kernels.run_round, kernels.wait, kernels.dismiss
        for worker in range(size):
            args = (self._words, self._block, worker, _WORKER_SPINS, self._gives_way)
            threading.Thread(target=kernels.serve, args=args, name=f"dromos-{worker}", daemon=True).start()

    def try_run(self, call: Call, leaves: Any, stop: Array | None, stop_value: int = 1) -> bool:
        """Run a call on the workers, if it fits the arguments; without a stop flag also on the calling thread, as
        thread 0."""
        if not _are_written(call, leaves, self._block.data, self._address):
            return False
        interrupt: BaseException | None = None
        begun, left = False, 0
        while True:
            try:
                if not begun and interrupt is None:
                    begun, left = True, 1
                    left = self._run_round(
                        self._words, self._block, call.entry, self.size, int(stop is None), _CALLER_SPINS,
                        self._gives_way,
                    )  # fmt: skip
                while left != 0:
                    left = self._wait(self._words, _LONGEST_SLEEP_NS)
                break
            except BaseException as error:  # Ctrl-C: stop the team, wait for it, then raise the exception again
                interrupt, left = error, 1  # a round that did not begin after all counts as over
                if stop is not None:
                    # no data is published with it: kernels read it with a relaxed load, and see it soon enough
                    stop[0] = stop_value
        if interrupt is not None:
            raise interrupt
        return True

    def dismiss(self) -> None:
        """End the threads, which must be idle."""
        self._dismiss(self._words, self._block)


def _are_written(call: Call, leaves: Any, block: Any, address: Any) -> bool:
    """Write arguments to a block; return whether they fit the call."""
    try:
        call.write(block, 8 * BLOCK_ARGUMENTS, leaves)
    except struct.error:  # a number that needs one bit more
        return False
    return call.fits(address)


class _Prepared(NamedTuple):
    """The functions of :mod:`dromos.team_kernels` for the arrays of a team."""

    serve: Callable[..., None]
    run_round: Callable[..., int]
    wait: Callable[..., int]
    dismiss: Callable[..., None]


@cache
def _prepared() -> _Prepared:
    """Compile the functions, or load them from disk, on this thread, where Ctrl-C is handled."""
    from dromos import team_kernels

    kernels: Any = team_kernels
    words, block = _aligned(TEAM_WORDS, np.int32), _aligned(BLOCK_WORDS, np.int64)
    return _Prepared(
        kernels.serve.prepared(words, block, 0, 0, 0),
        kernels.run_round.prepared(words, block, 0, 0, 0, 0, 0),
        kernels.wait.prepared(words, 0),
        kernels.dismiss.prepared(words, block),
    )


def try_alone(call: Call, leaves: Any) -> bool:
    """Run a call as a team of one, on the calling thread, if it fits the arguments."""
    block = call.team_block()
    if not _are_written(call, leaves, block, block):
        return False
    block[BLOCK_THREADS] = 1
    call.enter(0, block)
    return True


def try_by_python(call: Call, leaves: Any, size: int, stop: Array | None, stop_value: int = 1) -> bool:
    """Run a call on Python threads, for systems without native teams."""
    block = call.team_block()
    if not _are_written(call, leaves, block, block):
        return False
    block[BLOCK_THREADS] = size
    team = python_team(size)
    try:
        team.run(lambda thread, _: call.enter(thread, block), (), stop, stop_value)
    finally:
        give_back(team)
    return True


@cache
def is_supported() -> bool:
    """Whether this system has the futex that native teams need to sleep."""
    return sys.platform.startswith("linux") and platform.machine() in FUTEX_NUMBERS


class PythonTeam:
    """``size`` sleeping threads that wake together, run one kernel, and sleep again.

    Ctrl-C may come between any two instructions here, so no state is derived from which thread took which lock. The
    state is the numbers of rounds: ``_round`` is the current one, ``_finished[rank]`` the last one that a thread
    finished. The locks only put threads to sleep; a lock that was released once too often wakes a thread that finds
    nothing new.
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
            except BaseException as error:  # Ctrl-C: stop the team, wait for it, then raise the exception again
                interrupt = error
                if stop is not None:
                    # no data is published with it: kernels read it with a relaxed load, and see it soon enough
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


_IDLE_TEAMS_KEPT = 4  # of each kind
_idle: dict[type, list[Any]] = {NativeTeam: [], PythonTeam: []}
_idle_lock = threading.Lock()


def native_team(size: int) -> NativeTeam:
    """A team of ``size`` workers for exclusive use until :func:`give_back`."""
    team: NativeTeam = _take(NativeTeam, size)
    return team


def python_team(size: int) -> PythonTeam:
    """The same with Python threads."""
    team: PythonTeam = _take(PythonTeam, size)
    return team


def _take(kind: type[Any], size: int) -> Any:
    idle = _idle[kind]
    with _idle_lock:
        for position in range(len(idle) - 1, -1, -1):
            if idle[position].size == size:
                return idle.pop(position)
    return kind(size)


def give_back(team: NativeTeam | PythonTeam) -> None:
    """Keep an idle team for the next call; if there are too many, dismiss the one that has been idle longest."""
    idle = _idle[type(team)]
    with _idle_lock:
        idle.append(team)
        surplus = idle.pop(0) if len(idle) > _IDLE_TEAMS_KEPT else None
    if surplus is not None:
        surplus.dismiss()


def _forget_teams() -> None:
    """Drop all teams in a forked child, where the threads of the parent's teams do not exist."""
    global _idle_lock
    for idle in _idle.values():
        idle.clear()
    _idle_lock = threading.Lock()


def _dismiss_native_teams() -> None:
    """Dismiss idle teams before the compiled code that they wait in is unloaded."""
    with _idle_lock:
        teams = _idle[NativeTeam][:]
        _idle[NativeTeam].clear()
    for team in teams:
        team.dismiss()


atexit.register(_dismiss_native_teams)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_teams)
