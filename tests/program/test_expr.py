"""Expressions: one object per expression, folding that keeps the meaning, NumPy's types."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dromos.errors import ProgramTypeError
from dromos.program import MAX, MIN, SUM, evaluate
from dromos.program.expr import FALSE, OPERATORS, TRUE, Expr, build, const, substitute, walk
from dromos.program.types import FIELD_DTYPES, GraphTypes, Type, Typing, promote

WEIGHT = Expr("weight")


def typing(dtype=np.float64):
    return Typing(GraphTypes(weight=np.dtype(dtype)), lambda node, _: Type(np.dtype(np.int64)))


def test_equal_expressions_are_one_object():
    a = build("add", WEIGHT, const(1))
    assert a is build("add", Expr("weight"), const(1))
    assert a is pickle.loads(pickle.dumps(a))
    assert len({const(1), const(1.0), const(True), const(np.int8(1)), const(0.0), const(-0.0)}) == 6
    with pytest.raises(AttributeError, match="frozen"):
        a.op = "sub"


def test_shared_parts_cost_nothing():
    x = WEIGHT
    for _ in range(200):  # a tree of 2**200 leaves, if sharing were lost
        x = build("add", x, x)
    assert len(list(walk([x]))) == 201
    assert evaluate(x, typing(np.float64), lambda node: 1.0) == 2.0**200
    assert substitute(x, lambda node: None) is x


def test_folding():
    x = build("lt", WEIGHT, const(3))
    assert build("where", x, WEIGHT, WEIGHT) is WEIGHT
    assert build("and", x, TRUE) is x
    assert build("or", TRUE, x) is TRUE
    assert build("invert", build("invert", x)) is x
    assert build("lt", WEIGHT, WEIGHT) is FALSE
    assert build("ne", WEIGHT, WEIGHT) is not FALSE  # true for NaN
    assert build("truediv", const(1), const(0)).op == "truediv"
    assert build("add", WEIGHT, const(0)).op == "add"  # 0 may widen the type


numbers = st.one_of(st.booleans(), st.integers(-100, 100), st.floats(-100, 100))


@given(st.sampled_from(["add", "sub", "mul", "min", "max", "lt", "le", "eq", "ne"]), numbers, numbers)
def test_folding_agrees_with_evaluation(op, a, b):
    if isinstance(a, bool) and isinstance(b, bool):
        return
    folded = build(op, const(a), const(b))
    kept = Expr(op, (const(a), const(b)))
    expected = evaluate(kept, typing(), lambda node: None)
    assert evaluate(folded, typing(), lambda node: None) == pytest.approx(expected, nan_ok=True)


@given(st.sampled_from(FIELD_DTYPES), st.sampled_from(FIELD_DTYPES))
def test_promotion_is_numpys_or_an_error(a, b):
    expected = np.promote_types(a, b)
    if a.kind in "iu" and b.kind in "iu" and expected.kind == "f":
        with pytest.raises(ProgramTypeError):
            promote(Type(a), Type(b))
    else:
        assert promote(Type(a), Type(b)) == Type(expected)


@given(st.sampled_from(FIELD_DTYPES), st.sampled_from([1, 0.5]))
def test_bare_numbers_take_the_type_of_what_they_meet(dtype, number):
    weak = typing().of(const(number))
    found = promote(Type(dtype), weak)
    array = np.ones(1, dtype)
    assert found.dtype == (array + number).dtype or dtype.itemsize < 4  # NumPy computes int8 + 0.5 as float16
    assert not found.weak


def test_every_operator_has_a_rule_and_a_meaning():
    for op, kind in OPERATORS.items():
        if kind in ("cast", "lookup"):
            continue
        one, truth = Expr("weight"), build("lt", WEIGHT, const(1))
        arity = {"where": 3}.get(op, 1 if op in _UNARY else 2)
        args = (truth, one, one) if op == "where" else (one,) * arity
        dtype = np.int64 if kind in ("bits", "shift") else np.float64
        assert evaluate(Expr(op, args), typing(dtype), lambda node: 1) is not None


_UNARY = {"neg", "abs", "invert", "floor", "ceil", "isnan", "isfinite", "sqrt", "exp", "expm1", "log", "log1p"}
_UNARY |= {"sin", "cos", "tan", "tanh", "arctan"}


def test_nan_never_wins_a_minimum():
    nan = const(float("nan"))
    assert evaluate(Expr("min", (WEIGHT, nan)), typing(), lambda node: 2.0) == 2.0
    assert evaluate(Expr("max", (WEIGHT, nan)), typing(), lambda node: 2.0) == 2.0


@pytest.mark.parametrize("dtype", [d for d in FIELD_DTYPES if d.kind != "b"], ids=str)
def test_identities_change_nothing(dtype):
    for value in (0, 1, 100):
        x = dtype.type(value)
        assert min(MIN.identity(dtype), x) == x
        assert max(MAX.identity(dtype), x) == x
        assert SUM.identity(dtype) + x == x
