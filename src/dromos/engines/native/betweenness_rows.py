"""Rows of floats, one lane for each source of a batch, as compiled code handles them: whole rows in vector registers.

A table has a row of ``lanes`` floats per vertex; a vertex's *marks* select lanes by bits. The type of the marks
determines the width: ``uint16`` marks go with rows of 16 floats. Lanes that are not selected may hold any value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dromos.compiler.arguments import column, element_address, number_as
from dromos.compiler.intrinsic import intrinsic
from dromos.compiler.scalars import memory_bytes
from dromos.compiler.values import ArrayValue, LoweringError, Scalar, Value, constant
from dromos.compiler.writer import Writer

__all__ = ["add_rows", "ask_for_row", "lanes_of", "put_row", "turn_row"]

_LINE = 8  # floats in a cache line
_AHEAD = 8  # rows between the prefetch of a row and its use; the processor itself looks two or three rows ahead


# ---- vectors -------------------------------------------------------------------------------------------------------


def _load(writer: Writer, address: str, lanes: int, kind: str = "double") -> str:
    return writer.register(f"load <{lanes} x {kind}>, ptr {address}, align 8")


def _store(writer: Writer, address: str, row: str, lanes: int) -> None:
    writer.lines.append(f"store <{lanes} x double> {row}, ptr {address}, align 8")


def _constants(kind: str, values: list[str]) -> str:
    return f"<{', '.join(f'{kind} {value}' for value in values)}>"


def _powers(lanes: int) -> str:
    """The bit of each lane."""
    return _constants("i64", [str(1 << lane) for lane in range(lanes)])


def _meant(writer: Writer, bits: str, powers: str, lanes: int) -> str:
    """For each lane, whether its bit is set."""
    words = f"<{lanes} x i64>"
    first = writer.register(f"insertelement {words} poison, i64 {bits}, i32 0")
    spread = writer.register(f"shufflevector {words} {first}, {words} poison, <{lanes} x i32> zeroinitializer")
    own = writer.register(f"and {words} {spread}, {powers}")
    return writer.register(f"icmp ne {words} {own}, zeroinitializer")


def _where(writer: Writer, meant: str, row: str, other: str, lanes: int) -> str:
    """The selected lanes of ``row``, and the other lanes of ``other``."""
    floats = f"<{lanes} x double>"
    return writer.register(f"select <{lanes} x i1> {meant}, {floats} {row}, {floats} {other}")


def _halved(writer: Writer, row: str, lanes: int, combine: Callable[[str, str, int], str]) -> Scalar:
    """All lanes combined, by halving repeatedly."""
    while lanes > 1:
        whole, lanes = f"<{lanes} x double>", lanes // 2
        low, high = (
            writer.register(
                f"shufflevector {whole} {row}, {whole} poison, <{lanes} x i32> "
                + _constants("i32", [str(lane) for lane in range(first, first + lanes)])
            )
            for first in (0, lanes)
        )
        row = combine(low, high, lanes)
    return writer.new("f64", f"extractelement <1 x double> {row}, i32 0")


# ---- tables --------------------------------------------------------------------------------------------------------


def _floats(value: Value) -> ArrayValue:
    return _without_gaps(column(value, "f64"))


def _without_gaps(array: ArrayValue) -> ArrayValue:
    if not array.kind.contiguous:
        raise LoweringError("the floats of a row follow each other in memory")
    return array


def _width(marks: Value) -> int:
    """The number of lanes of the rows that marks go with."""
    kind = column(marks).kind.element
    if kind[0] not in "iu":
        raise LoweringError(f"marks are whole numbers, not {kind}")
    return 8 * memory_bytes(kind)


def _row_of(writer: Writer, table: ArrayValue, vertex: str, lanes: int) -> str:
    """The address of a vertex's row."""
    return writer.address(table, [writer.new("i64", f"mul i64 {vertex}, {lanes}")])


def _whole(writer: Writer, array: ArrayValue, index: str) -> str:
    """A nonnegative element, as a word."""
    kind = f"i{8 * memory_bytes(array.kind.element)}"
    value = writer.register(f"load {kind}, ptr {writer.address(array, [Scalar('i64', index)])}")
    return value if kind == "i64" else writer.register(f"zext {kind} {value} to i64")


def _fetch(writer: Writer, table: ArrayValue, vertex: str, lanes: int) -> None:
    """Prefetch the cache lines of a vertex's row."""
    function = writer.declare("llvm.prefetch.p0", "void", "ptr", "i32", "i32", "i32")
    row = _row_of(writer, table, vertex, lanes)
    for lane in range(0, lanes, _LINE):
        address = writer.register(f"getelementptr double, ptr {row}, i64 {lane}")
        writer.lines.append(f"call void {function}(ptr {address}, i32 0, i32 3, i32 1)")


@contextmanager
def _each(writer: Writer, begin: str, end: str) -> Iterator[str]:
    """A loop over ``range(begin, end)``; its body is what is written inside the context."""
    counter = writer.slot("i64")
    writer.put(counter, Scalar("i64", begin))
    head, inside, done = writer.label("rows"), writer.label("row"), writer.label("done")
    writer.go(head)
    writer.begin(head)
    at = writer.get(counter)
    assert isinstance(at, Scalar)
    writer.fork(writer.register(f"icmp slt i64 {at.text}, {end}"), inside, done)
    writer.begin(inside)
    yield at.text
    writer.put(counter, writer.new("i64", f"add nsw i64 {at.text}, 1"))
    writer.go(head)
    writer.begin(done)


def _less(writer: Writer, a: str, b: str) -> str:
    test = writer.register(f"icmp slt i64 {a}, {b}")
    return writer.register(f"select i1 {test}, i64 {a}, i64 {b}")


# ---- what kernels call ---------------------------------------------------------------------------------------------


@intrinsic
def lanes_of(writer: Writer, marks: Value) -> Value:
    """The number of lanes, a constant of the compiled code."""
    return constant("i64", _width(marks))


@intrinsic
def ask_for_row(writer: Writer, table: Value, vertex: Value, marks: Value) -> None:
    """Prefetch a vertex's row."""
    _fetch(writer, _floats(table), number_as(writer, vertex, "i64"), _width(marks))


@intrinsic
def add_rows(
    writer: Writer, table: Value, marks: Value, wanted: Value, ids: Value, begin: Value, end: Value, sums: Value,
    at: Value, fresh: Value, powers: Value,
) -> None:  # fmt: skip
    """Add to ``sums[at:]`` the rows of ``ids[begin:end]``, each in the lanes ``marks[id] & wanted``.

    If ``fresh``, the sums start from zero. ``powers`` has the bit of each lane: constants would be rebuilt for every
    row, while loaded values stay in registers.
    """
    writer.writes_to(sums)
    lanes, rows, vertices, of_vertex = _width(marks), _floats(table), column(ids), column(marks)
    if vertices.kind.element[0] not in "iu":
        raise LoweringError("the ids of rows are whole numbers")
    floats, wanted_bits = f"<{lanes} x double>", number_as(writer, wanted, "u64")
    first, stop = number_as(writer, begin, "i64"), number_as(writer, end, "i64")
    place = element_address(writer, _floats(sums), at)
    bits = _load(
        writer, element_address(writer, _without_gaps(column(powers, "u64")), constant("i64", 0)), lanes, "i64"
    )
    before = _load(writer, place, lanes)
    before = writer.register(f"select i1 {writer.truth(fresh).text}, {floats} zeroinitializer, {floats} {before}")
    writer.count += 1
    total = f"%total{writer.count}"
    writer.entry.append(f"{total} = alloca {floats}")
    writer.lines.append(f"store {floats} {before}, ptr {total}")
    with _each(writer, first, _less(writer, writer.register(f"add i64 {first}, {_AHEAD}"), stop)) as k:
        _fetch(writer, rows, _whole(writer, vertices, k), lanes)
    last = writer.register(f"sub i64 {stop}, 1")
    with _each(writer, first, stop) as k:
        soon = _less(writer, writer.register(f"add i64 {k}, {_AHEAD}"), last)
        _fetch(writer, rows, _whole(writer, vertices, soon), lanes)
        vertex = _whole(writer, vertices, k)
        mark = writer.register(f"and i64 {_whole(writer, of_vertex, vertex)}, {wanted_bits}")
        meant = _meant(writer, mark, bits, lanes)
        row = _load(writer, _row_of(writer, rows, vertex, lanes), lanes)
        added = _where(writer, meant, row, "zeroinitializer", lanes)
        sum_before = writer.register(f"load {floats}, ptr {total}")
        sum_after = writer.register(f"fadd {floats} {sum_before}, {added}")
        writer.lines.append(f"store {floats} {sum_after}, ptr {total}")
    _store(writer, place, writer.register(f"load {floats}, ptr {total}"), lanes)


@intrinsic
def put_row(writer: Writer, table: Value, vertex: Value, marks: Value, bits: Value, sums: Value, at: Value) -> Value:
    """Write the lanes ``bits`` of ``sums[at:]`` to a vertex's row; return the largest of them."""
    writer.writes_to(table)
    lanes = _width(marks)
    place = _row_of(writer, _floats(table), number_as(writer, vertex, "i64"), lanes)
    new = _load(writer, element_address(writer, _floats(sums), at), lanes)
    meant = _meant(writer, number_as(writer, bits, "u64"), _powers(lanes), lanes)
    _store(writer, place, _where(writer, meant, new, _load(writer, place, lanes), lanes), lanes)

    def larger(a: str, b: str, width: int) -> str:
        return _where(writer, writer.register(f"fcmp ogt <{width} x double> {a}, {b}"), a, b, width)

    return _halved(writer, _where(writer, meant, new, "zeroinitializer", lanes), lanes, larger)


@intrinsic
def turn_row(writer: Writer, table: Value, vertex: Value, marks: Value, bits: Value, sums: Value, at: Value) -> Value:
    """Convert the paths in lanes ``bits`` of a row to dependencies per path, by the sums gathered in ``sums[at:]``.

    Returns the sum of the dependencies.
    """
    writer.writes_to(table)
    lanes = _width(marks)
    floats = f"<{lanes} x double>"
    place = _row_of(writer, _floats(table), number_as(writer, vertex, "i64"), lanes)
    gathered = _load(writer, element_address(writer, _floats(sums), at), lanes)
    paths = _load(writer, place, lanes)
    meant = _meant(writer, number_as(writer, bits, "u64"), _powers(lanes), lanes)
    product = writer.register(f"fmul {floats} {paths}, {gathered}")
    dependency = _where(writer, meant, product, "zeroinitializer", lanes)
    more = writer.register(f"fadd {floats} {dependency}, {_constants('double', ['1.0'] * lanes)}")
    back = writer.register(f"fdiv {floats} {more}, {paths}")
    _store(writer, place, _where(writer, meant, back, paths, lanes), lanes)

    def total(a: str, b: str, width: int) -> str:
        return writer.register(f"fadd <{width} x double> {a}, {b}")

    return _halved(writer, dependency, lanes, total)
