"""Kernels and their parts: who calls whom, with what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dromos import parallel
from dromos.jit import inline, kernel
from dromos.parallel import run_team


@pytest.mark.parametrize("native", [True, False], ids=["this system", "a system without native teams"])
@pytest.mark.parametrize("with_flag", [False, True])
def test_a_kernel_serves_teams_and_kernels_and_python(
    native: bool, with_flag: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not native:
        monkeypatch.setattr(parallel, "is_supported", lambda: False)
        monkeypatch.setattr(parallel, "native_team", None)

    @kernel
    def note(thread, threads, out):  # type: ignore[no-untyped-def]
        out[thread] += 10 * threads + thread

    @kernel
    def outer(out):  # type: ignore[no-untyped-def]
        note(1, 7, out)

    out = np.zeros(2, np.int64)
    run_team(note, out, threads=2, stop=np.zeros(1, np.int64) if with_flag else None)
    assert out.tolist() == [20, 21]
    outer(out)
    note(0, 3, out)
    assert out.tolist() == [50, 92]


def test_a_part_is_given_constants_and_numbers() -> None:
    @inline
    def scaled(value, factor, doubled):  # type: ignore[no-untyped-def]
        return value * factor * (2 if doubled else 1)

    @kernel
    def several(value):  # type: ignore[no-untyped-def]
        total = 0  # a constant at first, then any number
        for number in range(2):
            total = scaled(total, 3, True) + scaled(value, 5, False) + scaled(value, number, True)
        return total

    assert several(2) == (3 * 2 * 10) + 10 + 4


def test_a_constant_that_decides_a_type_is_one() -> None:
    @inline
    def entry(mixed, index):  # type: ignore[no-untyped-def]
        return mixed[index]

    @kernel
    def second(value):  # type: ignore[no-untyped-def]
        return entry((value, 0.5), 1)

    assert second(2) == 0.5


def test_a_part_is_written_anew_for_each_type() -> None:
    @inline
    def half(value):  # type: ignore[no-untyped-def]
        result = value
        if value > 10:
            result = value - 1
        return result

    @kernel
    def both(whole, real):  # type: ignore[no-untyped-def]
        return half(whole), half(real), half(whole) // 2

    found = both(12, 10.5)
    assert found == (11, 9.5, 5)
    assert [type(value) for value in found] == [int, float, int]


def test_variables_of_a_part_are_its_own() -> None:
    @inline
    def counted(limit):  # type: ignore[no-untyped-def]
        count = 0
        for number in range(limit):
            count += number
        return count

    @kernel
    def outer(limit):  # type: ignore[no-untyped-def]
        count, number = 100, 7
        inner = counted(limit) + counted(2 * limit)
        for _ in range(2):
            count += counted(limit)
        return count, number, inner

    assert outer(3) == (106, 7, 18)


@pytest.mark.parametrize("given", [(), (1,), (1, 2, 3)])
def test_python_is_told_how_many_arguments_a_kernel_takes(given: tuple[Any, ...]) -> None:
    @kernel
    def of_two(a, b):  # type: ignore[no-untyped-def]
        return a + b

    assert of_two(1, 2) == 3
    with pytest.raises(Exception, match=f"of_two takes 2 arguments, not {len(given)}"):
        of_two(*given)
