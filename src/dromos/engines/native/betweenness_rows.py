"""Rows of floats, one for each source of a batch, as compiled code handles them: whole rows in vector registers.

A table has a row of ``lanes`` floats a vertex; a vertex's *marks* say by bits which lanes are meant. The type of the
marks is the width: ``uint16`` marks go with rows of 16 floats. Lanes that are not meant may hold anything.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_WORD = ir.IntType(64)
_SHORT = ir.IntType(32)
_FLOAT = ir.DoubleType()
_LINE = 8  # floats in a line of the cache
_AHEAD = 8  # rows asked for before they are added; a processor looks two or three rows ahead by itself


def _place(context, builder, kind, array, index, scale=1):
    """The address of ``array[index * scale]``."""
    data = context.make_array(kind)(context, builder, array)
    if scale != 1:
        index = builder.mul(index, ir.Constant(_WORD, scale))
    return cgutils.get_item_pointer(context, builder, kind, data, [index], wraparound=False)


def _row(builder, pointer, lanes, kind=_FLOAT):
    return builder.bitcast(pointer, ir.VectorType(kind, lanes).as_pointer())


def _all(lanes, value):
    return ir.Constant(ir.VectorType(_FLOAT, lanes), [value] * lanes)


def _powers(lanes):
    return ir.Constant(ir.VectorType(_WORD, lanes), [1 << lane for lane in range(lanes)])


def _meant(builder, bits, powers, lanes):
    """For each lane, whether its bit is set."""
    words = ir.VectorType(_WORD, lanes)
    nothing = ir.Constant(words, ir.Undefined)
    first = builder.insert_element(nothing, bits, _SHORT(0))
    spread = builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_SHORT, lanes), [0] * lanes))
    return builder.icmp_unsigned("!=", builder.and_(spread, powers), ir.Constant(words, [0] * lanes))


def _halved(builder, row, lanes, combine):
    """All lanes combined: one half with the other, again and again."""
    while lanes > 1:
        lanes //= 2
        kind = ir.VectorType(_SHORT, lanes)
        low = builder.shuffle_vector(row, row, ir.Constant(kind, list(range(lanes))))
        high = builder.shuffle_vector(row, row, ir.Constant(kind, list(range(lanes, 2 * lanes))))
        row = combine(low, high)
    return builder.extract_element(row, _SHORT(0))


def _vertex(context, builder, kind, ids, at):
    vertex = builder.load(_place(context, builder, kind, ids, at))
    return vertex if vertex.type.width == _WORD.width else builder.zext(vertex, _WORD)


def _fetch(context, builder, kind, table, vertex, lanes):
    """Ask for the lines of a vertex's row."""
    address = ir.IntType(8).as_pointer()
    function_type = ir.FunctionType(ir.VoidType(), [address, _SHORT, _SHORT, _SHORT])
    function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
    for lane in range(0, lanes, _LINE):
        pointer = builder.gep(_place(context, builder, kind, table, vertex, lanes), [ir.Constant(_WORD, lane)])
        builder.call(function, [builder.bitcast(pointer, address), _SHORT(0), _SHORT(3), _SHORT(1)])


def _are_rows(table, marks):
    return (
        isinstance(table, types.Array)
        and table.dtype == types.float64
        and isinstance(marks, types.Array)
        and isinstance(marks.dtype, types.Integer)
    )


@intrinsic
def lanes_of(typingctx, marks):
    """How many lanes the rows have, a constant of the compiled code."""
    lanes = marks.dtype.bitwidth

    def generate(context, builder, sig, args):
        return ir.Constant(_WORD, lanes)

    return types.int64(marks), generate


@intrinsic
def ask_for_row(typingctx, table, vertex, marks):
    """Prefetch a vertex's row."""
    if not _are_rows(table, marks):
        return None

    def generate(context, builder, sig, args):
        _fetch(context, builder, table, args[0], args[1], marks.dtype.bitwidth)
        return context.get_dummy_value()

    return types.void(table, types.int64, marks), generate


@intrinsic
def add_rows(typingctx, table, marks, wanted, ids, begin, end, sums, at, fresh, powers):
    """Add to ``sums[at:]`` the rows of ``ids[begin:end]``, of each the lanes in ``marks[id] & wanted``.

    If ``fresh``, the sums are zero before. ``powers`` has the bit of each lane: constants would be made anew for every
    row, what was loaded stays in registers.
    """
    if not (_are_rows(table, marks) and powers.dtype == types.uint64):
        return None
    lanes = marks.dtype.bitwidth

    def generate(context, builder, sig, args):
        table_, marks_, wanted_, ids_, begin_, end_, sums_, at_, fresh_, powers_ = args
        one, ahead = ir.Constant(_WORD, 1), ir.Constant(_WORD, _AHEAD)
        place = _row(builder, _place(context, builder, sums, sums_, at_), lanes)
        total = cgutils.alloca_once(builder, ir.VectorType(_FLOAT, lanes))
        builder.store(builder.select(fresh_, _all(lanes, 0.0), builder.load(place, align=8)), total)
        first_power = _place(context, builder, powers, powers_, ir.Constant(_WORD, 0))
        bits = builder.load(_row(builder, first_power, lanes, _WORD), align=8)
        some = builder.add(begin_, ahead)
        some = builder.select(builder.icmp_signed("<", some, end_), some, end_)
        with cgutils.for_range_slice(builder, begin_, some, one, intp=_WORD) as (k, _):
            _fetch(context, builder, table, table_, _vertex(context, builder, ids, ids_, k), lanes)
        last = builder.sub(end_, one)
        with cgutils.for_range_slice(builder, begin_, end_, one, intp=_WORD) as (k, _):
            soon = builder.add(k, ahead)
            soon = builder.select(builder.icmp_signed("<", soon, last), soon, last)
            _fetch(context, builder, table, table_, _vertex(context, builder, ids, ids_, soon), lanes)
            vertex = _vertex(context, builder, ids, ids_, k)
            mark = builder.zext(builder.load(_place(context, builder, marks, marks_, vertex)), _WORD)
            meant = _meant(builder, builder.and_(mark, wanted_), bits, lanes)
            row = builder.load(_row(builder, _place(context, builder, table, table_, vertex, lanes), lanes), align=8)
            added = builder.fadd(builder.load(total), builder.select(meant, row, _all(lanes, 0.0)))
            builder.store(added, total)
        builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    word = types.int64
    return types.void(table, marks, types.uint64, ids, word, word, sums, word, types.boolean, powers), generate


@intrinsic
def put_row(typingctx, table, vertex, marks, bits, sums, at):
    """Write the lanes ``bits`` of ``sums[at:]`` to a vertex's row; the largest of them."""
    if not _are_rows(table, marks):
        return None
    lanes = marks.dtype.bitwidth

    def generate(context, builder, sig, args):
        place = _row(builder, _place(context, builder, table, args[0], args[1], lanes), lanes)
        new = builder.load(_row(builder, _place(context, builder, sums, args[4], args[5]), lanes), align=8)
        meant = _meant(builder, args[3], _powers(lanes), lanes)
        builder.store(builder.select(meant, new, builder.load(place, align=8)), place, align=8)
        new = builder.select(meant, new, _all(lanes, 0.0))
        return _halved(builder, new, lanes, lambda a, b: builder.select(builder.fcmp_ordered(">", a, b), a, b))

    return types.float64(table, types.int64, marks, types.uint64, sums, types.int64), generate


@intrinsic
def turn_row(typingctx, table, vertex, marks, bits, sums, at):
    """Turn the paths in lanes ``bits`` of a row to dependencies a path, by what was gathered in ``sums[at:]``.

    Returns the sum of the dependencies.
    """
    if not _are_rows(table, marks):
        return None
    lanes = marks.dtype.bitwidth

    def generate(context, builder, sig, args):
        place = _row(builder, _place(context, builder, table, args[0], args[1], lanes), lanes)
        gathered = builder.load(_row(builder, _place(context, builder, sums, args[4], args[5]), lanes), align=8)
        paths = builder.load(place, align=8)
        meant = _meant(builder, args[3], _powers(lanes), lanes)
        dependency = builder.select(meant, builder.fmul(paths, gathered), _all(lanes, 0.0))
        back = builder.fdiv(builder.fadd(dependency, _all(lanes, 1.0)), paths)
        builder.store(builder.select(meant, back, paths), place, align=8)
        return _halved(builder, dependency, lanes, builder.fadd)

    return types.float64(table, types.int64, marks, types.uint64, sums, types.int64), generate
