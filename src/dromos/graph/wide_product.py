"""Products of 128 bits in compiled kernels."""

from __future__ import annotations

from dromos.compiler.arguments import number_as
from dromos.compiler.intrinsic import intrinsic
from dromos.compiler.values import Value
from dromos.compiler.writer import Writer

__all__ = ["high_product"]


@intrinsic
def high_product(writer: Writer, a: Value, b: Value) -> Value:
    """The upper 64 bits of the 128-bit product of two unsigned words."""
    x, y = (writer.register(f"zext i64 {number_as(writer, factor, 'u64')} to i128") for factor in (a, b))
    product = writer.register(f"mul nuw i128 {x}, {y}")
    high = writer.register(f"lshr i128 {product}, 64")
    return writer.new("u64", f"trunc i128 {high} to i64")
