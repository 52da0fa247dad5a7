"""Rows of 1, 2, 4 or 8 words of 64 bits, a bit for each traversal of a group, as values of compiled code.

A row is a tuple of ``uint64``, so that its length is part of its type: every operation is straight-line code on
registers, which the compiler turns to vector instructions. A table of rows is a flat array; a row begins at a multiple
of its length. ``like`` is any row of the length that is meant.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_WORD = ir.IntType(64)


def _is_row(kind):
    return isinstance(kind, types.UniTuple) and kind.dtype == types.uint64


def _is_table(kind):
    return isinstance(kind, types.Array) and kind.ndim == 1 and kind.dtype == types.uint64


def _place(context, builder, sig, args, word):
    """The address of a word of the row that begins at the index ``args[1]`` of the table ``args[0]``."""
    kind = sig.args[0]
    table = context.make_array(kind)(context, builder, args[0])
    index = builder.add(args[1], ir.Constant(args[1].type, word))
    return cgutils.get_item_pointer(context, builder, kind, table, [index], wraparound=False)


@intrinsic
def load_row(typingctx, table, begin, like):
    """The row that begins at ``table[begin]``; a word of it may be written by others meanwhile."""
    if not (_is_table(table) and _is_row(like)):
        return None

    def generate(context, builder, sig, args):
        words = [builder.load(_place(context, builder, sig, args, word)) for word in range(len(like))]
        return cgutils.pack_array(builder, words)

    return like(table, types.intp, like), generate


@intrinsic
def store_row(typingctx, table, begin, row):
    """Write a row to ``table[begin:]``."""
    if not (_is_table(table) and _is_row(row)):
        return None

    def generate(context, builder, sig, args):
        for word in range(len(row)):
            value = builder.extract_value(args[2], word)
            builder.store(value, _place(context, builder, sig, args, word))
        return context.get_dummy_value()

    return types.void(table, types.intp, row), generate


@intrinsic
def merge_row(typingctx, table, begin, row):
    """Set the row's bits in ``table[begin:]``, one atomic per word; zero words are skipped."""
    if not (_is_table(table) and _is_row(row)):
        return None

    def generate(context, builder, sig, args):
        for word in range(len(row)):
            value = builder.extract_value(args[2], word)
            with builder.if_then(builder.icmp_unsigned("!=", value, ir.Constant(_WORD, 0))):
                builder.atomic_rmw("or", _place(context, builder, sig, args, word), value, ordering="monotonic")
        return context.get_dummy_value()

    return types.void(table, types.intp, row), generate


def _componentwise(operate):
    def typing(typingctx, left, right):
        if not (_is_row(left) and left == right):
            return None

        def generate(context, builder, sig, args):
            pairs = [[builder.extract_value(arg, word) for arg in args] for word in range(len(left))]
            return cgutils.pack_array(builder, [operate(builder, a, b) for a, b in pairs])

        return left(left, right), generate

    return intrinsic(typing)


row_and = _componentwise(lambda builder, a, b: builder.and_(a, b))
row_or = _componentwise(lambda builder, a, b: builder.or_(a, b))
row_without = _componentwise(lambda builder, a, b: builder.and_(a, builder.not_(b)))


@intrinsic
def row_any(typingctx, row):
    """Whether a bit of the row is set."""
    if not _is_row(row):
        return None

    def generate(context, builder, sig, args):
        found = builder.extract_value(args[0], 0)
        for word in range(1, len(row)):
            found = builder.or_(found, builder.extract_value(args[0], word))
        return builder.icmp_unsigned("!=", found, ir.Constant(_WORD, 0))

    return types.boolean(row), generate
