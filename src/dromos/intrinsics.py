"""Operations for kernels that share memory: atomics with a memory order, prefetch, bit counts, a spin hint.

All array functions take ``(array, index, …)`` on a one-dimensional array; the ordered loads and stores also take
``(row, column)`` on a two-dimensional one. Indices are not checked, and negative ones do not wrap around.

Orders have LLVM's meaning. *Relaxed* (monotonic) is a plain load or store on ARM and x86 that the compiler may neither
tear nor move out of a loop. *Unordered* is not torn either, but two such loads may be merged, and one whose value is
not used may be dropped. *Acquire* and *release* order what follows and what precedes them. Operations are relaxed
unless their name or text says otherwise.
"""

from __future__ import annotations

from dromos.compiler import atomics, system
from dromos.compiler.intrinsic import Intrinsic

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_swap",
    "atomic_swap_acq_rel",
    "compare_and_swap",
    "compare_and_swap_relaxed",
    "count_bits",
    "full_fence",
    "load",
    "load_acquire",
    "load_relaxed",
    "load_unaligned",
    "load_unordered",
    "nanoseconds",
    "prefetch",
    "prefetch_to_write",
    "sched_yield",
    "spin_hint",
    "store",
    "store_relaxed",
    "store_release",
    "trailing_zeros",
]

load = Intrinsic(atomics.plain_load, "``array[index]`` without the test for a negative index that counts from the end.")
store = Intrinsic(atomics.plain_store, "``array[index] = value``, likewise.")
load_unaligned = Intrinsic(
    atomics.load_unaligned,
    "Eight bytes of an array of bytes from ``index`` on, wherever that is, as an unsigned integer.",
)
load_unordered = Intrinsic(atomics.ordered_load("unordered"))
load_relaxed = Intrinsic(atomics.ordered_load("monotonic"))
load_acquire = Intrinsic(atomics.ordered_load("acquire"))
store_relaxed = Intrinsic(atomics.ordered_store("monotonic"))
store_release = Intrinsic(atomics.ordered_store("release"))

_EXCHANGE = "``old = array[index]; array[index] = old ∘ value; return old``, as one step for all threads."
atomic_add = Intrinsic(atomics.exchange("add"), _EXCHANGE)
atomic_min = Intrinsic(atomics.exchange("min"), _EXCHANGE)
atomic_max = Intrinsic(atomics.exchange("max"), _EXCHANGE)
atomic_or = Intrinsic(atomics.exchange("or"), _EXCHANGE)
atomic_and = Intrinsic(atomics.exchange("and"), _EXCHANGE)
atomic_swap = Intrinsic(atomics.exchange("xchg"), _EXCHANGE)
atomic_swap_acq_rel = Intrinsic(
    atomics.exchange("xchg", "acq_rel"),
    """``atomic_swap`` that acquires and releases.

    Who swaps later sees all that the one before had written: two threads that each write, then swap the same element,
    cannot both miss what the other wrote.
    """,
)
_SWAP_IF = "Whether ``array[index]`` was ``expected`` (by its bits), and is now ``new``."
compare_and_swap = Intrinsic(atomics.compare_and_swap("acq_rel"), _SWAP_IF)
compare_and_swap_relaxed = Intrinsic(atomics.compare_and_swap("monotonic"), _SWAP_IF)

full_fence = Intrinsic(
    system.full_fence,
    "Of two threads that each write, pass a fence and read what the other one writes, one at least sees the new value.",
)

_PREFETCH = "Ask for the cache line of ``array[index]``, to read it or to write to it; the index may lie outside."
prefetch = Intrinsic(atomics.prefetch(0), _PREFETCH)
prefetch_to_write = Intrinsic(atomics.prefetch(1), _PREFETCH)

spin_hint = Intrinsic(system.spin_hint, "What a waiting thread executes.")
sched_yield = Intrinsic(system.sched_yield, "Give the core to another thread.")
nanoseconds = Intrinsic(system.nanoseconds, "The monotonic clock, as an ``int64``; some 40 ns.")
trailing_zeros = Intrinsic(
    system.of_word("llvm.cttz.i64", "i1 false"), "How many low bits of a ``uint64`` are zero (64 for 0)."
)
count_bits = Intrinsic(system.of_word("llvm.ctpop.i64"), "How many bits of a ``uint64`` are set.")
