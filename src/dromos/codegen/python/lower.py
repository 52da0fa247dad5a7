"""Expressions as Python text for the compiler: one small function per operator, in a table.

The compiler widens integers (``int32 + int32`` is ``int64``), so every result is cast back to its inferred type. Cases
that NumPy defines but a processor does not (shifts past the width, the lowest integer over -1) are written out. 64-bit
integers are added as unsigned: LLVM is told that signed ones never overflow, and simplifies ``a + b > b`` to ``a > 0``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dromos.codegen.lowering import Lowered
from dromos.program.expr import Expr
from dromos.program.types import Signature, Typing

__all__ = ["bare", "cast", "literal", "lower"]


def literal(value: Any, dtype: np.dtype[Any]) -> str:
    """A number of exactly ``dtype`` as text.

    >>> literal(1, np.dtype(np.int32)), literal(float("inf"), np.dtype(np.float64)), literal(2, np.dtype(np.int64))
    ('np.int32(1)', 'np.inf', '2')
    """
    if dtype.kind == "b":
        return repr(bool(value))
    if dtype.kind in "iu":
        text = repr(int(value))
        return text if dtype == np.int64 and int(value) != -(2**63) else f"np.{dtype.name}({text})"
    number = float(value)
    text = repr(number) if math.isfinite(number) else "np.nan" if math.isnan(number) else f"{'-' * (number < 0)}np.inf"
    return text if dtype == np.float64 else f"np.{dtype.name}({text})"


def cast(text: str, dtype: np.dtype[Any], source: np.dtype[Any] | None = None) -> str:
    """``text`` converted to ``dtype``; unchanged if it is known to have that type."""
    if source == dtype:
        return text
    if source is not None and source.kind == "f" and dtype.kind in "iu":
        return _whole(text, dtype)
    return f"({text} != 0)" if dtype.kind == "b" else f"np.{dtype.name}({bare(text)})"


def _whole(text: str, dtype: np.dtype[Any]) -> str:
    """A float as an integer: clamped to the range of the type, and 0 for NaN, whatever the processor would do."""
    ends = np.iinfo(dtype)
    low, high = float(ends.min), 2.0 ** (ends.bits - (dtype.kind == "i"))
    least, most, zero = (literal(value, dtype) for value in (ends.min, ends.max, 0))
    inside = f"np.{dtype.name}({bare(text)}) if {low!r} < {text} < {high!r}"
    return f"({inside} else {most} if {text} >= {high!r} else {least} if {text} <= {low!r} else {zero})"


def bare(text: str) -> str:
    """``text`` without enclosing parentheses."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1]


Emit = Callable[[Signature, Sequence[str]], str]


def _infix(symbol: str) -> Emit:
    return lambda s, a: cast(f"({a[0]} {symbol} {a[1]})", s.result.dtype, _natural(s))


def _wrapping(symbol: str) -> Emit:
    """An operator that wraps around; narrower integers fit into 64 bits until they are cast back."""
    plain = _infix(symbol)

    def emit(s: Signature, a: Sequence[str]) -> str:
        if s.operands[0] != np.int64:
            return plain(s, a)
        return f"np.int64(np.uint64({bare(a[0])}) {symbol} np.uint64({bare(a[1])}))"

    return emit


def _negative(s: Signature, a: Sequence[str]) -> str:
    wrapped = f"np.int64(np.uint64(0) - np.uint64({bare(a[0])}))"
    return wrapped if s.operands[0] == np.int64 else cast(f"(-{a[0]})", s.result.dtype)


def _compare(symbol: str) -> Emit:
    return lambda s, a: f"({a[0]} {symbol} {a[1]})"


def _call(function: str) -> Emit:
    return lambda s, a: cast(f"{function}({', '.join(a)})", s.result.dtype, _natural(s))


def _natural(s: Signature) -> np.dtype[Any] | None:
    """The type that the compiler infers for a result, if it is certainly the inferred one."""
    dtype = s.operands[0]
    return dtype if dtype in (np.float64, np.float32, np.int64, np.uint64) else None


def _divide(symbol: str) -> Emit:
    """// and %. Integers: NumPy's 0 for a zero divisor, and no trap for the lowest integer over -1."""

    def emit(s: Signature, a: Sequence[str]) -> str:
        dtype = s.result.dtype
        if dtype.kind == "f":
            return cast(f"np.floor({a[0]} / {a[1]})" if symbol == "//" else f"np.remainder({a[0]}, {a[1]})", dtype)
        zero, one = literal(0, dtype), literal(1, dtype)
        safe = f"({a[0]} {symbol} ({a[1]} if {a[1]} != {zero} else {one}))"
        if dtype.kind == "i":
            minus = literal(-1, dtype)
            by_minus_one = f"(-{a[0]})" if symbol == "//" else zero
            safe = f"({by_minus_one} if {a[1]} == {minus} else {safe})"
        return cast(f"({zero} if {a[1]} == {zero} else {safe})", dtype)

    return emit


def _invert(s: Signature, a: Sequence[str]) -> str:
    return f"(not {a[0]})" if s.result.dtype.kind == "b" else cast(f"(~{a[0]})", s.result.dtype)


def _shift(symbol: str) -> Emit:
    """Shifts by the width or more give 0, or the sign; so does a negative count."""

    def emit(s: Signature, a: Sequence[str]) -> str:
        dtype = s.result.dtype
        bits = dtype.itemsize * 8
        inside = f"{a[1]} < {literal(bits, dtype)}" + (
            f" and {a[1]} >= {literal(0, dtype)}" if dtype.kind == "i" else ""
        )
        if symbol == ">>" and dtype.kind == "i":
            return cast(f"({a[0]} >> ({a[1]} if {inside} else {literal(bits - 1, dtype)}))", dtype)
        shifted = cast(f"({a[0]} {symbol} ({a[1]} if {inside} else {literal(0, dtype)}))", dtype)
        return f"({shifted} if {inside} else {literal(0, dtype)})"

    return emit


def _round(function: str) -> Emit:
    return lambda s, a: a[0] if s.result.dtype.kind in "iu" else cast(f"np.{function}({a[0]})", s.result.dtype)


LOWERING: Final[Mapping[str, Emit]] = {
    **{op: _wrapping(symbol) for op, symbol in {"add": "+", "sub": "-", "mul": "*"}.items()},
    **{op: _infix(symbol) for op, symbol in {"truediv": "/", "pow": "**", "and": "&", "or": "|", "xor": "^"}.items()},
    **{op: _divide(symbol) for op, symbol in {"floordiv": "//", "mod": "%"}.items()},
    **{op: _shift(symbol) for op, symbol in {"lshift": "<<", "rshift": ">>"}.items()},
    **{op: _compare(symbol) for op, symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items()},
    **{op: _compare(symbol) for op, symbol in {"eq": "==", "ne": "!="}.items()},
    "neg": _negative,
    "abs": lambda s, a: a[0] if s.result.dtype.kind == "u" else cast(f"abs({a[0]})", s.result.dtype),
    "min": lambda s, a: f"({a[1]} if {a[1]} < {a[0]} else {a[0]})",
    "max": lambda s, a: f"({a[1]} if {a[1]} > {a[0]} else {a[0]})",
    "invert": _invert,
    "where": lambda s, a: f"({a[1]} if {a[0]} else {a[2]})",
    **{op: _call(f"np.{op}") for op in ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "arctan")},
    **{op: _round(op) for op in ("floor", "ceil")},
    "isnan": lambda s, a: f"np.isnan({a[0]})",
    "isfinite": lambda s, a: f"np.isfinite({a[0]})",
}


def _row(node: Expr, s: Signature, a: Sequence[str]) -> str:
    """A vertex's value by its id; 0 for an id that is not a vertex."""
    component, size = node.attr
    entry = f"{a[0]}[np.uintp({a[1]})" + ("]" if size is None else f", {component}]")
    return f"({entry} if 0 <= {a[1]} and {a[1]} < {a[2]} else {literal(0, s.result.dtype)})"


class _PythonLowered(Lowered):
    """Lowers expressions to Python."""

    repeating = frozenset({"min", "max", "lshift", "rshift", "floordiv", "mod", "cast", "at"})

    def assign(self, local: str, node: Expr, text: str) -> str:
        return f"{local} = {bare(text)}"

    def apply(self, node: Expr, signature: Signature, arguments: Sequence[str]) -> str:
        if node.op == "at":
            return _row(node, signature, arguments)
        return LOWERING[node.op](signature, arguments)

    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        return literal(value, dtype)

    def cast(self, text: str, dtype: np.dtype[Any], source: np.dtype[Any]) -> str:
        return cast(text, dtype, source)


def lower(
    roots: Sequence[Expr], dtypes: Sequence[np.dtype[Any]], typing: Typing, name: Callable[[Expr], str]
) -> tuple[list[str], list[str]]:
    """Statements, and the text of each of ``roots`` in its requested type; ``name`` names the symbols.

    >>> from dromos.program.expr import build, const
    >>> from dromos.program.types import GraphTypes
    >>> typing = Typing(GraphTypes(weight=np.dtype(np.int32)), lambda node, _: ...)
    >>> double = build("add", Expr("weight"), Expr("weight"))
    >>> lower([build("mul", double, double)], [np.dtype(np.int32)], typing, lambda node: node.op)
    (['t0 = np.int32(weight + weight)'], ['np.int32(t0 * t0)'])
    """
    lowered = _PythonLowered(typing, name)
    lowered.add(roots)
    return lowered.statements, [bare(lowered.typed(root, dtype)) for root, dtype in zip(roots, dtypes, strict=True)]
