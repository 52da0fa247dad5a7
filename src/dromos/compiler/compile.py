"""Translate a kernel for arguments of certain types to LLVM's language.

There are two forms. *Python's* takes all arguments from the block that it is called with, and leaves the kernel's
result there. A *team's* is called by each thread with its number; the kernel's second argument, the number of threads,
is a word of the team's block as well. Beside the kernel, ``fits`` checks whether the arrays in a block have the types
that the kernel was compiled for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dromos.compiler.array_layout import (
    ALIGNED,
    ARRAY_DIMENSIONS,
    ARRAY_FLAGS,
    ARRAY_TYPE,
    CONTIGUOUS,
    TYPE_KIND,
    TYPE_SIZE,
    TYPE_SIZE_BITS,
    WRITEABLE,
)
from dromos.compiler.scalars import is_float, kind_of_number, kind_of_type, memory_bytes, memory_type
from dromos.compiler.statements import Kernel
from dromos.compiler.values import ArrayKind, ArrayValue, LoweringError, Named, Scalar, Shape, Value, shape_of
from dromos.team_layout import BLOCK_ARGUMENTS, BLOCK_THREADS, BLOCK_WORDS

__all__ = ["FITS", "KERNEL", "KernelText", "argument_shapes", "kernel_text"]

KERNEL, FITS = "kernel", "fits"
"""The names of the functions in the machine code."""


class KernelText(NamedTuple):
    """The text that LLVM compiles."""

    text: str
    result: Shape
    """The type of the result that the kernel returns to Python."""


def argument_shapes(args: tuple[Any, ...]) -> tuple[Shape, ...]:
    """The types of arguments.

    >>> argument_shapes((1, np.zeros(3, np.uint8), (2.0,)))
    ('i64', ArrayKind(element='u8', dimensions=1, contiguous=True), ('f64',))
    """
    return tuple(_shape(value) for value in args)


def _shape(value: Any) -> Shape:
    if isinstance(value, tuple):
        parts = tuple(_shape(part) for part in value)
        return Named(parts, value._fields) if hasattr(value, "_fields") else parts
    if isinstance(value, np.ndarray):
        element = kind_of_type(value.dtype)
        if element is None:
            swapped = "" if value.dtype.isnative else ", whose bytes are in the order of other machines"
            raise LoweringError(f"an argument is an array of {value.dtype}{swapped}")
        if not 1 <= value.ndim <= 15:
            raise LoweringError(f"an argument is an array with {value.ndim} dimensions")
        if not value.flags.aligned:
            raise LoweringError(f"an argument is an array of {value.dtype} that is not aligned in memory; copy it")
        return ArrayKind(element, value.ndim, bool(value.flags.c_contiguous))
    kind = kind_of_number(value)
    if kind is None:
        if isinstance(value, int):
            raise LoweringError(f"the argument {value} has more than 64 bits")
        raise LoweringError(f"an argument of type {type(value).__name__}")
    return kind


def kernel_text(function: Callable[..., Any], shapes: tuple[Shape, ...], *, for_team: bool) -> KernelText:
    """The functions ``i32 kernel(thread, block)`` and ``i32 fits(block)``, which is 1 if the arrays have the types."""
    first = BLOCK_ARGUMENTS if for_team else 0
    kernel = Kernel(first)
    args: list[Value] = []
    if for_team:
        args += [Scalar("i64", "%thread"), Scalar("i64", "%threads")]
    arrays: list[tuple[int, ArrayKind]] = []
    at = 0
    for shape in shapes:
        value, at = _argument(kernel, shape, at, arrays)
        args.append(value)
    if for_team and first + at > BLOCK_WORDS:
        raise LoweringError(f"{at} numbers and arrays are given, and a team takes {BLOCK_WORDS - first}")
    returned = kernel.call(function, args)
    result = None if for_team else _without_names(shape_of(returned))
    if result is not None and kernel.reachable:
        _leave(kernel, returned, 0)
    lines = [
        *(line for name, line in kernel.declared.items() if name.startswith("@")),
        f"define i32 @{KERNEL}(i64 %thread, ptr %block) nounwind {{",
        "entry:",
    ]
    if for_team:
        lines.append(f"%place = getelementptr i64, ptr %block, i64 {BLOCK_THREADS}")
        lines.append("%threads = load i64, ptr %place")
    lines += [
        *kernel.entry,
        *kernel.lines,
        "ret i32 0" if kernel.reachable else "",
        "}",
        *_fits(first, arrays, kernel.written),
    ]
    lines += [line for name, line in kernel.declared.items() if not name.startswith("@")]
    return KernelText("\n".join([*lines, *kernel.loop_descriptions(), ""]), result)


def _argument(kernel: Kernel, shape: Shape, at: int, arrays: list[tuple[int, ArrayKind]]) -> tuple[Value, int]:
    """The argument at word ``at`` of the block, and the word after it; its arrays are added to ``arrays``."""
    if isinstance(shape, ArrayKind):
        arrays.append((at, shape))
        return ArrayValue(shape, at, {}), at + 1
    if isinstance(shape, tuple):
        parts = []
        for part in shape:
            value, at = _argument(kernel, part, at, arrays)
            parts.append(value)
        return shape.of(parts) if isinstance(shape, Named) else tuple(parts), at
    assert shape is not None
    return kernel.from_memory(shape, kernel.argument(memory_type(shape), at)), at + 1


def _without_names(shape: Shape) -> Shape:
    """The type as Python sees it: named tuples become plain ones."""
    return tuple(map(_without_names, shape)) if isinstance(shape, tuple) else shape


def _leave(kernel: Kernel, value: Value, at: int) -> int:
    """Write the result to the block, one word per number; return the word after it."""
    if isinstance(value, tuple):
        for part in value:
            at = _leave(kernel, part, at)
        return at
    if not isinstance(value, Scalar):
        raise LoweringError("a kernel returns something other than numbers")
    kind = "f64" if is_float(value.kind) else "u64" if value.kind[0] == "u" else "i64"
    place = kernel.register(f"getelementptr i64, ptr %block, i64 {at}")
    kernel.store(kind, place, value)
    return at + 1


def _fits(first: int, arrays: list[tuple[int, ArrayKind]], written: set[int]) -> list[str]:
    """The function that checks the arrays of a block; those that are written to must not be read-only."""
    # it runs once per call and is straight-line code: LLVM need not spend time on it
    lines = [f"define i32 @{FITS}(ptr %block) nounwind noinline optnone {{", "entry:"]
    tests: list[str] = []

    def field(name: str, owner: str, offset: int, kind: str) -> str:
        lines.append(f"%{name}_at = getelementptr i8, ptr {owner}, i64 {offset}")
        lines.append(f"%{name} = load {kind}, ptr %{name}_at")
        return f"%{name}"

    def test(name: str, kind: str, value: str, expected: int, how: str = "eq") -> None:
        lines.append(f"%{name}_is = icmp {how} {kind} {value}, {expected}")
        tests.append(f"%{name}_is")

    for at, kind in arrays:
        owner = field(f"array{at}", "%block", 8 * (first + at), "ptr")
        test(f"axes{at}", "i32", field(f"axes{at}", owner, ARRAY_DIMENSIONS, "i32"), kind.dimensions)
        flags = field(f"flags{at}", owner, ARRAY_FLAGS, "i32")
        needed = ALIGNED | (WRITEABLE if at in written else 0)
        lines.append(f"%layout{at} = and i32 {flags}, {CONTIGUOUS | needed}")
        test(f"layout{at}", "i32", f"%layout{at}", needed | (CONTIGUOUS if kind.contiguous else 0))
        element = field(f"type{at}", owner, ARRAY_TYPE, "ptr")
        letter = field(f"letter{at}", element, TYPE_KIND, "i8")
        test(f"letter{at}", "i8", letter, ord(kind.element[0]))
        order = field(f"order{at}", element, TYPE_KIND + 2, "i8")
        test(f"order{at}", "i8", order, ord(">"), "ne")
        bits = f"i{TYPE_SIZE_BITS}"
        test(f"size{at}", bits, field(f"size{at}", element, TYPE_SIZE, bits), memory_bytes(kind.element))
    result = "true"
    for number, one in enumerate(tests):
        lines.append(f"%all{number} = and i1 {result}, {one}")
        result = f"%all{number}"
    return [*lines, f"%fits = zext i1 {result} to i32", "ret i32 %fits", "}"]
