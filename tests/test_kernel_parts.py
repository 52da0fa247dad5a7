"""Parts of kernels: compiled without wrappers and machine code of their own, they act as any function of Numba's."""

from __future__ import annotations

from typing import Any

import pytest

from dromos import kernel_parts
from dromos.jit import inline, kernel


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
