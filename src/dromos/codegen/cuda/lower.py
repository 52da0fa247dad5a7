"""Expressions as CUDA C++ text: one small function per operator, in a table.

C++ promotes narrow integers and leaves overflow undefined. The functions in ``arithmetic.cuh`` wrap around and return
exactly the type of their first argument, so that every processor computes the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dromos.codegen.lowering import Lowered
from dromos.program.expr import Expr
from dromos.program.types import Signature, Typing

__all__ = ["C_NAMES", "c_literal", "lower"]

C_NAMES: Final[Mapping[np.dtype[Any], str]] = {
    np.dtype(dtype): name
    for dtype, name in {
        np.bool_: "bool",
        np.int8: "signed char",
        np.int16: "short",
        np.int32: "int",
        np.int64: "i64",
        np.uint8: "unsigned char",
        np.uint32: "unsigned",
        np.uint64: "u64",
        np.float32: "float",
        np.float64: "double",
    }.items()
}


def c_literal(value: Any, dtype: np.dtype[Any]) -> str:
    """A number of exactly ``dtype`` as text.

    >>> [c_literal(value, np.dtype(dtype)) for value, dtype in ((1, np.int32), (np.inf, np.float64), (2, np.int64))]
    ['1', 'INFINITE(double)', '2LL']
    """
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "i":
        number = int(value)
        lowest = -(2 ** (8 * dtype.itemsize - 1))
        suffix = "LL" if dtype.itemsize == 8 else ""
        text = f"({number + 1}{suffix} - 1{suffix})" if number == lowest else f"{number}{suffix}"
        return text if dtype.itemsize >= 4 else f"({C_NAMES[dtype]}){text}"
    if dtype.kind == "u":
        return f"{int(value)}{'ULL' if dtype.itemsize == 8 else 'U'}"
    number_ = float(value)
    if math.isnan(number_):
        return f"NOT_A_NUMBER({C_NAMES[dtype]})"
    if math.isinf(number_):
        return f"{'-' * (number_ < 0)}INFINITE({C_NAMES[dtype]})"
    return repr(number_) + ("f" if dtype == np.float32 else "")


def _cast(text: str, dtype: np.dtype[Any], source: np.dtype[Any] | None = None) -> str:
    """``text`` converted to ``dtype``; unchanged if it is known to have that type."""
    if source == dtype:
        return text
    return f"({text} != 0)" if dtype.kind == "b" else f"convert<{C_NAMES[dtype]}>({text})"


Emit = Callable[[Signature, Sequence[str]], str]


def _infix(symbol: str, wrapping: str) -> Emit:
    """An operator for floats; for integers the function that wraps around."""
    return lambda s, a: f"({a[0]} {symbol} {a[1]})" if s.result.dtype.kind == "f" else f"{wrapping}({a[0]}, {a[1]})"


def _plain(symbol: str) -> Emit:
    return lambda s, a: f"({a[0]} {symbol} {a[1]})"


def _bits(symbol: str) -> Emit:
    return lambda s, a: f"({C_NAMES[s.result.dtype]})({a[0]} {symbol} {a[1]})"


def _call(function: str) -> Emit:
    return lambda s, a: f"{function}({', '.join(a)})"


def _math(function: str) -> Emit:
    """A function of the math library, in the precision of its argument."""
    return lambda s, a: f"{function}{'f' if s.result.dtype == np.float32 else ''}({', '.join(a)})"


def _round(function: str) -> Emit:
    rounded = _math(function)
    return lambda s, a: a[0] if s.result.dtype.kind in "iu" else rounded(s, a)


_FUNCTIONS = {"arctan": "atan"}
_LOWERING: Final[Mapping[str, Emit]] = {
    "add": _infix("+", "wrap_add"),
    "sub": _infix("-", "wrap_sub"),
    "mul": _infix("*", "wrap_mul"),
    "truediv": _plain("/"),
    "pow": lambda s, a: _math("pow")(s, a) if s.result.dtype.kind == "f" else f"integer_power({a[0]}, {a[1]})",
    **{op: _bits(symbol) for op, symbol in {"and": "&", "or": "|", "xor": "^"}.items()},
    **{op: _call(name) for op, name in {"floordiv": "floor_divide", "mod": "floor_modulo"}.items()},
    **{op: _call(name) for op, name in {"lshift": "shift_left", "rshift": "shift_right"}.items()},
    **{op: _plain(symbol) for op, symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items()},
    **{op: _plain(symbol) for op, symbol in {"eq": "==", "ne": "!="}.items()},
    "neg": lambda s, a: f"(-{a[0]})" if s.result.dtype.kind == "f" else f"wrap_neg({a[0]})",
    "abs": _call("absolute"),
    "min": _call("lesser"),
    "max": _call("greater"),
    "invert": lambda s, a: f"(!{a[0]})" if s.result.dtype.kind == "b" else f"({C_NAMES[s.result.dtype]})(~{a[0]})",
    "where": lambda s, a: f"({a[0]} ? {a[1]} : {a[2]})",
    **{
        op: _math(_FUNCTIONS.get(op, op))
        for op in ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "arctan")
    },
    **{op: _round(op) for op in ("floor", "ceil")},
    "isnan": lambda s, a: f"({a[0]} != {a[0]})",
    "isfinite": lambda s, a: f"is_finite({a[0]})",
}


def _row(node: Expr, s: Signature, a: Sequence[str]) -> str:
    """A vertex's value by its id; 0 for an id that is not a vertex."""
    component, size = node.attr
    place = a[1] if size is None else f"{a[1]} * {size} + {component}"
    return f"(0 <= {a[1]} && {a[1]} < {a[2]} ? {a[0]}[{place}] : {c_literal(0, s.result.dtype)})"


class _CudaLowered(Lowered):
    """Lowers expressions to C++."""

    repeating = frozenset({"isnan", "at"})

    def assign(self, local: str, node: Expr, text: str) -> str:
        return f"const {C_NAMES[self.typing.of(node).dtype]} {local} = {text};"

    def apply(self, node: Expr, signature: Signature, arguments: Sequence[str]) -> str:
        if node.op == "at":
            return _row(node, signature, arguments)
        return _LOWERING[node.op](signature, arguments)

    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        return c_literal(value, dtype)

    def cast(self, text: str, dtype: np.dtype[Any], source: np.dtype[Any]) -> str:
        return _cast(text, dtype, source)


def lower(
    roots: Sequence[Expr], dtypes: Sequence[np.dtype[Any]], typing: Typing, name: Callable[[Expr], str]
) -> tuple[list[str], list[str]]:
    """Statements, and the text of each of ``roots`` in its requested type; ``name`` names the symbols.

    >>> from dromos.program.expr import build
    >>> from dromos.program.types import GraphTypes
    >>> typing = Typing(GraphTypes(weight=np.dtype(np.int32)), lambda node, _: ...)
    >>> double = build("add", Expr("weight"), Expr("weight"))
    >>> lower([build("mul", double, double)], [np.dtype(np.int32)], typing, lambda node: node.op)
    (['const int t0 = wrap_add(weight, weight);'], ['wrap_mul(t0, t0)'])
    """
    lowered = _CudaLowered(typing, name)
    lowered.add(roots)
    return lowered.statements, [lowered.typed(root, dtype) for root, dtype in zip(roots, dtypes, strict=True)]
