"""What kernels call beside their own functions: intrinsics, conversions, ``min`` and ``max``, functions of NumPy."""

from __future__ import annotations

import builtins
import math
import platform
from functools import cache
from typing import Any, Final

import numpy as np

from dromos.compiler.atomics import (
    Handler,
    compare_and_swap,
    exchange,
    load_unaligned,
    number,
    ordered_load,
    ordered_store,
    plain_load,
    plain_store,
    prefetch,
)
from dromos.compiler.scalars import Kind, is_float, llvm_type, unified
from dromos.compiler.values import LoweringError, Value, constant
from dromos.compiler.writer import Writer

__all__ = ["handlers"]

# ---- the system ----------------------------------------------------------------------------------------------------


def _spin_hint(writer: Writer, args: list[Value]) -> None:
    machine = platform.machine().lower()
    if machine in ("aarch64", "arm64"):
        writer.lines.append(f"call void {writer.declare('llvm.aarch64.isb', 'void', 'i32')}(i32 15)")
    elif machine in ("x86_64", "amd64"):
        writer.lines.append(f"call void {writer.declare('llvm.x86.sse2.pause', 'void')}()")


def _sched_yield(writer: Writer, args: list[Value]) -> None:
    writer.register(f"call i32 {writer.declare('sched_yield', 'i32')}()")


def _nanoseconds(writer: Writer, args: list[Value]) -> Value:
    monotonic = 6 if platform.system() == "Darwin" else 1
    writer.count += 1
    moment = f"%moment{writer.count}"
    writer.entry.append(f"{moment} = alloca {{ i64, i64 }}")
    function = writer.declare("clock_gettime", "i32", "i32", "ptr")
    writer.register(f"call i32 {function}(i32 {monotonic}, ptr {moment})")
    seconds = writer.register(f"load i64, ptr {moment}")
    place = writer.register(f"getelementptr {{ i64, i64 }}, ptr {moment}, i32 0, i32 1")
    rest = writer.register(f"load i64, ptr {place}")
    whole = writer.register(f"mul i64 {seconds}, 1000000000")
    return writer.new("i64", f"add i64 {whole}, {rest}")


# ---- numbers -------------------------------------------------------------------------------------------------------


def _of_word(name: str, *more: str) -> Handler:
    def handle(writer: Writer, args: list[Value]) -> Value:
        value = writer.cast(number(args[0]), "u64")
        takes = ("i64", *(flag.split()[0] for flag in more))
        function = writer.declare(name, "i64", *takes)
        return writer.new("u64", f"call i64 {function}({', '.join((f'i64 {value.text}', *more))})")

    return handle


def _conversion(kind: Kind) -> Handler:
    def handle(writer: Writer, args: list[Value]) -> Value:
        (value,) = args
        return writer.cast(number(value), kind)

    return handle


def _extreme(name: str) -> Handler:
    def handle(writer: Writer, args: list[Value]) -> Value:
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


def _absolute(writer: Writer, args: list[Value]) -> Value:
    value = number(args[0])
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
    """A function of one float: an intrinsic of LLVM's, or one of the C library."""

    def handle(writer: Writer, args: list[Value]) -> Value:
        (given,) = args
        value = number(given)
        if not is_float(value.kind):
            raise LoweringError("a function of floats is given a whole number")
        real = llvm_type(value.kind)
        name = f"{intrinsic}.{value.kind}" if intrinsic else library + ("f" if value.kind == "f32" else "")
        return writer.new(value.kind, f"call {real} {writer.declare(name, real, real)}({real} {value.text})")

    return handle


def _is_nan(writer: Writer, args: list[Value]) -> Value:
    value = number(args[0])
    if not is_float(value.kind):
        return constant("b", False)
    return writer.new("b", f"fcmp uno {llvm_type(value.kind)} {value.text}, {value.text}")


def _is_finite(writer: Writer, args: list[Value]) -> Value:
    value = number(args[0])
    if not is_float(value.kind):
        return constant("b", True)
    size = _absolute(writer, [value])
    infinity = constant(value.kind, math.inf).text
    return writer.new("b", f"fcmp olt {llvm_type(value.kind)} {number(size).text}, {infinity}")


_TYPES: Final = {
    **{np.dtype(f"{s}int{w}").type: f"{'u' if s else 'i'}{w}" for s in ("", "u") for w in (8, 16, 32, 64)},
    np.float32: "f32", np.float64: "f64", np.bool_: "b", bool: "b", float: "f64",
}  # fmt: skip
_REAL: Final = {
    "sqrt": "llvm.sqrt", "exp": "llvm.exp", "log": "llvm.log", "sin": "llvm.sin", "cos": "llvm.cos",
    "floor": "llvm.floor", "ceil": "llvm.ceil",
}  # fmt: skip
_LIBRARY: Final = {"expm1": "expm1", "log1p": "log1p", "tan": "tan", "tanh": "tanh", "arctan": "atan"}


@cache
def handlers() -> dict[int, tuple[Any, Handler]]:
    """What writes a call, by the identity of the function that is called."""
    from dromos import intrinsics as own

    found: list[tuple[Any, Handler]] = [
        (own.load, plain_load), (own.store, plain_store), (own.load_unaligned, load_unaligned),
        (own.load_unordered, ordered_load("unordered")), (own.load_relaxed, ordered_load("monotonic")),
        (own.load_acquire, ordered_load("acquire")), (own.store_relaxed, ordered_store("monotonic")),
        (own.store_release, ordered_store("release")), (own.atomic_add, exchange("add")),
        (own.atomic_min, exchange("min")), (own.atomic_max, exchange("max")), (own.atomic_or, exchange("or")),
        (own.atomic_and, exchange("and")), (own.atomic_swap, exchange("xchg")),
        (own.atomic_swap_acq_rel, exchange("xchg", "acq_rel")), (own.compare_and_swap, compare_and_swap("acq_rel")),
        (own.compare_and_swap_relaxed, compare_and_swap("monotonic")), (own.prefetch, prefetch(0)),
        (own.prefetch_to_write, prefetch(1)), (own.spin_hint, _spin_hint), (own.sched_yield, _sched_yield),
        (own.nanoseconds, _nanoseconds), (own.trailing_zeros, _of_word("llvm.cttz.i64", "i1 false")),
        (own.count_bits, _of_word("llvm.ctpop.i64")), (builtins.min, _extreme("lt")),
        (builtins.max, _extreme("gt")), (builtins.abs, _absolute), (np.abs, _absolute),
        (np.isnan, _is_nan), (np.isfinite, _is_finite),
        *((kind, _conversion(name)) for kind, name in _TYPES.items()),
        *((getattr(np, name), _real_function(intrinsic, "")) for name, intrinsic in _REAL.items()),
        *((getattr(np, name), _real_function("", function)) for name, function in _LIBRARY.items()),
    ]  # fmt: skip
    return {id(function): (function, handler) for function, handler in found}
