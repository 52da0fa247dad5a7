"""Loops, branches and variables mean what they mean in Python."""

from __future__ import annotations

from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dromos.compiler import Kernel, Part
from tests.compiler import flow_kernels

KERNELS = {name: value for name, value in vars(flow_kernels).items() if isinstance(value, Kernel)}
LARGEST = 9


def in_python() -> SimpleNamespace:
    """The functions of the module without the decorators."""
    names: dict[str, Any] = dict(vars(flow_kernels))
    for name, value in list(names.items()):
        if isinstance(value, Part):
            names[name] = FunctionType(value.function.__code__, names, name)
    return SimpleNamespace(**names)


PYTHON = in_python()


@pytest.mark.parametrize("name", KERNELS)
@given(a=st.integers(-LARGEST, LARGEST), b=st.integers(-LARGEST, LARGEST))
def test_a_kernel_does_what_python_does(name: str, a: int, b: int) -> None:
    plain = getattr(PYTHON, name)
    logs = [np.array([3, -1, 4, 8]) for _ in range(2)]
    more = [[log] for log in logs] if plain.__code__.co_argcount == 3 else [[], []]
    try:
        expected = plain(a, b, *more[0])
    except UnboundLocalError:  # a loop without a round leaves no value behind
        return
    found = KERNELS[name](a, b, *more[1])
    assert repr(found) == repr(as_python(expected))
    np.testing.assert_array_equal(logs[1], logs[0])


def as_python(value: Any) -> Any:
    """What NumPy gave, as numbers of Python."""
    if isinstance(value, tuple):
        return tuple(map(as_python, value))
    return value.item() if isinstance(value, np.generic) else value
