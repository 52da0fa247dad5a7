"""Values of a kernel's expressions: numbers in registers, arrays, tuples of both, or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dromos.compiler.scalars import Kind, constant_text, unified
from dromos.errors import DromosError

__all__ = [
    "ArrayKind",
    "ArrayValue",
    "LoweringError",
    "Named",
    "Scalar",
    "Shape",
    "Slot",
    "Value",
    "constant",
    "shape_of",
    "unified_shapes",
]


class LoweringError(DromosError):
    """Code in a kernel that the compiler does not support; ``is_placed`` if the message names the statement."""

    is_placed = False


class Named(tuple[Any, ...]):
    """The parts of a named tuple with their names; used for values and for types."""

    names: tuple[str, ...]

    def __new__(cls, parts: Iterable[Any], names: tuple[str, ...]) -> Named:
        made = super().__new__(cls, parts)
        made.names = names
        return made

    def __repr__(self) -> str:
        return f"{dict(zip(self.names, self, strict=True))}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.names == other.names and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.names, tuple(self)))

    def of(self, parts: Iterable[Any]) -> Named:
        """Other parts with the same names."""
        return Named(parts, self.names)


class Scalar:
    """A number: its type, its register or constant, and its value if known."""

    __slots__ = ("constant", "kind", "text")

    def __init__(self, kind: Kind, text: str, constant: Any = None) -> None:
        self.kind, self.text, self.constant = kind, text, constant


@dataclass(frozen=True)
class ArrayKind:
    """The type of an array: its elements, its dimensions, whether rows are contiguous."""

    element: Kind
    dimensions: int
    contiguous: bool


class ArrayValue:
    """An array: registers of its address, size, lengths and strides.

    For the argument ``at``, these are read from NumPy's object as needed. ``owner`` is the argument that a part of an
    array belongs to; None if unknown.
    """

    __slots__ = ("at", "kind", "owner", "registers")

    def __init__(self, kind: ArrayKind, at: int | None, registers: dict[int, str], owner: int | None = None) -> None:
        self.kind, self.at, self.registers = kind, at, registers
        self.owner = at if owner is None else owner


Value: TypeAlias = "Scalar | ArrayValue | tuple[Value, ...] | None"
Shape: TypeAlias = "Kind | ArrayKind | tuple[Shape, ...] | None"
"""The type of a value."""


def constant(kind: Kind, value: Any) -> Scalar:
    """A number that is known at compile time."""
    return Scalar(kind, constant_text(kind, value), float(np.float32(value)) if kind == "f32" else value)


def shape_of(value: Value) -> Shape:
    """The type of a value.

    >>> shape_of((constant("i64", 3), None))
    ('i64', None)
    """
    if isinstance(value, (Scalar, ArrayValue)):
        return value.kind
    if value is None:
        return None
    parts = tuple(shape_of(part) for part in value)
    return value.of(parts) if isinstance(value, Named) else parts


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
        parts = tuple(unified_shapes(x, y) for x, y in zip(a, b, strict=True))
        if isinstance(a, Named) and isinstance(b, Named) and a.names == b.names:
            return a.of(parts)
        return parts
    raise LoweringError(f"no type holds {a} and {b}")


class Slot:
    """A variable's place in memory, which LLVM turns into registers."""

    __slots__ = ("places", "shape")

    def __init__(self, shape: Shape, places: Any) -> None:
        self.shape, self.places = shape, places
