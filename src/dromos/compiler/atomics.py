"""The intrinsics of :mod:`dromos.intrinsics` that read and write memory."""

from __future__ import annotations

from collections.abc import Callable

from dromos.compiler.scalars import Kind, is_float, llvm_type, memory_bytes
from dromos.compiler.values import ArrayValue, LoweringError, Scalar, Value
from dromos.compiler.writer import Writer

__all__ = [
    "Handler",
    "compare_and_swap",
    "exchange",
    "load_unaligned",
    "number",
    "ordered_load",
    "ordered_store",
    "plain_load",
    "plain_store",
    "prefetch",
]

Handler = Callable[..., Value]
"""Writes a call, given the writer and the values of the arguments."""


def number(value: Value) -> Scalar:
    """A value that is a number."""
    if not isinstance(value, Scalar):
        raise LoweringError("something other than a number is given to a function of numbers")
    return value


def _place(
    writer: Writer, array: Value, index: Value, *, columns_only: bool = True, is_written: bool = False
) -> tuple[Kind, str]:
    """The element that an intrinsic accesses: its type and its address."""
    if is_written:
        writer.writes_to(array)
    if not isinstance(array, ArrayValue):
        raise LoweringError("an atomic on something other than an array")
    indices = [number(part) for part in (index if isinstance(index, tuple) else (index,))]
    if columns_only and len(indices) != 1:
        raise LoweringError("this atomic takes arrays of one dimension")
    if any(is_float(part.kind) for part in indices):
        raise LoweringError("an index with a fraction")
    return array.kind.element, writer.address(array, indices)


def _bits(kind: Kind) -> str:
    return f"i{8 * memory_bytes(kind)}"


def _to_bits(writer: Writer, kind: Kind, value: Scalar) -> str:
    """A value as the integer that atomics operate on."""
    text = writer.to_memory(kind, value)
    return writer.register(f"bitcast {llvm_type(kind)} {text} to {_bits(kind)}") if is_float(kind) else text


def _from_bits(writer: Writer, kind: Kind, register: str) -> Scalar:
    if is_float(kind):
        return writer.new(kind, f"bitcast {_bits(kind)} {register} to {llvm_type(kind)}")
    return writer.from_memory(kind, register)


def plain_load(writer: Writer, array: Value, index: Value) -> Value:
    """``load(array, index)``."""
    return writer.load(*_place(writer, array, index))


def plain_store(writer: Writer, array: Value, index: Value, value: Value) -> None:
    """``store(array, index, value)``."""
    writer.store(*_place(writer, array, index, is_written=True), number(value))


def load_unaligned(writer: Writer, array: Value, index: Value) -> Value:
    """Load eight bytes starting at any byte."""
    kind, address = _place(writer, array, index)
    if kind != "u8":
        raise LoweringError("unaligned loads are from bytes")
    return writer.new("u64", f"load i64, ptr {address}, align 1")


def ordered_load(order: str) -> Handler:
    """Atomic loads."""

    def handle(writer: Writer, array: Value, index: Value) -> Value:
        kind, address = _place(writer, array, index, columns_only=False)
        text = f"load atomic {_bits(kind)}, ptr {address} {order}, align {memory_bytes(kind)}"
        return _from_bits(writer, kind, writer.register(text))

    return handle


def ordered_store(order: str) -> Handler:
    """Atomic stores."""

    def handle(writer: Writer, array: Value, index: Value, value: Value) -> None:
        kind, address = _place(writer, array, index, columns_only=False, is_written=True)
        bits = _to_bits(writer, kind, number(value))
        size = memory_bytes(kind)
        writer.lines.append(f"store atomic {_bits(kind)} {bits}, ptr {address} {order}, align {size}")

    return handle


def exchange(name: str, order: str = "monotonic") -> Handler:
    """``atomic_add`` and similar: they return the previous value."""

    def handle(writer: Writer, array: Value, index: Value, operand: Value) -> Value:
        kind, address = _place(writer, array, index, is_written=True)
        if kind == "b":
            raise LoweringError("atomics take no truths")
        value = writer.cast(number(operand), kind)
        if is_float(kind) and name != "xchg":
            if name == "add":
                return _float_add(writer, kind, address, value)
            if name in ("min", "max"):
                return _float_extreme(writer, name, kind, address, value)
            raise LoweringError(f"no atomic {name} of floats")
        operation = f"u{name}" if name in ("min", "max") and kind[0] == "u" else name
        bits = _to_bits(writer, kind, value)
        old = writer.register(f"atomicrmw {operation} ptr {address}, {_bits(kind)} {bits} {order}")
        return _from_bits(writer, kind, old)

    return handle


def _float_extreme(writer: Writer, name: str, kind: Kind, address: str, value: Scalar) -> Scalar:
    """One atomic instruction: non-negative floats order like their bits as signed integers, negative ones in reverse
    order like unsigned ones; the sign of the new value picks which. The value must not be NaN."""
    bits, word = _to_bits(writer, kind, value), _bits(kind)
    negative = writer.register(f"icmp slt {word} {bits}, 0")
    below, above, end = writer.label("below"), writer.label("above"), writer.label("end")
    for_positive, for_negative = ("min", "umax") if name == "min" else ("max", "umin")
    writer.fork(negative, below, above)
    writer.begin(below)
    a = writer.register(f"atomicrmw {for_negative} ptr {address}, {word} {bits} monotonic")
    writer.go(end)
    writer.begin(above)
    b = writer.register(f"atomicrmw {for_positive} ptr {address}, {word} {bits} monotonic")
    writer.go(end)
    writer.begin(end)
    return _from_bits(writer, kind, writer.register(f"phi {word} [ {a}, %{below} ], [ {b}, %{above} ]"))


def _float_add(writer: Writer, kind: Kind, address: str, value: Scalar) -> Scalar:
    """A compare-and-swap loop, since LLVM has no single atomic instruction for adding floats here."""
    word, size, real = _bits(kind), memory_bytes(kind), llvm_type(kind)
    first = writer.register(f"load atomic {word}, ptr {address} monotonic, align {size}")
    before, again, done = writer.block, writer.label("again"), writer.label("done")
    writer.go(again)
    writer.begin(again)
    writer.count += 1
    pair, following = f"%pair{writer.count}", f"%seen{writer.count}"
    seen = writer.register(f"phi {word} [ {first}, %{before} ], [ {following}, %{again} ]")
    old = writer.register(f"bitcast {word} {seen} to {real}")
    total = writer.register(f"fadd {real} {old}, {value.text}")
    new = writer.register(f"bitcast {real} {total} to {word}")
    writer.lines.append(f"{pair} = cmpxchg ptr {address}, {word} {seen}, {word} {new} monotonic monotonic")
    writer.lines.append(f"{following} = extractvalue {{ {word}, i1 }} {pair}, 0")
    stored = writer.register(f"extractvalue {{ {word}, i1 }} {pair}, 1")
    writer.fork(stored, done, again)
    writer.begin(done)
    return Scalar(kind, old)


def compare_and_swap(order: str) -> Handler:
    """Store the new value if the element is the expected one; the result says whether it was."""

    def handle(writer: Writer, array: Value, index: Value, expected: Value, wanted: Value) -> Value:
        kind, address = _place(writer, array, index, is_written=True)
        if kind == "b":
            raise LoweringError("atomics take no truths")
        old, new = (_to_bits(writer, kind, number(value)) for value in (expected, wanted))
        word = _bits(kind)
        pair = writer.register(f"cmpxchg ptr {address}, {word} {old}, {word} {new} {order} monotonic")
        return writer.new("b", f"extractvalue {{ {word}, i1 }} {pair}, 1")

    return handle


def prefetch(written: int) -> Handler:
    """Requests for a cache line."""

    def handle(writer: Writer, array: Value, index: Value) -> None:
        address = _place(writer, array, index)[1]
        function = writer.declare("llvm.prefetch.p0", "void", "ptr", "i32", "i32", "i32")
        writer.lines.append(f"call void {function}(ptr {address}, i32 {written}, i32 3, i32 1)")

    return handle
