"""Writing LLVM instructions: blocks, registers, variables in memory, type conversions, array elements."""

from __future__ import annotations

from typing import Any, Final

from dromos.compiler.array_layout import ARRAY_DATA, ARRAY_SHAPE, ARRAY_STRIDES
from dromos.compiler.scalars import (
    Kind,
    constant_text,
    is_float,
    is_signed,
    kind_of_type,
    llvm_type,
    memory_type,
)
from dromos.compiler.values import (
    ArrayKind,
    ArrayValue,
    LoweringError,
    Named,
    Scalar,
    Shape,
    Slot,
    Value,
    constant,
    shape_of,
)

__all__ = ["DATA", "LENGTH", "SIZE", "Writer"]

SIZE, DATA, LENGTH = range(3)
"""The words of an array: its number of elements, its address, the length of each axis, then the strides."""


_OF_THE_MODULE: Final = -1


class Writer:
    """The text of one kernel so far.

    Its arguments are words of the block that it is called with, starting at word ``first``: numbers as their bits,
    arrays as the addresses of NumPy's objects.
    """

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self.constants: dict[int, tuple[Any, str]] = {}
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}
        self.count = 0
        self.block = "entry"
        self.reachable = True
        self.left: set[str] = set()  # labels that are the target of a break
        self.written: set[int] = set()  # arguments whose elements are written to
        self.loops = 0

    # ---- instructions and blocks ---------------------------------------------------------------------------------

    def new(self, kind: Kind, text: str) -> Scalar:
        """Write an instruction that yields a number."""
        return Scalar(kind, self.register(text))

    def register(self, text: str) -> str:
        """Write an instruction that yields any register."""
        self.count += 1
        name = f"%r{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def label(self, name: str) -> str:
        """Reserve the name of a block to come."""
        self.count += 1
        return f"{name}{self.count}"

    def begin(self, label: str) -> None:
        """Begin the block ``label``."""
        self.lines.append(f"{label}:")
        self.block, self.reachable = label, True

    def go(self, label: str) -> None:
        """End the block with a jump to ``label``, unless it has ended already."""
        if self.reachable:
            self.lines.append(f"br label %{label}")
            self.reachable = False

    def repeat(self, head: str) -> None:
        """End the last block of a loop with a jump back to its first, ``head``.

        LLVM is told not to unroll a loop whose trip count is known only at run time. Most such loops run over the arcs
        of a
        vertex: they have few iterations, so that the tests around an unrolled loop cost more than it saves, and a
        kernel with all of its functions inlined grows by a third to twice its length. Loops with a fixed trip count are
        still unrolled, and loops are still vectorized.
        """
        if self.reachable:
            self.loops += 1
            self.lines.append(f"br label %{head}, !llvm.loop !{self.loops}")
            self.reachable = False

    def loop_descriptions(self) -> list[str]:
        """The module's metadata about its loops, to follow its functions."""
        if not self.loops:
            return []
        each = [f"!{loop} = distinct !{{!{loop}, !0}}" for loop in range(1, self.loops + 1)]
        return ['!0 = !{!"llvm.loop.unroll.runtime.disable"}', *each]

    def fork(self, test: str, yes: str, no: str) -> None:
        """End the block with a branch to one of two labels."""
        self.lines.append(f"br i1 {test}, label %{yes}, label %{no}")
        self.reachable = False

    def declare(self, name: str, returns: str, *takes: str) -> str:
        """Declare a function from outside this module."""
        self.declared[name] = f"declare {returns} @{name}({', '.join(takes)})"
        return f"@{name}"

    # ---- types ---------------------------------------------------------------------------------------------------

    def cast(self, value: Scalar, kind: Kind) -> Scalar:
        """Convert a number to another type."""
        old, text = value.kind, value.text
        if old == kind:
            return value
        if value.constant is not None and old != "b" and kind != "b" and (is_float(kind) or not is_float(old)):
            return self._cast_constant(value.constant, kind)
        into = llvm_type(kind)
        if kind == "b":
            if is_float(old):
                return self.new("b", f"fcmp une {llvm_type(old)} {text}, 0.0")
            return self.new("b", f"icmp ne {llvm_type(old)} {text}, 0")
        source = llvm_type(old)
        if source == into:
            return Scalar(kind, text)
        if is_float(old) and is_float(kind):
            how = "fpext" if kind == "f64" else "fptrunc"
        elif is_float(old):
            how = "fptosi" if is_signed(kind) else "fptoui"
        elif is_float(kind):
            how = "sitofp" if old[0] == "i" else "uitofp"
        elif old == "b":
            how = "zext"
        elif int(kind[1:]) < int(old[1:]):
            how = "trunc"
        else:
            how = "sext" if old[0] == "i" else "zext"
        return self.new(kind, f"{how} {source} {text} to {into}")

    @staticmethod
    def _cast_constant(value: Any, kind: Kind) -> Scalar:
        if is_float(kind):
            return constant(kind, value)
        width = int(kind[1:])
        number = int(value) & ((1 << width) - 1)
        if kind[0] == "i" and number >> (width - 1):
            number -= 1 << width
        return constant(kind, number)

    def converted(self, value: Value, shape: Shape) -> Value:
        """Convert a value to another type."""
        if isinstance(value, Scalar) and isinstance(shape, str):
            return self.cast(value, shape)
        if isinstance(value, ArrayValue) and isinstance(shape, ArrayKind):
            if value.kind == shape:
                return value
            words = {word: self.word(value, word) for word in _words(shape)}
            return ArrayValue(shape, None, words, value.owner)
        if isinstance(value, tuple) and isinstance(shape, tuple):
            parts = tuple(self.converted(part, kind) for part, kind in zip(value, shape, strict=True))
            return shape.of(parts) if isinstance(shape, Named) else parts
        if value is None and shape is None:
            return None
        raise LoweringError(f"a value of type {shape_of(value)} is no {shape}")

    def truth(self, value: Value) -> Scalar:
        """Whether a number is not zero."""
        if not isinstance(value, Scalar):
            raise LoweringError("the truth of something other than a number")
        return self.cast(value, "b")

    # ---- variables -----------------------------------------------------------------------------------------------

    def slot(self, shape: Shape) -> Slot:
        """Make a new variable."""
        return Slot(shape, self._places(shape))

    def _places(self, shape: Shape) -> Any:
        if isinstance(shape, str):
            return self._place(llvm_type(shape))
        if isinstance(shape, ArrayKind):
            return {word: self._place("ptr" if word == DATA else "i64") for word in _words(shape)}
        return () if shape is None else tuple(self._places(part) for part in shape)

    def _place(self, kind: str) -> str:
        self.count += 1
        self.entry.append(f"%s{self.count} = alloca {kind}")
        return f"%s{self.count}"

    def put(self, slot: Slot, value: Value) -> None:
        """Set a variable to a value of its type."""
        self._put(slot.places, value)

    def _put(self, places: Any, value: Value) -> None:
        if isinstance(value, Scalar):
            self.lines.append(f"store {llvm_type(value.kind)} {value.text}, ptr {places}")
        elif isinstance(value, ArrayValue):
            for word, place in places.items():
                self.lines.append(f"store {'ptr' if word == DATA else 'i64'} {self.word(value, word)}, ptr {place}")
        elif value is not None:
            for place, part in zip(places, value, strict=True):
                self._put(place, part)

    def get(self, slot: Slot) -> Value:
        """Read a variable."""
        return self._get(slot.shape, slot.places)

    def _get(self, shape: Shape, places: Any) -> Value:
        if isinstance(shape, str):
            return self.new(shape, f"load {llvm_type(shape)}, ptr {places}")
        if isinstance(shape, ArrayKind):
            loaded = {
                word: self.register(f"load {'ptr' if word == DATA else 'i64'}, ptr {place}")
                for word, place in places.items()
            }
            return ArrayValue(shape, None, loaded)
        if shape is None:
            return None
        parts = tuple(self._get(part, place) for part, place in zip(shape, places, strict=True))
        return shape.of(parts) if isinstance(shape, Named) else parts

    def joined(self, shape: Shape, one: tuple[Value, str], other: tuple[Value, str]) -> Value:
        """The value from the block that control came from (a phi); each value is given with its block."""
        a, b = one[0], other[0]
        if a is b:
            return a
        if isinstance(a, Scalar) and isinstance(b, Scalar) and isinstance(shape, str):
            return self.new(shape, self._phi(llvm_type(shape), a.text, one[1], b.text, other[1]))
        if isinstance(a, ArrayValue) and isinstance(b, ArrayValue) and isinstance(shape, ArrayKind):
            registers = {
                word: self.register(
                    self._phi(
                        "ptr" if word == DATA else "i64", self.word(a, word), one[1], self.word(b, word), other[1]
                    )
                )
                for word in _words(shape)
            }
            return ArrayValue(shape, None, registers)
        if isinstance(a, tuple) and isinstance(b, tuple) and isinstance(shape, tuple):
            joined = (self.joined(part, (x, one[1]), (y, other[1])) for part, x, y in zip(shape, a, b, strict=True))
            return shape.of(joined) if isinstance(shape, Named) else tuple(joined)
        return None

    @staticmethod
    def _phi(kind: str, a: str, from_a: str, b: str, from_b: str) -> str:
        return f"phi {kind} [ {a}, %{from_a} ], [ {b}, %{from_b} ]"

    # ---- arrays --------------------------------------------------------------------------------------------------

    def word(self, array: ArrayValue, word: int) -> str:
        """The register of a word of an array; for an argument, it is read at the beginning of the kernel."""
        known = array.registers.get(word)
        if known is None:
            if array.at is None:
                raise LoweringError("an array without strides")
            known = array.registers[word] = self._word_of_argument(array, word)
        return known

    def _word_of_argument(self, array: ArrayValue, word: int) -> str:
        dimensions = array.kind.dimensions
        if word == SIZE:
            size = self.word(array, LENGTH)
            for axis in range(1, dimensions):
                size = self._at_begin(f"mul i64 {size}, {self.word(array, LENGTH + axis)}")
            return size
        assert array.at is not None
        owner = self.argument("ptr", array.at)
        if word == DATA:
            return self._loaded_at_begin("ptr", owner, ARRAY_DATA)
        axis = word - LENGTH
        if axis < dimensions:
            return self._loaded_at_begin("i64", self._loaded_at_begin("ptr", owner, ARRAY_SHAPE), 8 * axis)
        strides = self._loaded_at_begin("ptr", owner, ARRAY_STRIDES)
        return self._loaded_at_begin("i64", strides, 8 * (axis - dimensions))

    def _at_begin(self, text: str) -> str:
        """Write an instruction at the beginning of the kernel."""
        self.count += 1
        self.entry.append(f"%e{self.count} = {text}")
        return f"%e{self.count}"

    def _loaded_at_begin(self, kind: str, address: str, offset: int) -> str:
        place = self._at_begin(f"getelementptr i8, ptr {address}, i64 {offset}")
        return self._at_begin(f"load {kind}, ptr {place}, align 8")

    def argument(self, kind: str, at: int) -> str:
        """The register of an argument."""
        return self._loaded_at_begin(kind, "%block", 8 * (self.first + at))

    def address(self, array: ArrayValue, indices: list[Scalar]) -> str:
        """The address of an element; indices do not count from the end."""
        kind = array.kind
        if kind.dimensions != len(indices):
            raise LoweringError("fewer indices than dimensions")
        places = [self.cast(index, "u64" if index.kind[0] == "u" else "i64").text for index in indices]
        data = self.word(array, DATA)
        if not kind.contiguous:
            offset = "0"
            for axis, place in enumerate(places):
                step = self.register(f"mul i64 {self.word(array, LENGTH + kind.dimensions + axis)}, {place}")
                offset = step if axis == 0 else self.register(f"add i64 {offset}, {step}")
            return self.register(f"getelementptr i8, ptr {data}, i64 {offset}")
        at = places[0]
        for axis, place in enumerate(places[1:], 1):
            at = self.register(f"mul i64 {at}, {self.word(array, LENGTH + axis)}")
            at = self.register(f"add i64 {at}, {place}")
        return self.register(f"getelementptr {memory_type(kind.element)}, ptr {data}, i64 {at}")

    def writes_to(self, array: Value) -> None:
        """Note that elements of an array are written, so it must not be read-only."""
        if isinstance(array, ArrayValue) and array.owner is not None:
            if array.owner == _OF_THE_MODULE:
                raise LoweringError("an array of the module is written to")
            self.written.add(array.owner)

    def view(self, array: ArrayValue, indices: list[Scalar]) -> ArrayValue:
        """The part of an array selected by its first indices."""
        kind, count = array.kind, len(indices)
        rest = kind.dimensions - count
        zeros = [constant("i64", 0)] * rest
        data = self.address(array, [*indices, *zeros])
        lengths = [self.word(array, LENGTH + count + axis) for axis in range(rest)]
        size = lengths[0]
        for length in lengths[1:]:
            size = self.register(f"mul i64 {size}, {length}")
        registers = {DATA: data, SIZE: size} | {LENGTH + axis: length for axis, length in enumerate(lengths)}
        if not kind.contiguous:
            for axis in range(rest):
                registers[LENGTH + rest + axis] = self.word(array, LENGTH + kind.dimensions + count + axis)
        return ArrayValue(ArrayKind(kind.element, rest, kind.contiguous), None, registers, array.owner)

    def cut(self, array: ArrayValue, first: Scalar | None, last: Scalar | None) -> ArrayValue:
        """``array[first:last]`` of a one-dimensional array; bounds are clamped to its ends, as in Python."""
        if array.kind.dimensions != 1:
            raise LoweringError("a slice of an array with several axes")
        length = self.word(array, LENGTH)
        begin = self._bound(length, first) if first is not None else "0"
        end = self._bound(length, last) if last is not None else length
        count = self.register(f"sub i64 {end}, {begin}")
        empty = self.register(f"icmp slt i64 {count}, 0")
        count = self.register(f"select i1 {empty}, i64 0, i64 {count}")
        registers = {DATA: self.address(array, [Scalar("i64", begin)]), SIZE: count, LENGTH: count}
        if not array.kind.contiguous:
            registers[LENGTH + 1] = self.word(array, LENGTH + 1)
        return ArrayValue(array.kind, None, registers, array.owner)

    def _bound(self, length: str, given: Scalar) -> str:
        if given.kind[0] == "u":
            bound = self.cast(given, "u64").text
            above = self.register(f"icmp ugt i64 {bound}, {length}")
            return self.register(f"select i1 {above}, i64 {length}, i64 {bound}")
        bound = self.cast(given, "i64").text
        below = self.register(f"icmp slt i64 {bound}, 0")
        wrapped = self.register(f"add i64 {length}, {bound}")
        bound = self.register(f"select i1 {below}, i64 {wrapped}, i64 {bound}")
        below = self.register(f"icmp slt i64 {bound}, 0")
        bound = self.register(f"select i1 {below}, i64 0, i64 {bound}")
        above = self.register(f"icmp sgt i64 {bound}, {length}")
        return self.register(f"select i1 {above}, i64 {length}, i64 {bound}")

    def constant_array(self, values: Any) -> ArrayValue:
        """A constant array of the module, whose values become part of the machine code."""
        kind = kind_of_type(values.dtype)
        if kind is None or values.ndim == 0:
            raise LoweringError(f"an array of {values.dtype}")
        known = self.constants.get(id(values))
        if known is None:
            name, element = f"@array{len(self.constants)}", memory_type(kind)
            texts = (("1" if v else "0") if kind == "b" else constant_text(kind, v) for v in values.ravel().tolist())
            listed = ", ".join(f"{element} {text}" for text in texts)
            self.declared[name] = f"{name} = private constant [{values.size} x {element}] [{listed}], align 16"
            known = self.constants[id(values)] = (values, name)
        registers = {DATA: known[1], SIZE: str(values.size)}
        registers |= {LENGTH + axis: str(length) for axis, length in enumerate(values.shape)}
        return ArrayValue(ArrayKind(kind, values.ndim, True), None, registers, _OF_THE_MODULE)

    def wrapped(self, array: ArrayValue, axis: int, index: Scalar) -> Scalar:
        """An index with Python's meaning: a negative one counts from the end."""
        if index.kind[0] == "u" or (index.constant is not None and index.constant >= 0):
            return index
        place = self.cast(index, "i64")
        below = self.register(f"icmp slt i64 {place.text}, 0")
        other = self.register(f"add i64 {self.word(array, LENGTH + axis)}, {place.text}")
        return self.new("i64", f"select i1 {below}, i64 {other}, i64 {place.text}")

    def load(self, kind: Kind, address: str) -> Scalar:
        """Load an element."""
        value = self.register(f"load {memory_type(kind)}, ptr {address}")
        return self.from_memory(kind, value)

    def store(self, kind: Kind, address: str, value: Scalar) -> None:
        """Store an element."""
        self.lines.append(f"store {memory_type(kind)} {self.to_memory(kind, value)}, ptr {address}")

    def from_memory(self, kind: Kind, register: str) -> Scalar:
        """Convert a loaded register to a value."""
        return self.new("b", f"icmp ne i8 {register}, 0") if kind == "b" else Scalar(kind, register)

    def to_memory(self, kind: Kind, value: Scalar) -> str:
        """Convert a value to the form in which it is stored."""
        cast = self.cast(value, kind)
        if kind != "b":
            return cast.text
        if cast.text in ("true", "false"):
            return "1" if cast.text == "true" else "0"
        return self.register(f"zext i1 {cast.text} to i8")


def _words(kind: ArrayKind) -> tuple[int, ...]:
    strides = () if kind.contiguous else range(LENGTH + kind.dimensions, LENGTH + 2 * kind.dimensions)
    return (DATA, SIZE, *range(LENGTH, LENGTH + kind.dimensions), *strides)
