"""Intrinsics for system calls and for single instructions."""

from __future__ import annotations

import platform

from dromos.compiler.atomics import Handler, number
from dromos.compiler.values import Scalar, Value
from dromos.compiler.writer import Writer

__all__ = ["full_fence", "nanoseconds", "of_word", "sched_yield", "spin_hint"]


def spin_hint(writer: Writer) -> None:
    """``isb`` on ARM, where ``yield`` does nothing; ``pause`` on x86."""
    machine = platform.machine().lower()
    if machine in ("aarch64", "arm64"):
        writer.lines.append(f"call void {writer.declare('llvm.aarch64.isb', 'void', 'i32')}(i32 15)")
    elif machine in ("x86_64", "amd64"):
        writer.lines.append(f"call void {writer.declare('llvm.x86.sse2.pause', 'void')}()")


def full_fence(writer: Writer) -> None:
    """``dmb ish`` on ARM, ``mfence`` or the like on x86."""
    writer.lines.append("fence seq_cst")


def sched_yield(writer: Writer) -> None:
    """The C library's function."""
    writer.register(f"call i32 {writer.declare('sched_yield', 'i32')}()")


def nanoseconds(writer: Writer) -> Scalar:
    """The monotonic clock of the C library."""
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


def of_word(name: str, *more: str) -> Handler:
    """A function from an unsigned word to an unsigned word."""

    def handle(writer: Writer, given: Value) -> Scalar:
        value = writer.cast(number(given), "u64")
        takes = ("i64", *(flag.split()[0] for flag in more))
        function = writer.declare(name, "i64", *takes)
        return writer.new("u64", f"call i64 {function}({', '.join((f'i64 {value.text}', *more))})")

    return handle
