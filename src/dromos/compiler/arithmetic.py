"""Operators on numbers, with the types of :mod:`dromos.compiler.scalars`."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from dromos.compiler.scalars import compared, computed, is_float, is_signed, llvm_type, shifted
from dromos.compiler.values import LoweringError, Scalar, constant
from dromos.compiler.writer import Writer

__all__ = ["binary", "compare", "unary"]

_ARITHMETIC: Final[Mapping[type[ast.operator], str]] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_BITWISE: Final[Mapping[type[ast.operator], str]] = {ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"}
_COMPARISONS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip


def binary(writer: Writer, op: type[ast.operator], left: Scalar, right: Scalar) -> Scalar:
    """``left op right``."""
    a, b = left.kind, right.kind
    if op in _ARITHMETIC:
        kind, name = computed(a, b), _ARITHMETIC[op]
        # LLVM is told that signed integers do not overflow
        how = f"f{name}" if is_float(kind) else f"{name} nsw" if kind == "i64" else name
        return _apply(writer, how, kind, left, right)
    if op is ast.Div:
        kind = computed(a, b) if is_float(a) or is_float(b) else "f64"
        return _apply(writer, "fdiv", kind, left, right)
    if op in (ast.LShift, ast.RShift) and not is_float(a) and not is_float(b):
        kind = shifted(a)
        how = "shl" if op is ast.LShift else "ashr" if kind == "i64" else "lshr"
        return _apply(writer, how, kind, left, right)
    if op in _BITWISE and not is_float(a) and not is_float(b):
        return _apply(writer, _BITWISE[op], "b" if a == b == "b" else computed(a, b), left, right)
    if op in (ast.FloorDiv, ast.Mod) and not is_float(a) and not is_float(b):
        return _divided(writer, op is ast.FloorDiv, left, right)
    if op is ast.Pow and (is_float(a) or is_float(b)):
        return _power(writer, computed(a, b), left, right)
    if op is ast.Mod:
        return _rest_of_floats(writer, left, right)
    raise LoweringError(f"no {op.__name__} of {a} and {b}")


def _apply(writer: Writer, how: str, kind: str, left: Scalar, right: Scalar) -> Scalar:
    a, b = writer.cast(left, kind), writer.cast(right, kind)
    return writer.new(kind, f"{how} {llvm_type(kind)} {a.text}, {b.text}")


def _divided(writer: Writer, quotient: bool, left: Scalar, right: Scalar) -> Scalar:
    """The floored quotient or the remainder: 0 for a zero divisor, and no trap for the lowest integer over -1."""
    kind = computed(left.kind, right.kind)
    x, y = writer.cast(left, kind), writer.cast(right, kind)
    if y.constant is not None and y.constant > 0:
        return _by_positive(writer, quotient, kind, x, y.text)
    zero = writer.register(f"icmp eq i64 {y.text}, 0")
    if kind == "u64":
        safe = writer.register(f"select i1 {zero}, i64 1, i64 {y.text}")
        result = _by_positive(writer, quotient, kind, x, safe)
        return writer.new(kind, f"select i1 {zero}, i64 0, i64 {result.text}")
    lowest = writer.register(f"icmp eq i64 {x.text}, {-(1 << 63)}")
    minus = writer.register(f"icmp eq i64 {y.text}, -1")
    overflow = writer.register(f"and i1 {lowest}, {minus}")
    bad = writer.register(f"or i1 {zero}, {overflow}")
    safe = writer.register(f"select i1 {bad}, i64 1, i64 {y.text}")
    floor, rest = _floored(writer, x.text, safe)
    if quotient:  # the lowest integer over -1 is itself
        return writer.new(kind, f"select i1 {zero}, i64 0, i64 {floor}")
    return writer.new(kind, f"select i1 {bad}, i64 0, i64 {rest}")


def _power(writer: Writer, kind: str, left: Scalar, right: Scalar) -> Scalar:
    real = llvm_type(kind)
    function = writer.declare(f"llvm.pow.{kind}", real, real, real)
    base, exponent = writer.cast(left, kind).text, writer.cast(right, kind).text
    return writer.new(kind, f"call {real} {function}({real} {base}, {real} {exponent})")


def _rest_of_floats(writer: Writer, left: Scalar, right: Scalar) -> Scalar:
    """The remainder with the divisor's sign, as in Python; NaN for a zero divisor."""
    kind = computed(left.kind, right.kind)
    real, divisor = llvm_type(kind), writer.cast(right, kind).text
    rest = _apply(writer, "frem", kind, left, right).text
    below, above = (writer.register(f"fcmp olt {real} {part}, 0.0") for part in (rest, divisor))
    differ = writer.register(f"xor i1 {below}, {above}")
    some = writer.register(f"fcmp one {real} {rest}, 0.0")
    corrected = writer.register(f"and i1 {some}, {differ}")
    higher = writer.register(f"fadd {real} {rest}, {divisor}")
    sign = writer.declare(f"llvm.copysign.{kind}", real, real, real)
    nothing = writer.register(f"call {real} {sign}({real} 0.0, {real} {divisor})")
    zero = writer.register(f"fcmp oeq {real} {rest}, 0.0")
    rest = writer.register(f"select i1 {zero}, {real} {nothing}, {real} {rest}")
    return writer.new(kind, f"select i1 {corrected}, {real} {higher}, {real} {rest}")


def _by_positive(writer: Writer, quotient: bool, kind: str, x: Scalar, divisor: str) -> Scalar:
    if kind == "u64":
        return writer.new(kind, f"{'udiv' if quotient else 'urem'} i64 {x.text}, {divisor}")
    return Scalar(kind, _floored(writer, x.text, divisor)[0 if quotient else 1])


def _floored(writer: Writer, x: str, y: str) -> tuple[str, str]:
    quotient, rest = writer.register(f"sdiv i64 {x}, {y}"), writer.register(f"srem i64 {x}, {y}")
    signs = writer.register(f"xor i64 {y}, {rest}")
    differ = writer.register(f"icmp slt i64 {signs}, 0")
    some = writer.register(f"icmp ne i64 {rest}, 0")
    corrected = writer.register(f"and i1 {some}, {differ}")
    lower, higher = writer.register(f"sub i64 {quotient}, 1"), writer.register(f"add i64 {rest}, {y}")
    return (
        writer.register(f"select i1 {corrected}, i64 {lower}, i64 {quotient}"),
        writer.register(f"select i1 {corrected}, i64 {higher}, i64 {rest}"),
    )


def unary(writer: Writer, op: type[ast.unaryop], value: Scalar) -> Scalar:
    """``op value``, without ``not``."""
    if op is ast.UAdd and value.kind != "b":
        return writer.cast(value, value.kind if is_float(value.kind) else computed(value.kind, value.kind))
    if op is ast.USub:
        if value.constant is not None and value.kind in ("i64", "f64"):
            return constant(value.kind, -value.constant)
        if is_float(value.kind):
            return writer.new(value.kind, f"fneg {llvm_type(value.kind)} {value.text}")
        if value.kind != "b":
            return _then_widened(writer, f"sub {llvm_type(value.kind)} 0, {value.text}", value.kind)
    if op is ast.Invert and not is_float(value.kind):
        if value.kind == "b":
            return writer.new("b", f"xor i1 {value.text}, true")
        return _then_widened(writer, f"xor {llvm_type(value.kind)} {value.text}, -1", value.kind)
    raise LoweringError(f"no {op.__name__} of {value.kind}")


def _then_widened(writer: Writer, text: str, kind: str) -> Scalar:
    """Compute in the given type, and widen the result."""
    return writer.cast(writer.new(kind, text), computed(kind, kind))


def compare(writer: Writer, op: type[ast.cmpop], left: Scalar, right: Scalar) -> Scalar:
    """``left op right``."""
    if op not in _COMPARISONS:
        raise LoweringError(f"no {op.__name__}")
    kind, name = compared(left.kind, right.kind), _COMPARISONS[op]
    a, b = writer.cast(left, kind), writer.cast(right, kind)
    if is_float(kind):
        how = f"fcmp {'une' if name == 'ne' else f'o{name}'}"
    elif name in ("eq", "ne"):
        how = f"icmp {name}"
    else:
        how = f"icmp {'s' if is_signed(kind) and kind != 'b' else 'u'}{name}"
    return writer.new("b", f"{how} {llvm_type(kind)} {a.text}, {b.text}")
