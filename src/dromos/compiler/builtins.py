"""Functions of Python and NumPy that kernels may call: conversions, ``min`` and ``max``, functions of numbers."""

from __future__ import annotations

import ast
import builtins
import math
from functools import cache
from typing import Any, Final

import numpy as np

from dromos.compiler.arithmetic import binary
from dromos.compiler.atomics import (
    Handler,
    number,
)
from dromos.compiler.scalars import Kind, is_float, llvm_type, unified
from dromos.compiler.values import LoweringError, Value, constant
from dromos.compiler.writer import Writer

__all__ = ["handlers"]

# ---- numbers -------------------------------------------------------------------------------------------------------


def _conversion(kind: Kind) -> Handler:
    def handle(writer: Writer, value: Value) -> Value:
        return writer.cast(number(value), kind)

    return handle


def _whole(writer: Writer, given: Value) -> Value:
    """``int(x)``: truncates toward zero; a whole number keeps its type."""
    value = number(given)
    return value if value.kind[0] in "iu" else writer.cast(value, "i64")


def _extreme(name: str) -> Handler:
    def handle(writer: Writer, *args: Value) -> Value:
        numbers = [number(value) for value in args]
        if len(numbers) < 2:
            raise LoweringError("the extreme of a sequence")
        best = numbers[0]
        for other in numbers[1:]:
            kind = unified(best.kind, other.kind)
            a, b = writer.cast(best, kind), writer.cast(other, kind)
            how = f"fcmp o{name}" if is_float(kind) else f"icmp {'s' if kind[0] == 'i' else 'u'}{name}"
            test = writer.register(f"{how} {llvm_type(kind)} {b.text}, {a.text}")
            best = writer.new(kind, f"select i1 {test}, {llvm_type(kind)} {b.text}, {llvm_type(kind)} {a.text}")
        return best

    return handle


def _absolute(writer: Writer, given: Value) -> Value:
    value = number(given)
    kind, real = value.kind, llvm_type(value.kind)
    if kind == "b":
        raise LoweringError("the absolute value of a truth")
    if is_float(kind):
        return writer.new(kind, f"call {real} {writer.declare(f'llvm.fabs.{kind}', real, real)}({real} {value.text})")
    if kind[0] == "u":
        return value
    below = writer.register(f"icmp slt {real} {value.text}, 0")
    negative = writer.register(f"sub {real} 0, {value.text}")
    return writer.new(kind, f"select i1 {below}, {real} {negative}, {real} {value.text}")


def _real_function(intrinsic: str, library: str) -> Handler:
    """A function of one float: an LLVM intrinsic, or a function of the C library."""

    def handle(writer: Writer, given: Value) -> Value:
        value = number(given)
        if not is_float(value.kind):
            raise LoweringError("a function of floats is given a whole number")
        real = llvm_type(value.kind)
        name = f"{intrinsic}.{value.kind}" if intrinsic else library + ("f" if value.kind == "f32" else "")
        return writer.new(value.kind, f"call {real} {writer.declare(name, real, real)}({real} {value.text})")

    return handle


def _is_nan(writer: Writer, given: Value) -> Value:
    value = number(given)
    if not is_float(value.kind):
        return constant("b", False)
    return writer.new("b", f"fcmp uno {llvm_type(value.kind)} {value.text}, {value.text}")


def _is_finite(writer: Writer, given: Value) -> Value:
    value = number(given)
    if not is_float(value.kind):
        return constant("b", True)
    size = _absolute(writer, value)
    infinity = constant(value.kind, math.inf).text
    return writer.new("b", f"fcmp olt {llvm_type(value.kind)} {number(size).text}, {infinity}")


def _sign_bit(writer: Writer, given: Value) -> Value:
    value = number(given)
    if not is_float(value.kind):
        raise LoweringError("the sign bit of a whole number")
    word = f"i{value.kind[1:]}"
    bits = writer.register(f"bitcast {llvm_type(value.kind)} {value.text} to {word}")
    return writer.new("b", f"icmp slt {word} {bits}, 0")


def _remainder(writer: Writer, left: Value, right: Value) -> Value:
    return binary(writer, ast.Mod, number(left), number(right))


_TYPES: Final = {
    **{np.dtype(f"{s}int{w}").type: f"{'u' if s else 'i'}{w}" for s in ("", "u") for w in (8, 16, 32, 64)},
    np.float32: "f32", np.float64: "f64", np.bool_: "b", bool: "b", float: "f64",
}  # fmt: skip
_REAL: Final = {
    "sqrt": "llvm.sqrt", "exp": "llvm.exp", "log": "llvm.log", "sin": "llvm.sin", "cos": "llvm.cos",
    "floor": "llvm.floor", "ceil": "llvm.ceil", "rint": "llvm.rint",
}  # fmt: skip
_LIBRARY: Final = {"expm1": "expm1", "log1p": "log1p", "tan": "tan", "tanh": "tanh", "arctan": "atan"}


@cache
def handlers() -> dict[int, tuple[Any, Handler]]:
    """The handler that writes a call, by the identity of the called function."""
    found: list[tuple[Any, Handler]] = [
        (builtins.min, _extreme("lt")),
        (builtins.max, _extreme("gt")), (builtins.abs, _absolute), (builtins.int, _whole), (np.abs, _absolute),
        (np.isnan, _is_nan), (np.isfinite, _is_finite), (np.signbit, _sign_bit), (np.remainder, _remainder),
        *((kind, _conversion(name)) for kind, name in _TYPES.items()),
        *((getattr(np, name), _real_function(intrinsic, "")) for name, intrinsic in _REAL.items()),
        *((getattr(np, name), _real_function("", function)) for name, function in _LIBRARY.items()),
    ]  # fmt: skip
    return {id(function): (function, handler) for function, handler in found}
