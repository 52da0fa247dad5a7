"""The types that the compiler gives to results are those that Numba gives."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from numba.core import types
from numba.core.registry import cpu_target

from dromos.compiler.scalars import compared, computed, shifted, unified

NUMBA = {
    "b": types.boolean, "f32": types.float32, "f64": types.float64,
    **{f"i{w}": getattr(types, f"int{w}") for w in (8, 16, 32, 64)},
    **{f"u{w}": getattr(types, f"uint{w}") for w in (8, 16, 32, 64)},
}  # fmt: skip
PAIRS = list(product(NUMBA, repeat=2))
INTEGERS = [(a, b) for a, b in PAIRS if "f" not in a + b]


@pytest.fixture(scope="module")
def typing() -> Any:
    context = cpu_target.typing_context
    context.refresh()
    return context


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul])
def test_arithmetic(typing: Any, op: Callable[..., Any]) -> None:
    for a, b in PAIRS:
        assert typing.resolve_function_type(op, (NUMBA[a], NUMBA[b]), {}).return_type == NUMBA[computed(a, b)], (a, b)


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod, operator.and_, operator.or_, operator.xor])
def test_integers(typing: Any, op: Callable[..., Any]) -> None:
    for a, b in INTEGERS:
        found = typing.resolve_function_type(op, (NUMBA[a], NUMBA[b]), {}).return_type
        bitwise = op not in (operator.floordiv, operator.mod)
        assert found == NUMBA["b" if bitwise and a == b == "b" else computed(a, b)], (a, b)


@pytest.mark.parametrize("op", [operator.lshift, operator.rshift])
def test_shifts(typing: Any, op: Callable[..., Any]) -> None:
    for a, b in INTEGERS:
        assert typing.resolve_function_type(op, (NUMBA[a], NUMBA[b]), {}).return_type == NUMBA[shifted(a)], (a, b)


@pytest.mark.parametrize("op", [operator.lt, operator.eq])
def test_comparisons_are_made_in_this_type(typing: Any, op: Callable[..., Any]) -> None:
    for a, b in PAIRS:
        found = typing.resolve_function_type(op, (NUMBA[a], NUMBA[b]), {})
        assert found.args == (NUMBA[compared(a, b)],) * 2, (a, b)


def test_unification(typing: Any) -> None:
    for a, b in PAIRS:
        assert typing.unify_types(NUMBA[a], NUMBA[b]) == NUMBA[unified(a, b)], (a, b)
