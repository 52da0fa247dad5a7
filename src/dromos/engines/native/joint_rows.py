"""Rows of 1, 2, 4 or 8 words of 64 bits, a bit for each search of a group, as values of compiled code.

A row is a tuple of ``uint64``, so that its length is part of its type: every operation is straight-line code on
registers, which the compiler turns into vector instructions. A table of rows is a flat array; a row begins at a
multiple of its length. ``like`` is any row of the wanted length.
"""

from __future__ import annotations

from dromos.compiler.arguments import column, number_as
from dromos.compiler.intrinsic import intrinsic
from dromos.compiler.values import LoweringError, Scalar, Value
from dromos.compiler.writer import Writer

__all__ = ["load_row", "merge_row", "row_and", "row_any", "row_or", "row_without", "store_row"]


def _row(value: Value) -> list[str]:
    """The registers of a row's words."""
    words = value if isinstance(value, tuple) else ()
    found = [word.text for word in words if isinstance(word, Scalar) and word.kind == "u64"]
    if not found or len(found) != len(words):
        raise LoweringError("a row is a tuple of words")
    return found


def _places(writer: Writer, table: Value, begin: Value, width: int) -> list[str]:
    """The addresses of the words of the row that begins at ``table[begin]``."""
    array, first = column(table, "u64"), number_as(writer, begin, "i64")
    return [writer.address(array, [writer.new("i64", f"add i64 {first}, {word}")]) for word in range(width)]


@intrinsic
def load_row(writer: Writer, table: Value, begin: Value, like: Value) -> Value:
    """The row that begins at ``table[begin]``; other threads may write its words meanwhile."""
    return tuple(writer.load("u64", place) for place in _places(writer, table, begin, len(_row(like))))


@intrinsic
def store_row(writer: Writer, table: Value, begin: Value, row: Value) -> None:
    """Write a row to ``table[begin:]``."""
    writer.writes_to(table)
    words = _row(row)
    for place, word in zip(_places(writer, table, begin, len(words)), words, strict=True):
        writer.store("u64", place, Scalar("u64", word))


@intrinsic
def merge_row(writer: Writer, table: Value, begin: Value, row: Value) -> None:
    """Set the row's bits in ``table[begin:]``, one atomic per word; zero words are skipped."""
    writer.writes_to(table)
    words = _row(row)
    for place, word in zip(_places(writer, table, begin, len(words)), words, strict=True):
        some, end = writer.label("some"), writer.label("merged")
        writer.fork(writer.register(f"icmp ne i64 {word}, 0"), some, end)
        writer.begin(some)
        writer.register(f"atomicrmw or ptr {place}, i64 {word} monotonic")
        writer.go(end)
        writer.begin(end)


def _pairs(left: Value, right: Value) -> list[tuple[str, str]]:
    a, b = _row(left), _row(right)
    if len(a) != len(b):
        raise LoweringError("rows of two lengths")
    return list(zip(a, b, strict=True))


@intrinsic
def row_and(writer: Writer, left: Value, right: Value) -> Value:
    """The bits that both rows have."""
    return tuple(writer.new("u64", f"and i64 {a}, {b}") for a, b in _pairs(left, right))


@intrinsic
def row_or(writer: Writer, left: Value, right: Value) -> Value:
    """The bits that either row has."""
    return tuple(writer.new("u64", f"or i64 {a}, {b}") for a, b in _pairs(left, right))


@intrinsic
def row_without(writer: Writer, left: Value, right: Value) -> Value:
    """The bits of ``left`` that ``right`` does not have."""
    others = [(a, writer.register(f"xor i64 {b}, -1")) for a, b in _pairs(left, right)]
    return tuple(writer.new("u64", f"and i64 {a}, {b}") for a, b in others)


@intrinsic
def row_any(writer: Writer, row: Value) -> Value:
    """Whether a bit of the row is set."""
    found, *more = _row(row)
    for word in more:
        found = writer.register(f"or i64 {found}, {word}")
    return writer.new("b", f"icmp ne i64 {found}, 0")
