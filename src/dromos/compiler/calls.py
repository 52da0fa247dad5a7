"""Calling compiled kernels: how arguments are converted, and which machine code fits them.

A kernel has machine code for each list of types that it was called with. A call finds it by the Python types of its
arguments, which is quick; compiled code (``fits``) checks the element types and layouts of arrays. Only if nothing fits
are the types described in full.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

from dromos.compiler.values import Shape
from dromos.team_layout import BLOCK_ARGUMENTS

__all__ = ["Call", "flattened"]

Convert = Callable[[Any], int]
_KERNEL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p)  # the call releases the GIL
_FITS = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
_FORMATS = {"f": "d", "u": "Q"}
_flat: dict[tuple[type, ...], bool] = {}
"""For each tuple of argument types seen: whether none of them is a tuple."""


class Call:
    """The machine code of a kernel for a list of types."""

    def __init__(self, addresses: list[int], shapes: tuple[Shape, ...], result: Shape) -> None:
        self.entry, self.fits_entry = addresses
        self.enter: Callable[[int, Any], int] = _KERNEL(self.entry)
        self._fits: Callable[[Any], int] = _FITS(self.fits_entry)
        convert: list[Convert] = []
        for shape in shapes:
            _add_conversions(shape, convert)
        self._convert = tuple(convert)
        self._words = struct.Struct(f"={len(convert)}q")
        self._result = result
        results: list[str] = []
        _add_formats(result, results)
        self._results = struct.Struct("=" + "".join(results))
        self._room = ctypes.c_int64 * max(len(convert), len(results), 1)
        self._team_block = ctypes.c_int64 * (BLOCK_ARGUMENTS + len(convert))

    def write(self, room: Any, offset: int, leaves: Any) -> None:
        """Write arguments to a block as words, from byte ``offset`` on."""
        words = [convert(value) for convert, value in zip(self._convert, leaves, strict=True)]
        self._words.pack_into(room, offset, *words)

    def fits(self, block: Any) -> bool:
        """Whether the arrays in a block have the types that the machine code is for."""
        return bool(self._fits(block))

    def team_block(self) -> Any:
        """A fresh block for one call of a team."""
        return self._team_block()

    def try_from_python(self, leaves: Any) -> tuple[bool, Any]:
        """Call the kernel if the arguments fit; return whether they did, and the result."""
        room = self._room()
        try:
            self.write(room, 0, leaves)
        except struct.error:  # a number that needs one bit more
            return False, None
        if not self._fits(room):
            return False, None
        self.enter(0, room)
        return True, self._returned(room)

    def run(self, *leaves: Any) -> Any:
        """Call the kernel with arguments of the types that it was compiled for, without checking them."""
        room = self._room()
        self.write(room, 0, leaves)
        self.enter(0, room)
        return self._returned(room)

    def _returned(self, room: Any) -> Any:
        result = self._result
        if result is None:
            return None
        values = self._results.unpack_from(room)
        if isinstance(result, str):
            return bool(values[0]) if result == "b" else values[0]
        return _rebuilt(result, iter(values))


def flattened(args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The arguments with tuples flattened, and a key for their Python types.

    >>> flattened((1, (2.0, (True,))))[0]
    [1, 2.0, True]
    """
    types = tuple(map(type, args))
    is_flat = _flat.get(types)
    if is_flat is None:
        is_flat = _flat[types] = not any(issubclass(kind, tuple) for kind in types)
    if is_flat:
        return args, types
    leaves: list[Any] = []
    structure: list[Any] = []
    _flatten(args, leaves, structure)
    return leaves, tuple(structure)


def _flatten(values: tuple[Any, ...], leaves: list[Any], structure: list[Any]) -> None:
    """Append the parts of ``values``, and to ``structure`` their types and where each tuple ends."""
    for value in values:
        structure.append(type(value))
        if isinstance(value, tuple):
            _flatten(value, leaves, structure)
            structure.append(None)
        else:
            leaves.append(value)


def _add_conversions(shape: Shape, convert: list[Convert]) -> None:
    if isinstance(shape, tuple):
        for part in shape:
            _add_conversions(part, convert)
    elif isinstance(shape, str):
        convert.append({"f64": _bits_of_double, "f32": _bits_of_float, "u64": _signed_bits}.get(shape, int))
    else:
        convert.append(id)  # an array


def _add_formats(shape: Shape, formats: list[str]) -> None:
    if isinstance(shape, tuple):
        for part in shape:
            _add_formats(part, formats)
    elif isinstance(shape, str):
        formats.append(_FORMATS.get(shape[0], "q"))


def _rebuilt(shape: Shape, values: Any) -> Any:
    if isinstance(shape, tuple):
        return tuple(_rebuilt(part, values) for part in shape)
    value = next(values)
    return bool(value) if shape == "b" else value


def _signed_bits(value: Any) -> int:
    """An unsigned 64-bit number as the signed one with the same bits.

    >>> _signed_bits(2**64 - 1)
    -1
    """
    if type(value) is int and not 1 << 63 <= value < 1 << 64:
        raise struct.error("an int of Python's is of this type only if no other holds it")
    return int(value) - (1 << 64) if value >= 1 << 63 else int(value)


def _bits_of_double(value: Any) -> int:
    """The bits of a double.

    >>> _bits_of_double(1.0) == 1023 << 52
    True
    """
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _bits_of_float(value: Any) -> int:
    """The bits of a 32-bit float.

    >>> _bits_of_float(1.0) == 127 << 23
    True
    """
    return int(struct.unpack("<i", struct.pack("<f", value))[0])
