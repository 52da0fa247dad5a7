"""Calls of compiled kernels in the form that threads without Python can make: addresses and words.

A kernel of Numba's takes its arguments as some hundred values in registers and on the stack. A small function, made for
each list of types by LLVM, reads them from memory and calls the kernel; its text is simple enough to be compiled
without optimisation in a few milliseconds.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import ctypes
import pickle
import platform
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.errors import DromosError
from dromos.team_layout import (
    ARRAY,
    ARRAY_DATA,
    ARRAY_SHAPE,
    ARRAY_STRIDES,
    BLOCK_ARGUMENTS,
    BLOCK_EXCEPTION,
    BLOCK_FAILED,
    BLOCK_KERNEL,
    BLOCK_THREADS,
    BLOCK_WORDS,
    FUTEX_NUMBERS,
)

__all__ = ["Call", "Convert", "bits_of_double", "bits_of_float", "call_of", "error_of", "is_supported", "signed_bits"]

Convert = Callable[[Any], int]


class Call(NamedTuple):
    """A kernel compiled for a list of types."""

    entry: int
    """The address of the function that reads the arguments."""
    function: int
    """The address of the kernel."""
    kinds: Array
    """For each argument, with those of tuples told apart: 0, or what kind of array it is."""
    convert: tuple[Convert, ...]
    """What makes a word of an argument: a number's bits, an array's address."""
    flat: bool
    """Whether no argument is a tuple."""
    words: struct.Struct
    """All arguments as words."""

    def write(self, room: Array, args: tuple[Any, ...]) -> None:
        """Leave the arguments in ``room`` as words."""
        leaves = args if self.flat else _leaves(args)
        words = [convert(value) for convert, value in zip(self.convert, leaves, strict=True)]
        self.words.pack_into(room.data, 0, *words)


def _leaves(args: tuple[Any, ...]) -> list[Any]:
    leaves: list[Any] = []
    for value in args:
        if isinstance(value, tuple):
            leaves += _leaves(value)
        else:
            leaves.append(value)
    return leaves


@cache
def is_supported() -> bool:
    """Whether this system has the sleep that teams need, and arrays lie in memory as we know them."""
    if not sys.platform.startswith("linux") or sys.byteorder != "little" or platform.machine() not in FUTEX_NUMBERS:
        return False
    try:
        import llvmlite.binding as llvm
    except ImportError:
        return False
    if llvm.llvm_version_info[0] < 15 or struct.calcsize("P") != 8:  # pointers without types
        return False
    probe = np.zeros((5, 7, 3), dtype=np.int16)[1:, ::2]
    if np.ndarray.__basicsize__ < ARRAY_STRIDES + 8:
        return False
    base = id(probe)
    data, shape, strides = (
        ctypes.c_int64.from_address(base + at).value for at in (ARRAY_DATA, ARRAY_SHAPE, ARRAY_STRIDES)
    )
    if data != probe.ctypes.data or not shape or not strides:
        return False
    found = [tuple((ctypes.c_int64 * 3).from_address(address)) for address in (shape, strides)]
    return found == [probe.shape, probe.strides]


def call_of(dispatcher: Any, signature: tuple[Any, ...]) -> Call | None:
    """The call of a kernel that was compiled for ``signature``; None where an argument is of a kind not known here."""
    found = dispatcher.overloads.get(signature)
    if found is None or found.signature.return_type.name != "none":
        return None
    kinds: list[int] = []
    convert: list[Convert] = []
    words: list[str] = []
    if not all(_describe(kind, kinds, convert, words) for kind in signature[2:]):
        return None
    expected = found.target_context.call_conv.get_function_type(found.signature.return_type, signature).args[4:]
    if len(expected) != len(words) or len(words) > BLOCK_WORDS - BLOCK_ARGUMENTS:
        return None
    flat = all(not hasattr(kind, "types") for kind in signature[2:])
    address = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
    packing = struct.Struct(f"={len(kinds)}q")
    return Call(_entry(tuple(words)), address, np.array(kinds, dtype=np.int64), tuple(convert), flat, packing)


def _describe(kind: Any, kinds: list[int], convert: list[Convert], words: list[str]) -> bool:
    """Add what is to be known of an argument of a Numba type; whether it is of a known kind."""
    from numba.core import types

    if isinstance(kind, types.BaseTuple):
        return all(_describe(part, kinds, convert, words) for part in kind.types)
    if isinstance(kind, types.Array):
        item_size = np.dtype(str(kind.dtype)).itemsize if isinstance(kind.dtype, (types.Number, types.Boolean)) else 0
        if not item_size or not 1 <= kind.ndim <= 15:
            return False
        kinds.append(ARRAY + kind.ndim + 16 * item_size)
        convert.append(id)
        words += ["i64"] * (5 + 2 * kind.ndim)
        return True
    make: Convert = int
    if isinstance(kind, types.Boolean):
        word = "i8"
    elif isinstance(kind, types.Integer) and not isinstance(kind, types.IntegerLiteral):
        word = f"i{kind.bitwidth}"
        if kind.bitwidth == 64 and not kind.signed:
            make = signed_bits
    elif isinstance(kind, types.Float) and kind.bitwidth in (32, 64):
        word, make = ("float", bits_of_float) if kind.bitwidth == 32 else ("double", bits_of_double)
    else:
        return False
    kinds.append(0)
    convert.append(make)
    words.append(word)
    return True


def signed_bits(value: Any) -> int:
    """A number of 64 bits without a sign, as one with a sign that has the same bits.

    >>> signed_bits(2**64 - 1)
    -1
    """
    return int(value) - (1 << 64) if value >= 1 << 63 else int(value)


def bits_of_double(value: Any) -> int:
    """The bits of a double.

    >>> bits_of_double(1.0) == 1023 << 52
    True
    """
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def bits_of_float(value: Any) -> int:
    """The bits of a float of 32 bits.

    >>> bits_of_float(1.0) == 127 << 23
    True
    """
    return int(struct.unpack("<i", struct.pack("<f", value))[0])


_engines: list[Any] = []  # what is compiled lives as long as its engine


@cache
def _entry(words: tuple[str, ...]) -> int:
    """The address of ``i32 entry(thread, block)``: it calls the block's kernel with the block's arguments."""
    import llvmlite.binding as llvm

    loads = [
        f"  %p{i} = getelementptr i64, ptr %block, i64 {BLOCK_ARGUMENTS + i}\n  %a{i} = load {word}, ptr %p{i}, align 8"
        for i, word in enumerate(words)
    ]
    arguments = ", ".join(f"{word} %a{i}" for i, word in enumerate(words))
    text = f"""
define i32 @entry(i64 %thread, ptr %block) {{
  %result = alloca ptr
  %exception = alloca ptr
  store ptr null, ptr %exception
  %p = getelementptr i64, ptr %block, i64 {BLOCK_KERNEL}
  %kernel = load ptr, ptr %p
  %q = getelementptr i64, ptr %block, i64 {BLOCK_THREADS}
  %threads = load i64, ptr %q
{chr(10).join(loads)}
  %status = call i32 %kernel(ptr %result, ptr %exception, i64 %thread, i64 %threads{", " if words else ""}{arguments})
  %raised = load ptr, ptr %exception
  %none = icmp eq ptr %raised, null
  br i1 %none, label %done, label %failed
failed:
  %r = getelementptr i64, ptr %block, i64 {BLOCK_EXCEPTION}
  store ptr %raised, ptr %r
  br label %done
done:
  ret i32 %status
}}
"""
    machine = llvm.Target.from_default_triple().create_target_machine(opt=0, jit=True)
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _engines.append(engine)
    address: int = engine.get_function_address("entry")
    return address


def error_of(block: Array) -> BaseException:
    """What a kernel has raised."""
    status, address = int(block[BLOCK_FAILED]), int(block[BLOCK_EXCEPTION])
    if address:
        data, size = ctypes.c_void_p.from_address(address).value, ctypes.c_int32.from_address(address + 8).value
        kind, args = pickle.loads(ctypes.string_at(data or 0, size))[:2]  # a constant in the kernel's machine code
        if isinstance(kind, type) and issubclass(kind, BaseException):
            return kind(*(args or ()))
    return DromosError(f"a kernel ended with status {status}")
