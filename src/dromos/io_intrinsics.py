"""Functions of the C library with which compiled kernels read files, and a processor's instructions for checksums."""

from __future__ import annotations

import platform

from dromos.compiler import machine
from dromos.compiler.arguments import column, element_address, number_as
from dromos.compiler.intrinsic import intrinsic
from dromos.compiler.values import LoweringError, Scalar, Value, constant
from dromos.compiler.writer import Writer

__all__ = [
    "crc_step",
    "fold",
    "give_back",
    "has_crc_step",
    "has_fold",
    "high_word",
    "load_two_words",
    "low_word",
    "read_at",
    "two_words",
]


@intrinsic
def has_crc_step(writer: Writer) -> Value:
    """Whether kernels are compiled for a processor with the instruction of :func:`crc_step`; a constant."""
    return constant("b", platform.machine().lower() in ("aarch64", "arm64") and machine.has_crc())


@intrinsic
def has_fold(writer: Writer) -> Value:
    """Whether kernels are compiled for a processor with the instruction of :func:`fold`; a constant."""
    return constant("b", platform.machine().lower() in ("x86_64", "amd64") and machine.has_crc())


@intrinsic
def crc_step(writer: Writer, crc: Value, word: Value) -> Value:
    """The CRC-32 of eight more bytes in one instruction; only if :func:`has_crc_step`."""
    function = writer.declare("llvm.aarch64.crc32x", "i32", "i32", "i64")
    before, more = number_as(writer, crc, "u32"), number_as(writer, word, "u64")
    return writer.new("u32", f"call i32 {function}(i32 {before}, i64 {more})")


@intrinsic
def two_words(writer: Writer, low: Value, high: Value) -> Value:
    """A vector of two words."""
    first, second = number_as(writer, low, "u64"), number_as(writer, high, "u64")
    half = writer.register(f"insertelement <2 x i64> poison, i64 {first}, i32 0")
    return writer.new("v128", f"insertelement <2 x i64> {half}, i64 {second}, i32 1")


@intrinsic
def load_two_words(writer: Writer, array: Value, index: Value) -> Value:
    """16 bytes of an array of bytes from ``index`` on, wherever that is."""
    source = element_address(writer, column(array, "u8"), index)
    return writer.new("v128", f"load <2 x i64>, ptr {source}, align 1")


@intrinsic
def low_word(writer: Writer, vector: Value) -> Value:
    """The first of two words."""
    return writer.new("u64", f"extractelement <2 x i64> {_vector(vector)}, i32 0")


@intrinsic
def high_word(writer: Writer, vector: Value) -> Value:
    """The second of two words."""
    return writer.new("u64", f"extractelement <2 x i64> {_vector(vector)}, i32 1")


@intrinsic
def fold(writer: Writer, terms: Value, factors: Value, more: Value) -> Value:
    """The products of the low words and of the high words of two vectors, and a third vector, added up.

    All are polynomials over bits: products and sums without carry. Only if :func:`has_fold`.
    """
    function = writer.declare("llvm.x86.pclmulqdq", "<2 x i64>", "<2 x i64>", "<2 x i64>", "i8")
    total = _vector(more)
    for words in (0, 17):  # the low ones of both, the high ones of both
        product = writer.register(
            f"call <2 x i64> {function}(<2 x i64> {_vector(terms)}, <2 x i64> {_vector(factors)}, i8 {words})"
        )
        total = writer.register(f"xor <2 x i64> {total}, {product}")
    return Scalar("v128", total)


def _vector(value: Value) -> str:
    if not isinstance(value, Scalar) or value.kind != "v128":
        raise LoweringError("an intrinsic is given something other than a vector of two words")
    return value.text


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
