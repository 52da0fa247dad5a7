"""Number types, and the type rules of their operations: those of Numba, so that a kernel means the same under both.

A type is written as ``b`` (truth), ``i8`` to ``i64``, ``u8`` to ``u64``, ``f32`` or ``f64``. ``v128`` is a vector of
two words, which only intrinsics make and take; nothing is computed with it otherwise.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np

__all__ = [
    "Kind",
    "compared",
    "computed",
    "constant_text",
    "is_float",
    "is_signed",
    "kind_of_number",
    "kind_of_type",
    "llvm_type",
    "memory_bytes",
    "memory_type",
    "shifted",
    "unified",
]

Kind = str
_WIDTHS: Final = (8, 16, 32, 64)
_LLVM: Final = {"b": "i1", "f32": "float", "f64": "double", "v128": "<2 x i64>"} | {
    f"{s}{w}": f"i{w}" for s in "iu" for w in _WIDTHS
}
_NAMES: Final = {np.dtype(f"{s}int{w}"): f"{'u' if s else 'i'}{w}" for s in ("", "u") for w in _WIDTHS} | {
    np.dtype(np.bool_): "b",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
}
_FITS_FLOAT32: Final = frozenset({"b", "i8", "i16", "u8"})


def llvm_type(kind: Kind) -> str:
    """The LLVM type in a register."""
    return _LLVM[kind]


def memory_type(kind: Kind) -> str:
    """The LLVM type in memory, where a truth is a byte."""
    return "i8" if kind == "b" else _LLVM[kind]


def memory_bytes(kind: Kind) -> int:
    """Bytes of an element in memory."""
    return 1 if kind == "b" else int(kind[1:]) // 8


def kind_of_type(dtype: Any) -> Kind | None:
    """The type of an array's elements; None for types that kernels do not support."""
    return _NAMES.get(dtype)


def kind_of_number(value: Any) -> Kind | None:
    """The type of a Python or NumPy number; None for anything else.

    >>> kind_of_number(True), kind_of_number(3), kind_of_number(2**63), kind_of_number(np.uint8(1)), kind_of_number("")
    ('b', 'i64', 'u64', 'u8', None)
    """
    if isinstance(value, np.generic):
        return _NAMES.get(value.dtype)
    if isinstance(value, bool):
        return "b"
    if isinstance(value, int):
        return "i64" if -(2**63) <= value < 2**63 else "u64" if 0 <= value < 2**64 else None
    return "f64" if isinstance(value, float) else None


def is_float(kind: Kind) -> bool:
    """Whether a type is a floating-point type."""
    return kind[0] == "f"


def is_signed(kind: Kind) -> bool:
    """Whether a type counts as a signed integer in arithmetic; truths do."""
    return kind[0] in "bi"


def computed(a: Kind, b: Kind) -> Kind:
    """The type of a sum, a product and the like, to which both operands are converted.

    >>> computed("i32", "i32"), computed("u8", "u8"), computed("u64", "i64"), computed("f32", "i32")
    ('i64', 'u64', 'i64', 'f64')
    """
    if is_float(a) or is_float(b):
        return _float(a, b)
    return "i64" if is_signed(a) or is_signed(b) else "u64"


def _float(a: Kind, b: Kind) -> Kind:
    return "f32" if all(kind == "f32" or kind in _FITS_FLOAT32 for kind in (a, b)) else "f64"


def shifted(a: Kind) -> Kind:
    """The type of a shift, given the type of the shifted value."""
    return "i64" if is_signed(a) else "u64"


def unified(a: Kind, b: Kind) -> Kind:
    """The type that can hold both: of a variable, of ``x if c else y``, of ``min`` and ``max``.

    >>> unified("i32", "u32"), unified("u64", "i64"), unified("b", "i8"), unified("f32", "u16")
    ('i64', 'f64', 'i8', 'f32')
    """
    if a == b or b == "b":
        return a
    if a == "b":
        return b
    if is_float(a) or is_float(b):
        return "f32" if {a, b} == {"f32", "u16"} else _float(a, b)
    if a[0] == b[0]:
        return a if int(a[1:]) > int(b[1:]) else b
    signed, unsigned = (a, b) if a[0] == "i" else (b, a)
    width = max(int(signed[1:]), 2 * int(unsigned[1:]))
    return f"i{width}" if width <= 64 else "f64"


def compared(a: Kind, b: Kind) -> Kind:
    """The type that two numbers are compared in."""
    return _float(a, b) if is_float(a) or is_float(b) else unified(a, b)


def constant_text(kind: Kind, value: Any) -> str:
    """A number in LLVM's notation: a float by its bits, so that no precision is lost.

    >>> constant_text("i64", 3), constant_text("f64", 0.1), constant_text("b", True)
    ('3', '0x3FB999999999999A', 'true')
    """
    if kind == "b":
        return "true" if value else "false"
    if is_float(kind):
        number = float(np.float32(value)) if kind == "f32" else float(value)
        return f"0x{struct.unpack('>Q', struct.pack('>d', number))[0]:016X}"
    return str(int(value))
