"""Kernels and their parts: compiled no further than they are used, they act as any function of Numba's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dromos import kernel_parts
from dromos.jit import inline, kernel, lean_kernel
from dromos.parallel import run_team


def chain() -> tuple[Any, Any]:
    """A kernel that calls a part that calls another one, and the outer part."""

    @inline
    def checked(value: int) -> int:
        if value > 3:
            raise ValueError("too large")
        return value + 1

    @inline
    def twice(value: int) -> int:
        return checked(checked(value))

    @kernel
    def start(value: int) -> int:
        return twice(value)

    return start, twice


@pytest.mark.parametrize("known", [True, False], ids=["this Numba", "a Numba with other inner names"])
def test_parts_of_parts_and_errors_inside_them(known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not known:
        monkeypatch.setattr(kernel_parts, "_dispatcher_class", lambda: None)
    start, twice = chain()
    assert start(2) == 4
    with pytest.raises(ValueError, match="too large"):
        start(3)
    (compiled,) = twice.overloads.values()
    assert callable(compiled.entry_point) is not known


def test_python_is_told_that_it_cannot_call_a_part() -> None:
    _, twice = chain()
    with pytest.raises(TypeError, match=r"twice\(\) is a part of kernels"):
        twice(1)


@pytest.mark.parametrize("known", [True, False], ids=["this system", "a system without native teams"])
def test_a_kernel_serves_teams_and_kernels_and_python(
    known: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))  # what comes from disk has no list of functions
    monkeypatch.setattr(kernel_parts, "is_supported", lambda: known)

    @lean_kernel
    def note(thread, threads, out):  # type: ignore[no-untyped-def]
        out[thread] += 10 * threads + thread

    @kernel
    def outer(out):  # type: ignore[no-untyped-def]
        note(1, 7, out)

    out = np.zeros(2, np.int64)
    run_team(note, out, threads=2)
    assert out.tolist() == [20, 21]
    outer(out)
    note(0, threads=3, out=out)
    assert out.tolist() == [50, 92]
    names = [function.name for found in note.overloads.values() for function in found.library._final_module.functions]  # type: ignore[attr-defined]
    assert any("cpython" in name for name in names) is not known


def test_a_part_is_compiled_once_for_all_constants() -> None:
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
    assert len(scaled.overloads) == 1  # type: ignore[attr-defined]


def test_a_constant_that_decides_a_type_is_one() -> None:
    @inline
    def entry(mixed, index):  # type: ignore[no-untyped-def]
        return mixed[index]

    @kernel
    def second(value):  # type: ignore[no-untyped-def]
        return entry((value, 0.5), 1)

    assert second(2) == 0.5
