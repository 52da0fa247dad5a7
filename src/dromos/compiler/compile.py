"""A kernel for arguments of certain types: its text, its machine code, and how a team of threads calls it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from dromos.compiler.machine import SYMBOL
from dromos.compiler.scalars import kind_of_number, kind_of_type, memory_bytes, memory_type
from dromos.compiler.statements import Kernel
from dromos.compiler.values import ArrayKind, ArrayValue, LoweringError, Scalar, Shape, Value
from dromos.team_calls import Call, Convert, bits_of_double, bits_of_float, signed_bits
from dromos.team_layout import ARRAY, BLOCK_ARGUMENTS, BLOCK_THREADS, BLOCK_WORDS

__all__ = ["argument_shapes", "call_at", "kernel_text"]


def argument_shapes(args: tuple[Any, ...]) -> tuple[Shape, ...]:
    """The types of arguments.

    >>> argument_shapes((1, np.zeros(3, np.uint8), (2.0,)))
    ('i64', ArrayKind(element='u8', dimensions=1, contiguous=True), ('f64',))
    """
    return tuple(_shape(value) for value in args)


def _shape(value: Any) -> Shape:
    if isinstance(value, tuple):
        return tuple(_shape(part) for part in value)
    if type(value) is np.ndarray:
        element = kind_of_type(value.dtype)
        flags = value.flags
        if element is None or not 1 <= value.ndim <= 15 or not flags.aligned:
            raise LoweringError(f"an array of {value.dtype} with {value.ndim} dimensions")
        return ArrayKind(element, value.ndim, bool(flags.c_contiguous))
    kind = kind_of_number(value)
    if kind is None:
        raise LoweringError(f"an argument of type {type(value).__name__}")
    return kind


def kernel_text(function: Callable[..., Any], shapes: tuple[Shape, ...]) -> str:
    """A kernel in LLVM's language: ``i32 kernel(thread, block)``, which reads its arguments from the block."""
    kernel = Kernel()
    at = 0
    args: list[Value] = [Scalar("i64", "%thread"), Scalar("i64", "%threads")]
    for shape in shapes:
        value, at = _argument(kernel, shape, at)
        args.append(value)
    if at > BLOCK_WORDS - BLOCK_ARGUMENTS:
        raise LoweringError("more arguments than a block holds")
    kernel.call(function, args)
    return "\n".join(
        [
            f"define i32 @{SYMBOL}(i64 %thread, ptr %block) nounwind {{",
            "entry:",
            f"%place = getelementptr i64, ptr %block, i64 {BLOCK_THREADS}",
            "%threads = load i64, ptr %place",
            *kernel.entry,
            *kernel.lines,
            "ret i32 0" if kernel.reachable else "",
            "}",
            *kernel.declared.values(),
            *kernel.loop_descriptions(),
            "",
        ]
    )


def _argument(kernel: Kernel, shape: Shape, at: int) -> tuple[Value, int]:
    """An argument that begins at a word of the block, and the word behind it."""
    if isinstance(shape, ArrayKind):
        return ArrayValue(shape, at, {}), at + 5 + 2 * shape.dimensions
    if isinstance(shape, tuple):
        parts = []
        for part in shape:
            value, at = _argument(kernel, part, at)
            parts.append(value)
        return tuple(parts), at
    assert shape is not None
    return kernel.from_memory(shape, kernel.argument(memory_type(shape), at)), at + 1


def call_at(address: int, shapes: tuple[Shape, ...]) -> Call:
    """How a team calls the kernel at an address."""
    kinds: list[int] = []
    convert: list[Convert] = []
    for shape in shapes:
        _describe(shape, kinds, convert)
    flat = not any(isinstance(shape, tuple) for shape in shapes)
    packing = struct.Struct(f"={len(kinds)}q")
    return Call(address, 0, np.array(kinds, dtype=np.int64), tuple(convert), flat, packing)


def _describe(shape: Shape, kinds: list[int], convert: list[Convert]) -> None:
    if isinstance(shape, ArrayKind):
        kinds.append(ARRAY + shape.dimensions + 16 * memory_bytes(shape.element))
        convert.append(id)
    elif isinstance(shape, tuple):
        for part in shape:
            _describe(part, kinds, convert)
    else:
        assert shape is not None
        kinds.append(0)
        convert.append({"f64": bits_of_double, "f32": bits_of_float, "u64": signed_bits}.get(shape, int))
