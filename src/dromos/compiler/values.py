"""What the expressions of a kernel stand for: numbers in registers, arrays, tuples of both, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dromos.compiler.scalars import Kind, constant_text, unified

__all__ = [
    "ArrayKind",
    "ArrayValue",
    "LoweringError",
    "Scalar",
    "Shape",
    "Slot",
    "Value",
    "constant",
    "shape_of",
    "unified_shapes",
]


class LoweringError(Exception):
    """A kernel that says what is not translated here; Numba compiles it then."""


class Scalar:
    """A number: its type, its register or constant, and its value where that is known."""

    __slots__ = ("constant", "kind", "text")

    def __init__(self, kind: Kind, text: str, constant: Any = None) -> None:
        self.kind, self.text, self.constant = kind, text, constant


@dataclass(frozen=True)
class ArrayKind:
    """The type of an array: its elements, its dimensions, whether rows follow each other without gaps."""

    element: Kind
    dimensions: int
    contiguous: bool


class ArrayValue:
    """An array: registers of its address, size, lengths and strides.

    One that is an argument is read from the block of arguments, from word ``at`` on, as far as it is used.
    """

    __slots__ = ("at", "kind", "registers")

    def __init__(self, kind: ArrayKind, at: int | None, registers: dict[int, str]) -> None:
        self.kind, self.at, self.registers = kind, at, registers


Value: TypeAlias = "Scalar | ArrayValue | tuple[Value, ...] | None"
Shape: TypeAlias = "Kind | ArrayKind | tuple[Shape, ...] | None"
"""The type of a value."""


def constant(kind: Kind, value: Any) -> Scalar:
    """A number that is known."""
    return Scalar(kind, constant_text(kind, value), float(np.float32(value)) if kind == "f32" else value)


def shape_of(value: Value) -> Shape:
    """The type of a value.

    >>> shape_of((constant("i64", 3), None))
    ('i64', None)
    """
    if isinstance(value, (Scalar, ArrayValue)):
        return value.kind
    return None if value is None else tuple(shape_of(part) for part in value)


def unified_shapes(a: Shape, b: Shape) -> Shape:
    """The type that can hold values of both."""
    if a == b:
        return a
    if isinstance(a, str) and isinstance(b, str):
        return unified(a, b)
    if isinstance(a, ArrayKind) and isinstance(b, ArrayKind):
        if a.element == b.element and a.dimensions == b.dimensions:
            return ArrayKind(a.element, a.dimensions, False)
    elif isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(unified_shapes(x, y) for x, y in zip(a, b, strict=True))
    raise LoweringError(f"no type holds {a} and {b}")


class Slot:
    """A variable's place in memory, of which LLVM makes registers."""

    __slots__ = ("places", "shape")

    def __init__(self, shape: Shape, places: Any) -> None:
        self.shape, self.places = shape, places
