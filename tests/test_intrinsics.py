"""The intrinsics against NumPy, and under contention of several threads."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from dromos import intrinsics as x
from dromos.jit import kernel
from dromos.parallel import run_team

NUMBERS = [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("atomic_add", lambda a, b: a + b),
        ("atomic_min", min),
        ("atomic_max", max),
        ("atomic_swap", lambda a, b: b),
        ("atomic_or", lambda a, b: a | b),
        ("atomic_and", lambda a, b: a & b),
    ],
)
def test_an_operation_returns_the_old_value_and_stores_the_new(dtype: type, name: str, expected) -> None:  # type: ignore[no-untyped-def]
    floating = np.issubdtype(dtype, np.floating)
    if floating and name in ("atomic_or", "atomic_and"):
        pytest.skip("bits of floats are not combined")
    operation = getattr(x, name)

    @kernel
    def call(array, value):  # type: ignore[no-untyped-def]
        return operation(array, 1, value)

    signed = np.issubdtype(dtype, np.signedinteger) or floating
    values = [-7, -1, 0, 3, 50] if signed else [0, 1, 3, 50]
    for before in values:
        for given in values:
            array = np.array([9, before, 9], dtype)
            assert call(array, dtype(given)) == before
            assert array[1] == dtype(expected(before, given))
            assert array[0] == array[2] == 9


def test_infinities_keep_their_order() -> None:
    @kernel
    def call(array, value):  # type: ignore[no-untyped-def]
        return x.atomic_min(array, 0, value)

    array = np.array([np.inf])
    for value in (5.0, 7.0, -3.0, -1.0, -np.inf, 0.0):
        call(array, value)
    assert array[0] == -np.inf


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_adds_of_several_threads_are_all_counted(dtype: type) -> None:
    @kernel
    def run(thread, threads, array, one, times):  # type: ignore[no-untyped-def]
        for _ in range(times):
            x.atomic_add(array, 0, one)

    array = np.zeros(1, dtype)
    run_team(run, array, dtype(1), 20_000, threads=4)
    assert array[0] == 80_000


def test_compare_and_swap_makes_a_lock() -> None:
    @kernel
    def run(thread, threads, lock, counter, times):  # type: ignore[no-untyped-def]
        for _ in range(times):
            while not x.compare_and_swap(lock, 0, np.uint8(0), np.uint8(1)):
                x.spin_hint()
                x.sched_yield()
            counter[0] += 1
            x.store_release(lock, 0, np.uint8(0))

    counter = np.zeros(1, np.int64)
    run_team(run, np.zeros(1, np.uint8), counter, 5_000, threads=3)
    assert counter[0] == 15_000


def test_of_two_threads_that_write_pass_a_fence_and_read_one_sees_the_others_write() -> None:
    @kernel
    def run(thread, threads, written, seen, turns):  # type: ignore[no-untyped-def]
        other = 1 - thread
        for turn in range(turns):
            x.atomic_add(written, 32, np.int32(1))
            while x.load_acquire(written, 32) < 2 * turn + 2:  # both begin at once
                x.spin_hint()
                x.sched_yield()
            x.store_relaxed(written, 16 * thread, np.int32(turn + 1))  # in cache lines of their own
            x.full_fence()
            x.store(seen, 2 * turn + thread, x.load_relaxed(written, 16 * other))

    turns = 20_000
    seen = np.zeros((turns, 2), np.int32)
    run_team(run, np.zeros(48, np.int32), seen.reshape(-1), turns, threads=2)
    turn = np.arange(1, turns + 1)
    assert ((seen[:, 0] >= turn) | (seen[:, 1] >= turn)).all()


def test_bit_counts() -> None:
    @kernel
    def call(value):  # type: ignore[no-untyped-def]
        return x.trailing_zeros(value), x.count_bits(value)

    for value in (0, 1, 2, 12, 1 << 63, 2**64 - 1):
        zeros = 64 if value == 0 else (value & -value).bit_length() - 1
        assert call(np.uint64(value)) == (zeros, value.bit_count())


def test_eight_bytes_are_loaded_from_any_place() -> None:
    @kernel
    def call(data, at):  # type: ignore[no-untyped-def]
        return x.load_unaligned(data, at)

    data = np.arange(1, 20, dtype=np.uint8)
    for at in range(12):
        assert int(call(data, at)).to_bytes(8, sys.byteorder) == data[at : at + 8].tobytes()


def test_loads_stores_and_prefetch_touch_only_their_element() -> None:
    @kernel
    def call(array):  # type: ignore[no-untyped-def]
        x.prefetch(array, 2)
        x.store_relaxed(array, 0, x.load_unordered(array, 1))
        x.store_release(array, 1, x.load_acquire(array, 2))

    for dtype in NUMBERS:
        array = np.array([1, 2, 3], dtype)
        call(array)
        assert array.tolist() == [2, 3, 3]


@pytest.mark.parametrize("dtype", [*NUMBERS, np.bool_])
def test_relaxed_loads_and_stores_reach_rows_of_vectors(dtype: type) -> None:
    @kernel
    def move(rows, v):  # type: ignore[no-untyped-def]
        x.store_relaxed(rows, (v, 1), x.load_relaxed(rows, (v, 2)))

    rows = np.array([[0, 0, 0], [1, 0, 1]], dtype)
    move(rows, 1)
    assert rows.tolist() == np.array([[0, 0, 0], [1, 1, 1]], dtype).tolist()


def test_of_two_who_write_and_then_swap_a_mark_the_later_sees_what_the_earlier_wrote() -> None:
    """The wake-up that asynchronous kernels rely on: with a relaxed load instead of a swap this fails on ARM."""
    slots = 200_000

    @kernel
    def meet_at_marks(thread, threads, mark, value, queued, seen):  # type: ignore[no-untyped-def]
        for i in range(len(mark)):
            if thread == 0:  # the thread that changes a vertex
                x.store_relaxed(value, i, np.uint8(1))
                queued[i] = x.atomic_swap_acq_rel(mark, i, np.uint8(1)) == 0
            else:  # the thread that takes it from a queue
                x.atomic_swap_acq_rel(mark, i, np.uint8(0))
                seen[i] = x.load_relaxed(value, i)

    mark, value = np.ones(slots, np.uint8), np.zeros(slots, np.uint8)
    queued, seen = np.zeros(slots, np.bool_), np.zeros(slots, np.bool_)
    run_team(meet_at_marks, mark, value, queued, seen, threads=2)
    assert (queued | seen).all(), "a change was lost"


def test_a_claim_is_won_once() -> None:
    @kernel
    def claim(thread, threads, owner, won):  # type: ignore[no-untyped-def]
        for i in range(len(owner)):
            won[thread] += x.compare_and_swap_relaxed(owner, i, -1, thread)

    owner, won = np.full(100_000, -1, np.int32), np.zeros(3, np.int64)
    run_team(claim, owner, won, threads=3)
    assert won.sum() == len(owner)
    assert (np.bincount(owner, minlength=3) == won).all()
