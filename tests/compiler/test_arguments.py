"""What intrinsics make of their arguments, and which ones they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from dromos.compiler.arguments import column, element_address, number_as, pointer_to
from dromos.compiler.values import ArrayKind, ArrayValue, LoweringError, Scalar, constant
from dromos.compiler.writer import DATA, Writer


def array(element: str = "u8", dimensions: int = 1) -> ArrayValue:
    return ArrayValue(ArrayKind(element, dimensions, True), None, {DATA: "%data"})


def test_numbers_are_converted() -> None:
    writer = Writer()
    assert number_as(writer, Scalar("u64", "%x"), "i64") == "%x"
    assert number_as(writer, constant("i64", 300), "u8") == "44"
    assert number_as(writer, Scalar("i32", "%y"), "i64") == "%r1"
    assert writer.lines == ["%r1 = sext i32 %y to i64"]


@pytest.mark.parametrize("value", [constant("f64", 1.5), constant("f32", 2.0), array(), (constant("i64", 1),), None])
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    with pytest.raises(LoweringError, match="an intrinsic"):
        number_as(Writer(), value, "i64")
    with pytest.raises(LoweringError, match="an intrinsic"):
        pointer_to(Writer(), value)
    with pytest.raises(LoweringError, match="an intrinsic"):
        element_address(Writer(), array(), value)


@pytest.mark.parametrize("value", [array("i8"), array("u8", 2), constant("u8", 1), None])
def test_what_is_no_column_of_bytes_is_refused(value: Any) -> None:
    with pytest.raises(LoweringError, match="an intrinsic"):
        column(value, "u8")
