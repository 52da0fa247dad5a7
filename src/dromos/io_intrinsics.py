"""Functions of the C library with which compiled kernels read files, and the processor's checksum instruction."""

from __future__ import annotations

import platform

from dromos.compiler import machine
from dromos.compiler.arguments import column, element_address, number_as
from dromos.compiler.intrinsic import intrinsic
from dromos.compiler.values import Value, constant
from dromos.compiler.writer import Writer

__all__ = ["crc_step", "give_back", "has_crc", "read_at"]


@intrinsic
def has_crc(writer: Writer) -> Value:
    """Whether kernels are compiled for a processor with the instruction of :func:`crc_step`; a constant."""
    return constant("b", platform.machine().lower() in ("aarch64", "arm64") and machine.has_crc())


@intrinsic
def crc_step(writer: Writer, crc: Value, word: Value) -> Value:
    """The CRC-32 of eight more bytes in one instruction; only if :func:`has_crc`."""
    function = writer.declare("llvm.aarch64.crc32x", "i32", "i32", "i64")
    before, more = number_as(writer, crc, "u32"), number_as(writer, word, "u64")
    return writer.new("u32", f"call i32 {function}(i32 {before}, i64 {more})")


@intrinsic
def read_at(writer: Writer, fd: Value, array: Value, index: Value, length: Value, position: Value) -> Value:
    """``pread``: up to ``length`` bytes from ``position`` of an open file to ``array[index]`` and on.

    Returns the number of bytes read, 0 at the end of the file, or -1.
    """
    writer.writes_to(array)
    function = writer.declare("pread", "i64", "i32", "ptr", "i64", "i64")
    target = element_address(writer, column(array, "u8"), index)
    file, most, begin = (
        number_as(writer, value, kind) for value, kind in ((fd, "i32"), (length, "i64"), (position, "i64"))
    )
    return writer.new("i64", f"call i64 {function}(i32 {file}, ptr {target}, i64 {most}, i64 {begin})")


@intrinsic
def give_back(writer: Writer, array: Value, index: Value, length: Value, advice: Value) -> Value:
    """``madvise``: give advice about ``length`` bytes from ``array[index]`` on; 0 if the system accepted it."""
    function = writer.declare("madvise", "i32", "ptr", "i64", "i32")
    target = element_address(writer, column(array, "u8"), index)
    size, what = number_as(writer, length, "i64"), number_as(writer, advice, "i32")
    return writer.new("i32", f"call i32 {function}(ptr {target}, i64 {size}, i32 {what})")
