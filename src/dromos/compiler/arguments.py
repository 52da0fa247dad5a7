"""Arguments of intrinsics: numbers of the required type, columns, and addresses in memory."""

from __future__ import annotations

from dromos.compiler.scalars import Kind, is_float
from dromos.compiler.values import ArrayValue, LoweringError, Scalar, Value
from dromos.compiler.writer import Writer

__all__ = ["column", "element_address", "number_as", "pointer_to"]


def number_as(writer: Writer, value: Value, kind: Kind) -> str:
    """The register or constant of a number, converted to ``kind``; fractions are not truncated.

    >>> from dromos.compiler.values import constant
    >>> number_as(Writer(), constant("u8", 3), "i64"), number_as(Writer(), constant("i64", 3), "f64")
    ('3', '0x4008000000000000')
    """
    if not isinstance(value, Scalar):
        raise LoweringError("an intrinsic is given something other than a number")
    if is_float(value.kind) and not is_float(kind):
        raise LoweringError(f"an intrinsic of whole numbers is given one of type {value.kind}")
    return writer.cast(value, kind).text


def column(value: Value, *elements: Kind) -> ArrayValue:
    """A one-dimensional array whose elements have one of these types, or any type if none is given.

    >>> from dromos.compiler.values import ArrayKind
    >>> column(ArrayValue(ArrayKind("u8", 1, True), 0, {}), "u8", "i8").kind.element
    'u8'
    """
    if not isinstance(value, ArrayValue) or value.kind.dimensions != 1:
        raise LoweringError("an intrinsic is given something other than an array of one dimension")
    if elements and value.kind.element not in elements:
        raise LoweringError(f"an intrinsic is given an array of {value.kind.element}, not of {' or '.join(elements)}")
    return value


def element_address(writer: Writer, array: ArrayValue, index: Value) -> str:
    """The address of ``array[index]``; the index is not checked and does not count from the end.

    >>> from dromos.compiler.values import ArrayKind, constant
    >>> from dromos.compiler.writer import DATA
    >>> writer = Writer()
    >>> place = element_address(writer, ArrayValue(ArrayKind("u8", 1, True), None, {DATA: "%data"}), constant("i64", 7))
    >>> writer.lines
    ['%r1 = getelementptr i8, ptr %data, i64 7']
    """
    return writer.address(array, [Scalar("i64", number_as(writer, index, "i64"))])


def pointer_to(writer: Writer, address: Value) -> str:
    """A pointer to an address that is given as a number.

    >>> writer = Writer()
    >>> pointer_to(writer, Scalar("i64", "%address")), writer.lines
    ('%r1', ['%r1 = inttoptr i64 %address to ptr'])
    """
    return writer.register(f"inttoptr i64 {number_as(writer, address, 'i64')} to ptr")
