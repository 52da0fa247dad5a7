"""Calls of the C library that compiled kernels read files with, and the processor's own checksum step."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import os
import platform
from typing import Final

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["HAS_CRC", "crc_step", "give_back", "read_at"]


def _has_crc() -> bool:
    """Whether kernels are compiled for a processor with the instruction that :func:`crc_step` is."""
    if platform.machine().lower() not in ("aarch64", "arm64") or os.environ.keys() & {
        "NUMBA_CPU_NAME",
        "NUMBA_CPU_FEATURES",
    }:
        return False
    return bool(llvm.get_host_cpu_features().get("crc"))


HAS_CRC: Final = _has_crc()


def _address(context, builder, array_type, array, index):
    made = context.make_array(array_type)(context, builder, array)
    pointer = cgutils.get_item_pointer(context, builder, array_type, made, [index], wraparound=False)
    return builder.bitcast(pointer, ir.IntType(8).as_pointer())


def _is_bytes(array):
    return isinstance(array, types.Array) and array.ndim == 1 and array.dtype == types.uint8


@intrinsic
def read_at(typingctx, fd, array, index, length, position):
    """``pread``: up to ``length`` bytes from ``position`` of an open file to ``array[index]`` and on.

    Returns how many came, 0 at the end of the file, or -1.
    """
    if not _is_bytes(array):
        return None

    def generate(context, builder, sig, args):
        word, number = ir.IntType(64), ir.IntType(32)
        target = _address(context, builder, sig.args[1], args[1], args[2])
        function_type = ir.FunctionType(word, [number, target.type, word, word])
        function = cgutils.get_or_insert_function(builder.module, function_type, "pread")
        return builder.call(function, [args[0], target, args[3], args[4]])

    return types.int64(types.int32, array, types.intp, types.int64, types.int64), generate


@intrinsic
def give_back(typingctx, array, index, length, advice):
    """``madvise``: tell the system about ``length`` bytes from ``array[index]`` on; 0 if it has listened."""
    if not _is_bytes(array):
        return None

    def generate(context, builder, sig, args):
        word, number = ir.IntType(64), ir.IntType(32)
        target = _address(context, builder, sig.args[0], args[0], args[1])
        function_type = ir.FunctionType(number, [target.type, word, number])
        function = cgutils.get_or_insert_function(builder.module, function_type, "madvise")
        return builder.call(function, [target, args[2], args[3]])

    return types.int32(array, types.intp, types.int64, types.int32), generate


@intrinsic
def crc_step(typingctx, crc, word):
    """The CRC-32 of eight more bytes in one instruction; only where :data:`HAS_CRC`."""

    def generate(context, builder, sig, args):
        function_type = ir.FunctionType(ir.IntType(32), [ir.IntType(32), ir.IntType(64)])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.aarch64.crc32x")
        return builder.call(function, [args[0], args[1]])

    return types.uint32(types.uint32, types.uint64), generate
