"""The code that the threads of a native team run between kernels: they wait in compiled code, without using Python.

A round, in terms of a team's words (32 bits each, on cache lines of their own):

1. The caller writes the call (its entry, its arguments) into ``block`` and sets ``REMAINING``, then adds one to
   ``ROUND``.
2. A worker that waits for ``ROUND`` to change acquires what was written before, runs the call, and decrements
   ``REMAINING``, which releases what it wrote.
3. The caller waits for ``REMAINING`` to be 0 and acquires: all decrements form one release sequence, so the last value
   makes the writes of all workers visible. ``block`` may then be rewritten, since no worker reads it any more.

A waiting thread spins for a while and then sleeps in the system, on the word itself (a futex). No thread sleeps through
a change: a worker that goes to sleep first counts itself among ``SLEEPERS``, then asks the system to sleep *if the word
is still the old one*; the caller first changes the word, then checks for sleepers. All four operations are sequentially
consistent, so at least one of the two threads sees the other: either the caller finds a sleeper and wakes it, or the
system finds the new word and does not let the worker sleep. The same holds for a caller that sleeps on ``REMAINING``
and announces it in ``CALLER_SLEEPS``. Waking is shared: the caller wakes a few threads, which wake others.

A team may have as many workers as there are cores, plus a caller that waits for Ctrl-C: one more thread than cores. A
spinning thread then yields its core between two checks (``gives_way``), so that the caller and the worker on its core
trade places in a microsecond or two, where waking a sleeper takes some tens.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import platform

import numpy as np

from dromos.compiler import Intrinsic, intrinsic
from dromos.compiler.atomics import exchange, number, ordered_load
from dromos.compiler.writer import DATA
from dromos.intrinsics import load_acquire, nanoseconds, sched_yield, spin_hint, store_relaxed
from dromos.jit import inline, kernel
from dromos.team_layout import (
    BLOCK_ENTRY,
    BLOCK_FIRST_THREAD,
    BLOCK_THREADS,
    CALLER_SLEEPS,
    FUTEX_NUMBERS,
    REMAINING,
    ROUND,
    SLEEPERS,
)

__all__ = ["dismiss", "run_round", "serve", "wait"]

_FUTEX = FUTEX_NUMBERS.get(platform.machine(), 0)
_FUTEX_WAIT, _FUTEX_WAKE = 128, 129  # among the threads of this process
_WOKEN_BY_ONE = 4
_PAUSES = 8  # between two reads of the clock

_add_in_order = Intrinsic(exchange("add", "seq_cst"), "Add to a word, sequentially consistent; what it was before.")
_load_in_order = Intrinsic(ordered_load("seq_cst"), "A word, sequentially consistent.")


@intrinsic
def _futex(writer, words, index, operation, value, longest):
    """The system call: sleep while the word is ``value`` (``longest`` ns; 0: no limit), or wake ``value`` sleepers."""
    operation, value, longest = (writer.cast(number(given), "i64").text for given in (operation, value, longest))
    place = writer.address(words, [number(index)])
    writer.count += 1
    moment = f"%moment{writer.count}"
    writer.entry.append(f"{moment} = alloca {{ i64, i64 }}")
    rest = writer.register(f"getelementptr {{ i64, i64 }}, ptr {moment}, i32 0, i32 1")
    for target, how in ((moment, "udiv"), (rest, "urem")):
        part = writer.register(f"{how} i64 {longest}, 1000000000")
        writer.lines.append(f"store i64 {part}, ptr {target}")
    limited = writer.register(f"icmp ne i64 {longest}, 0")
    limit = writer.register(f"select i1 {limited}, ptr {moment}, ptr null")
    function = writer.declare("syscall", "i64", "i64", "...")
    writer.register(
        f"call i64 (i64, ...) {function}(i64 {_FUTEX}, ptr {place}, i64 {operation}, i64 {value}, ptr {limit}, "
        "i64 0, i64 0)"
    )


@intrinsic
def _enter(writer, block, thread):
    """Run the call in a block as ``thread``."""
    address = writer.word(block, DATA)
    place = writer.register(f"getelementptr i64, ptr {address}, i64 {BLOCK_ENTRY}")
    entry = writer.register(f"load ptr, ptr {place}")
    number_of_thread = writer.cast(number(thread), "i64").text
    writer.register(f"call i32 {entry}(i64 {number_of_thread}, ptr {address})")


@inline
def _pause(gives_way):
    """Pause between two checks of a word."""
    if gives_way != 0:
        sched_yield()
    else:
        for _ in range(_PAUSES):
            spin_hint()


@kernel
def serve(words, block, worker, patience, gives_way):
    """The loop of a worker: wait for a round, run its call, report; ends on dismissal. Spins for ``patience`` ns."""
    seen = np.int32(0)
    while True:
        now = load_acquire(words, ROUND)
        if now == seen and patience > 0:
            until = nanoseconds() + patience
            while now == seen and nanoseconds() < until:
                _pause(gives_way)
                now = load_acquire(words, ROUND)
        if now == seen:
            _add_in_order(words, SLEEPERS, np.int32(1))
            now = _load_in_order(words, ROUND)
            while now == seen:
                _futex(words, ROUND, np.int32(_FUTEX_WAIT), seen, np.int64(0))
                now = _load_in_order(words, ROUND)
            if _add_in_order(words, SLEEPERS, np.int32(-1)) > 1:
                _futex(words, ROUND, np.int32(_FUTEX_WAKE), np.int32(_WOKEN_BY_ONE), np.int64(0))
        seen = now
        if block[BLOCK_ENTRY] == 0:
            return
        _enter(block, worker + block[BLOCK_FIRST_THREAD])
        if _add_in_order(words, REMAINING, np.int32(-1)) == 1 and _load_in_order(words, CALLER_SLEEPS) != 0:
            _futex(words, REMAINING, np.int32(_FUTEX_WAKE), np.int32(1), np.int64(0))


@inline
def _begin(words, workers):
    store_relaxed(words, REMAINING, np.int32(workers))
    _add_in_order(words, ROUND, np.int32(1))
    if _load_in_order(words, SLEEPERS) > 0:
        _futex(words, ROUND, np.int32(_FUTEX_WAKE), np.int32(_WOKEN_BY_ONE), np.int64(0))


@kernel
def run_round(words, block, entry, workers, caller_works, patience, gives_way):
    """Run a call on the workers and, if ``caller_works`` is 1, as thread 0 on the calling thread.

    Returns how many workers are not done, at the latest ``patience`` ns after the caller has nothing more to do.
    """
    block[BLOCK_ENTRY], block[BLOCK_THREADS], block[BLOCK_FIRST_THREAD] = entry, workers + caller_works, caller_works
    if workers > 0:
        _begin(words, workers)
    if caller_works > 0:
        _enter(block, 0)
    if load_acquire(words, REMAINING) != 0 and patience > 0:
        until = nanoseconds() + patience
        while load_acquire(words, REMAINING) != 0 and nanoseconds() < until:
            _pause(gives_way)
    return load_acquire(words, REMAINING)


@kernel
def wait(words, longest):
    """Sleep until the workers are done, ``longest`` ns have passed, or a signal has come; returns how many are left."""
    _add_in_order(words, CALLER_SLEEPS, np.int32(1))
    left = _load_in_order(words, REMAINING)
    if left != 0:
        _futex(words, REMAINING, np.int32(_FUTEX_WAIT), left, np.int64(longest))
    _add_in_order(words, CALLER_SLEEPS, np.int32(-1))
    return load_acquire(words, REMAINING)


@kernel
def dismiss(words, block):
    """End the workers, which must be idle."""
    block[BLOCK_ENTRY] = 0
    _begin(words, np.int64(0))
