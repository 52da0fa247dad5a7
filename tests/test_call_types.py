"""What Numba remembers of how operations are typed is what it would find again."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.types import BaseFunction

from dromos.call_types import remember_call_types


def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Have a memory of its own for one test; what Numba is asked beyond it is listed."""
    asked: list[object] = []
    ask = BaseFunction.get_call_type

    def note(self, context, args, kws):  # type: ignore[no-untyped-def]
        asked.append((self.typing_key, args))
        return ask(self, context, args, kws)

    monkeypatch.setattr(BaseFunction, "get_call_type", note)  # undone with what is set over it below
    assert remember_call_types.__wrapped__()
    return asked


def test_an_operation_is_asked_for_once_whatever_the_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)

    @numba.njit
    def first(a, i):  # type: ignore[no-untyped-def]
        return a[i] + 1 < 7

    @numba.njit
    def second(a, i):  # type: ignore[no-untyped-def]
        return a[i] + 5 < 9

    where = types.Array(types.int16, 1, "C"), types.int64
    first.compile(where)
    assert asked
    asked.clear()
    second.compile(where)
    assert asked == []
    assert [bool(kernel(np.array([4], np.int16), 0)) for kernel in (first, second)] == [True, False]


def test_options_and_types_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    counted(monkeypatch)

    def ratio(a, b):  # type: ignore[no-untyped-def]
        return a // b

    plain, quiet = numba.njit(ratio), numba.njit(error_model="numpy")(ratio)
    for _ in range(2):
        assert quiet(1, 0) == 0
        with pytest.raises(ZeroDivisionError):
            plain(1, 0)
        assert np.isnan(quiet(0.0, 0.0))
        assert plain(np.uint8(200), np.uint8(3)) == 66


def test_a_numba_with_other_inner_names_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = BaseFunction.get_call_type
    monkeypatch.delattr("numba.core.targetconfig.ConfigStack.top_or_none")
    assert not remember_call_types.__wrapped__()
    assert BaseFunction.get_call_type is ask
