"""Kernels without Numba: the compiled function does what Python does, or is refused."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dromos.direct import LoweringError, direct_kernel, load_relaxed, machine
from dromos.direct.statements import lowered
from tests.algorithms.support import examples

STEP = 3
HALF = 0.5


def _least(values, begin):
    """The place of the least value from ``begin`` on; -1 if there is none below ten."""
    best = -1
    for i in range(begin, values.size):
        if values[i] < 10 and (best == -1 or values[i] < values[best]):
            best = i
    if best < 0:
        return -1
    return best


@direct_kernel
def everything(whole, real, small, start, scale, out):
    """Every kind of statement and expression."""
    n = whole.size
    count, total = 0, 0.0
    i = start
    while True:
        i += 1
        if i >= n:
            break
        if not (whole[i] > -4 and real[i] < 4.5):
            continue
        count += 1
        total += real[i] * scale if small[i] > 1 else whole[i]
        small[i] -= 1
    out[0], out[1] = count, total
    out[2] = _least(whole, np.int64(0))
    out[3] = -total / 2 + HALF - (count << 2 | 1 ^ STEP & count >> 1)
    out[4] = -1.5 if whole.size == 0 else -count
    for k in range(n):
        if k == 7:
            break
        if load_relaxed(small, k) == 255:
            continue
        whole[k], real[k] = whole[k] * STEP, real[k] - (k != 2)
        k = k + 100  # the next round has its own
    out[5] = _least(real, start + 1) == 1 or total != 0.0 or whole.size >= 5
    out[6] = 1.0 if total else 0.0


@examples(30)
@given(
    rows=st.lists(st.tuples(st.integers(-5, 15), st.integers(-4, 12), st.sampled_from((0, 1, 2, 255))), max_size=12),
    start=st.integers(-1, 3),
    scale=st.sampled_from((0.1, -2.0)),
    ids=st.sampled_from((np.int32, np.int64)),
)
def test_a_kernel_does_what_python_does(
    rows: list[tuple[int, int, int]], start: int, scale: float, ids: type[np.signedinteger[Any]]
) -> None:
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    given_ = columns[0].astype(ids), columns[1] * 0.7, np.maximum(columns[2], 1).astype(np.uint8)
    expected, found = [[*(column.copy() for column in given_), start, scale, np.zeros(7)] for _ in range(2)]
    everything.python(*expected)
    everything(*found)
    for there, here in zip(expected, found, strict=True):
        assert np.array_equal(there, here)


def test_a_kernel_is_compiled_once_for_each_kind_of_arrays_and_read_only_ones_are_no_kind() -> None:
    @direct_kernel
    def total(values, out):
        for i in range(values.size):
            out[0] += values[i]

    fixed = np.arange(4, dtype=np.int32)
    fixed.flags.writeable = False
    out = np.zeros(1)
    for values in (fixed, np.arange(4, dtype=np.int32), np.arange(0, dtype=np.int32), np.full(2, 1 << 31, np.uint32)):
        total(values, out)
    assert out[0] == 12 + (1 << 32)
    assert len(total._compiled) == 2


def test_threads_run_side_by_side() -> None:
    @direct_kernel
    def wait(mine, other):
        mine[0] = 1
        while load_relaxed(other, 0) == 0:
            mine[1] += 1

    flags = np.zeros((2, 2), np.int64)
    threads = [threading.Thread(target=wait, args=(flags[k], flags[1 - k]), daemon=True) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
        assert not thread.is_alive()


def _divides(values):
    values[0] = values[0] // 2


def _loses(values):
    count = 0
    count = values[0] + 0.5
    values[0] = count


def _chooses(values):
    values[0] = 1 if values[0] > 0 else 0.5


def _chains(values):
    values[0] = 0 < values[0] < 3


def _counts_back(values):
    values[0] = values[-1]


def _walks(values):
    for value in values:
        values[0] = value


def _asks(values):
    values[0] = unknown  # noqa: F821


def _calls(values):
    values[0] = max(values[0], 2)


def _replaces(values):
    values = 3  # noqa: F841


def _compares(values):
    if values:
        values[0] = 1


def _catches(values):
    try:
        values[0] = 1
    finally:
        values[0] = 2


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (_divides, "no FloorDiv"),
        (_loses, "a fraction where a whole number"),
        (_chooses, "a fraction where a whole number"),
        (_chains, "no such expression"),
        (_counts_back, "from zero on"),
        (_walks, "no such statement"),
        (_asks, "not assigned before"),
        (_calls, "no function of this module"),
        (_replaces, "values is an array"),
        (_compares, "an array where a number"),
        (_catches, "no such statement"),
    ],
)
def test_what_is_refused(function: Any, why: str) -> None:
    with pytest.raises(LoweringError, match=f"{function.__name__}: .*{why}"):
        direct_kernel(function)(np.ones(3))


@pytest.mark.parametrize("array", [np.ones((2, 2)), np.ones(4)[::2], np.ones(2, np.float32), np.ones(2, ">i4")])
def test_arrays_that_are_refused(array: np.ndarray[Any, Any]) -> None:
    with pytest.raises(LoweringError, match="argument 0 is an array"):
        direct_kernel(_divides)(array)


def test_a_wrong_number_of_arguments_is_told() -> None:
    with pytest.raises(LoweringError, match="takes 1 arguments, not 2"):
        direct_kernel(_divides)(np.ones(1), 2)


def test_addresses_as_older_versions_of_llvm_write_them() -> None:
    text = lowered(everything.python, ("[i32]", "[double]", "[u8]", "i64", "double", "[double]"), typed_pointers=True)
    assert " ptr " not in text
    assert "i32* %a0" in text
    assert "load atomic i8, i8* %" in text


def test_a_processor_that_llvm_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Any:
        raise RuntimeError

    monkeypatch.setattr(machine._llvm(), "get_host_cpu_features", unknown)

    @direct_kernel
    def one(values):
        values[0] = 1

    values = np.zeros(1)
    one(values)
    assert values[0] == 1
