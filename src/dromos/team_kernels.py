"""What the threads of a native team do between kernels: they wait inside compiled code, and touch nothing of Python.

A round, in the words of a team (32 bits each, on cache lines of their own):

1. The caller writes the call (its entry, its arguments) into ``block`` and sets ``REMAINING``, then adds one to
   ``ROUND``.
2. A worker that waits for ``ROUND`` to change acquires what was written before, runs the call, and takes one off
   ``REMAINING``, which releases what it wrote.
3. The caller waits for ``REMAINING`` to be 0 and acquires: all decrements are of one release sequence, so the last
   value brings the writes of all workers. ``block`` may then be written again, since nobody looks at it any more.

Who waits spins for a while and then sleeps in the system, on the word itself (a futex). Nobody sleeps through a
change: a worker that goes to sleep first counts itself among ``SLEEPERS``, then asks the system to sleep *if the word
is still the old one*; the caller first changes the word, then looks whether there are sleepers. All four are
sequentially consistent, so at least one of the two sees the other: either the caller finds a sleeper and wakes it, or
the system finds the new word and does not let the worker sleep. The same holds for a caller that sleeps on
``REMAINING`` and says so in ``CALLER_SLEEPS``. Waking is shared: the caller wakes a few, those wake others.

A team may have as many workers as there are cores, with a caller that waits beside them for Ctrl-C: one thread more
than cores. Who spins there offers its core to others between two looks (``gives_way``). So the caller and the worker on
its core change places in a microsecond or two, where a sleeper's waking takes some tens.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import platform

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from dromos.intrinsics import load, load_acquire, nanoseconds, sched_yield, spin_hint, store_relaxed
from dromos.jit import inline, python_kernel
from dromos.team_layout import (
    ARRAY,
    ARRAY_DATA,
    ARRAY_SHAPE,
    ARRAY_STRIDES,
    BLOCK_ARGUMENTS,
    BLOCK_ENTRY,
    BLOCK_EXCEPTION,
    BLOCK_FAILED,
    BLOCK_FIRST_THREAD,
    BLOCK_KERNEL,
    BLOCK_THREADS,
    CALLER_SLEEPS,
    DONE,
    FAILED,
    FUTEX_NUMBERS,
    REMAINING,
    ROUND,
    RUNNING,
    SLEEPERS,
)

__all__ = ["dismiss", "run_round", "serve", "wait"]

_FUTEX = FUTEX_NUMBERS.get(platform.machine(), 0)
_FUTEX_WAIT, _FUTEX_WAKE = 128, 129  # among the threads of this process
_WOKEN_BY_ONE = 4
_PAUSES = 8  # between two looks at the clock


def _place(context, builder, array_type, array, index):
    held = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, held, [index], wraparound=False)


@intrinsic
def _add_in_order(typingctx, words, index, value):
    """Add to a word, sequentially consistent; what it was before."""

    def generate(context, builder, sig, args):
        place = _place(context, builder, sig.args[0], args[0], args[1])
        return builder.atomic_rmw("add", place, args[2], ordering="seq_cst")

    return types.int32(words, types.intp, types.int32), generate


@intrinsic
def _load_in_order(typingctx, words, index):
    """A word, sequentially consistent."""

    def generate(context, builder, sig, args):
        return builder.load_atomic(_place(context, builder, sig.args[0], args[0], args[1]), "seq_cst", 4)

    return types.int32(words, types.intp), generate


@intrinsic
def _futex(typingctx, words, index, operation, value, longest):
    """The system call: sleep while the word is ``value`` (``longest`` ns; 0: no limit), or wake ``value`` sleepers."""

    def generate(context, builder, sig, args):
        word = ir.IntType(64)
        place = _place(context, builder, sig.args[0], args[0], args[1])
        moment = cgutils.alloca_once(builder, ir.LiteralStructType([word, word]))
        second = word(1_000_000_000)
        builder.store(builder.udiv(args[4], second), cgutils.gep_inbounds(builder, moment, 0, 0))
        builder.store(builder.urem(args[4], second), cgutils.gep_inbounds(builder, moment, 0, 1))
        limited = builder.icmp_unsigned("!=", args[4], word(0))
        limit = builder.select(limited, builder.ptrtoint(moment, word), word(0))
        call_type = ir.FunctionType(word, [word], var_arg=True)
        call = cgutils.get_or_insert_function(builder.module, call_type, "syscall")
        operation, value = builder.sext(args[2], word), builder.sext(args[3], word)
        address = builder.ptrtoint(place, word)
        return builder.call(call, [word(_FUTEX), address, operation, value, limit, word(0), word(0)])

    return types.int64(words, types.intp, types.int32, types.int32, types.int64), generate


@intrinsic
def _word_at(typingctx, address):
    """The 8 bytes at an address."""

    def generate(context, builder, sig, args):
        return builder.load(builder.inttoptr(args[0], ir.IntType(64).as_pointer()))

    return types.int64(types.int64), generate


@intrinsic
def _enter(typingctx, block, thread):
    """Run the call in a block as ``thread``; the status that the kernel returned, 0 where all went well."""

    def generate(context, builder, sig, args):
        word = ir.IntType(64)
        block = _place(context, builder, sig.args[0], args[0], context.get_constant(types.intp, 0))
        entry_type = ir.FunctionType(ir.IntType(32), [word, word.as_pointer()])
        place = cgutils.gep_inbounds(builder, block, BLOCK_ENTRY)
        return builder.call(builder.inttoptr(builder.load(place), entry_type.as_pointer()), [args[1], block])

    return types.int32(block, types.int64), generate


@inline
def _run(block, thread):
    status = _enter(block, thread)
    if status != 0 and status != -2:  # -2: returned None
        block[BLOCK_FAILED] = status  # any of those that failed


@inline
def _pause(gives_way):
    """Between two looks at a word."""
    if gives_way != 0:
        sched_yield()
    else:
        for _ in range(_PAUSES):
            spin_hint()


@python_kernel
def serve(words, block, worker, patience, gives_way):
    """A worker's life: wait for a round, run its call, report; until there is none. Spins for ``patience`` ns."""
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
        _run(block, worker + block[BLOCK_FIRST_THREAD])
        if _add_in_order(words, REMAINING, np.int32(-1)) == 1 and _load_in_order(words, CALLER_SLEEPS) != 0:
            _futex(words, REMAINING, np.int32(_FUTEX_WAKE), np.int32(1), np.int64(0))


@inline
def _write(block, kinds, values, entry, function, threads, first):
    """The call in the form that the entry reads: an array as Numba passes it, another value as one word."""
    block[BLOCK_ENTRY], block[BLOCK_KERNEL], block[BLOCK_FAILED], block[BLOCK_EXCEPTION] = entry, function, 0, 0
    block[BLOCK_THREADS], block[BLOCK_FIRST_THREAD] = threads, first
    at = np.int64(BLOCK_ARGUMENTS)
    for number in range(kinds.size):
        kind, value = load(kinds, number), load(values, number)
        if kind < ARRAY:
            block[at] = value
            at += 1
            continue
        dimensions, item_size = (kind - ARRAY) & 15, (kind - ARRAY) >> 4
        shape, strides = _word_at(value + ARRAY_SHAPE), _word_at(value + ARRAY_STRIDES)
        block[at] = block[at + 1] = 0  # who owns it: the caller does, for as long as the call lasts
        block[at + 3] = item_size
        block[at + 4] = _word_at(value + ARRAY_DATA)
        count = np.int64(1)
        for axis in range(dimensions):
            length = _word_at(shape + 8 * axis)
            count *= length
            block[at + 5 + axis] = length
            block[at + 5 + dimensions + axis] = _word_at(strides + 8 * axis)
        block[at + 2] = count
        at += 5 + 2 * dimensions


@inline
def _begin(words, workers):
    store_relaxed(words, REMAINING, np.int32(workers))
    _add_in_order(words, ROUND, np.int32(1))
    if _load_in_order(words, SLEEPERS) > 0:
        _futex(words, ROUND, np.int32(_FUTEX_WAKE), np.int32(_WOKEN_BY_ONE), np.int64(0))


@inline
def _state(words, block):
    if load_acquire(words, REMAINING) != 0:
        return RUNNING
    return DONE if block[BLOCK_FAILED] == 0 else FAILED


@inline
def _spin(words, block, patience, gives_way):
    if load_acquire(words, REMAINING) != 0 and patience > 0:
        until = nanoseconds() + patience
        while load_acquire(words, REMAINING) != 0 and nanoseconds() < until:
            _pause(gives_way)
    return _state(words, block)


@python_kernel
def run_round(words, block, kinds, values, entry, function, workers, caller_works, patience, gives_way):
    """A call on the workers and, where ``caller_works`` is 1, as thread 0 on the caller's own thread.

    How it stands ``patience`` ns after the caller has nothing more to do, at the latest.
    """
    _write(block, kinds, values, entry, function, workers + caller_works, caller_works)
    if workers > 0:
        _begin(words, workers)
    if caller_works > 0:
        _run(block, np.int64(0))
    return _spin(words, block, patience, gives_way)


@python_kernel
def wait(words, block, longest):
    """Sleep until the workers are done, ``longest`` ns have passed, or a signal has come; how the call stands."""
    _add_in_order(words, CALLER_SLEEPS, np.int32(1))
    left = _load_in_order(words, REMAINING)
    if left != 0:
        _futex(words, REMAINING, np.int32(_FUTEX_WAIT), left, longest)
    _add_in_order(words, CALLER_SLEEPS, np.int32(-1))
    return _state(words, block)


@python_kernel
def dismiss(words, block):
    """Send the workers home; they must be idle."""
    block[BLOCK_ENTRY] = 0
    _begin(words, np.int64(0))
