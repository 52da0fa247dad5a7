"""Shapes that the analysis recognises in expressions. Each is a sufficient condition: unrecognised means not proven."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from dromos.program.expr import FALSE, Expr, build, walk
from dromos.program.ir import Assignments, EdgeWeights, ProgramIR
from dromos.program.types import IdType, NumberType, Typing

__all__ = [
    "GIVEN_ID",
    "claimed_field",
    "folded",
    "greatest",
    "guard",
    "is_free",
    "is_linear",
    "is_never",
    "is_nondecreasing",
    "is_nonnegative",
    "state_of",
    "updates_idempotently",
]

Test: TypeAlias = Callable[[Expr], bool]

_CHOICE: Final = {  # where(a ? b, x, y): the operator when x, y are a, b in this order; swapped, it is the other one
    "lt": ("min", "max"),
    "le": ("min", "max"),
    "gt": ("max", "min"),
    "ge": ("max", "min"),
}

GIVEN_ID: Final = "_given_id"
"""The parameter that holds the ids of vertices as they were given, where an engine numbers them otherwise."""

_SMALL: Final = 1 << 20  # beside what counts vertices or supersteps

_NEGATED: Final = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_SWAPPED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def state_of(role: str, names: tuple[str, ...] | frozenset[str]) -> Test:
    """A test for the fields called ``names``, read at ``role``."""
    return lambda node: node.op == "field" and node.role == role and node.attr[1] in names


def is_free(expr: Expr, variable: Test) -> bool:
    """Whether no ``variable`` is read in ``expr``."""
    return not any(variable(node) for node in walk([expr]))


def ordered(expr: Expr) -> Expr:
    """``where(a < b, a, b)`` as ``min(a, b)``, and its relatives; anything else as it is.

    >>> from dromos.program.expr import const
    >>> a, b = Expr("weight"), Expr("superstep")
    >>> ordered(build("where", build("gt", b, a), b, a))
    max(superstep, weight)
    """
    if expr.op == "where" and expr.args[0].op in _CHOICE:
        (a, b), x, y = expr.args[0].args, expr.args[1], expr.args[2]
        if (x, y) == (a, b):
            return build(_CHOICE[expr.args[0].op][0], a, b)
        if (x, y) == (b, a):
            return build(_CHOICE[expr.args[0].op][1], a, b)
    return expr


def folded(expr: Expr, state: Expr, op: str | None) -> Expr | None:
    """The ``x`` of ``state op x`` (either way round), if ``expr`` is that."""
    shape = ordered(expr)
    if op is not None and shape.op == op and state in shape.args:
        return shape.args[1] if shape.args[0] is state else shape.args[0]
    return None


def guard(assignments: Assignments) -> tuple[Expr, dict[str, tuple[Expr, ...]]] | None:
    """``(c, values)`` if every assignment is ``field := where(c, value, field)`` with one ``c``; else None."""
    condition: Expr | None = None
    values: dict[str, tuple[Expr, ...]] = {}
    for name, exprs in assignments:
        parts = []
        for index, expr in enumerate(exprs):
            state = Expr("field", attr=("vertex", name, index))
            if expr.op != "where":
                return None
            test, x, y = expr.args
            if x is state and y is not state:
                test, x, y = build("invert", test), y, x
            if y is not state or condition not in (None, test):
                return None
            condition = test
            parts.append(x)
        values[name] = tuple(parts)
    return None if condition is None else (condition, values)


def updates_idempotently(ir: ProgramIR) -> bool:
    """Whether applying ``update`` twice with one message is applying it once."""
    written = tuple(name for name, _ in ir.update)
    state = state_of("vertex", written)
    if (found := guard(ir.update)) is not None:
        # the second time, either the guard holds again and stores the same values, or nothing happens
        return all(is_free(expr, state) for exprs in found[1].values() for expr in exprs)
    return all(
        expr is own
        or is_free(expr, state)
        or any((x := folded(expr, own, op)) is not None and is_free(x, state) for op in ("min", "max", "or", "and"))
        for name, exprs in ir.update
        for index, expr in enumerate(exprs)
        for own in (Expr("field", attr=("vertex", name, index)),)
    )


def is_nondecreasing(
    expr: Expr, variable: Test, typing: Typing, *, lattice: bool = False, weights: EdgeWeights = "any"
) -> bool:
    """Whether ``expr`` never falls when its variables rise: as numbers, or as sets of bits (``lattice``).

    ``weights``: what is promised of them, as finite numbers.

    An integer that outgrows its type wraps, and falls then. So there are no integer products here, no casts to narrower
    integers, no sums below 32 bits or with great constants, no differences that have no sign. Sums of 32 bits and more
    are taken for what they mean.
    """
    if variable(expr) or is_free(expr, variable):
        return True
    parts = expr.args

    def rising(part: Expr) -> bool:
        return is_nondecreasing(part, variable, typing, lattice=lattice, weights=weights)

    if expr.op == "where":
        return is_free(parts[0], variable) and rising(parts[1]) and rising(parts[2])
    if lattice:
        return expr.op in ("and", "or") and all(map(rising, parts))
    if expr.op in ("min", "max", "floor", "ceil"):
        return all(map(rising, parts)) and all(_keeps_order(part, expr, typing) for part in parts)
    if expr.op == "cast":
        return rising(parts[0]) and _keeps_order(parts[0], expr, typing)
    if not _is_roomy(expr, typing):
        return False
    if expr.op == "add":
        return all(map(rising, parts))
    if expr.op == "sub":
        return rising(parts[0]) and is_free(parts[1], variable)
    if expr.op == "mul":
        return any(_is_scale(a, weights != "any") and rising(b) for a, b in (parts, parts[::-1]))
    if expr.op == "truediv":
        return _is_scale(parts[1], weights == "positive") and rising(parts[0])
    return False


def _is_scale(expr: Expr, weights_are: bool) -> bool:
    """Whether ``expr`` is a number that keeps the order of what it scales: a constant, or weights that are so."""
    return bool(expr.value > 0) if expr.op == "const" else expr.op == "weight" and weights_are


def _keeps_order(part: Expr, whole: Expr, typing: Typing) -> bool:
    """Whether a value of the type of ``part`` becomes one of the type of ``whole`` without going round."""
    source, target = typing.of(part), typing.of(whole).dtype
    return source.weak or target.kind == "f" or np.can_cast(source.dtype, target)


def _is_roomy(expr: Expr, typing: Typing) -> bool:
    """Whether a sum, a difference or a product is taken not to outgrow its type."""
    dtype = typing.of(expr).dtype
    if dtype.kind == "f":
        return True
    small = all(part.op != "const" or abs(part.value) <= _SMALL for part in expr.args)
    return dtype.itemsize >= 4 and small and (expr.op == "add" or (expr.op == "sub" and dtype.kind == "i"))


def is_linear(expr: Expr, variable: Test) -> bool:
    """Whether ``expr`` is a sum of variables times what does not depend on them: zero at zero, and additive."""
    if variable(expr):
        return True
    if is_free(expr, variable):
        return expr.op == "const" and bool(expr.value == 0)
    parts = expr.args
    match expr.op:
        case "add" | "sub":
            return all(is_linear(part, variable) for part in parts)
        case "neg":
            return is_linear(parts[0], variable)
        case "cast":  # to integers it cuts fractions off, and goes round
            target = expr.attr[0]
            return target != "id" and np.dtype(target).kind == "f" and is_linear(parts[0], variable)
        case "mul":
            return any(is_linear(a, variable) and is_free(b, variable) for a, b in (parts, parts[::-1]))
        case "truediv":
            return is_linear(parts[0], variable) and is_free(parts[1], variable)
        case "where":
            return is_free(parts[0], variable) and all(is_linear(part, variable) for part in parts[1:])
    return False


def is_nonnegative(expr: Expr, messages: tuple[Expr, ...], most: float) -> bool:
    """Whether a number is surely zero or more; ``messages`` are what ``message`` symbols stand for.

    An integer that outgrows its type wraps, and may be below zero then. So there are no products here, no casts, no
    constants above ``most``, the greatest value of the type, and of sums only those with a small constant.
    """
    match expr.op:
        case "const":
            return bool(0 <= expr.value <= most)
        case "vertex_param":
            return bool(expr.attr[1] == GIVEN_ID)
        case "id" | "superstep" | "num_vertices" | "num_arcs" | "out_degree" | "in_degree":
            return True
        case "message":
            return is_nonnegative(messages[expr.attr[0]], messages, most)
        case "add":
            constants = [part for part in expr.args if part.op == "const" and part.value <= _SMALL]
            return len(constants) > 0 and all(is_nonnegative(part, messages, most) for part in expr.args)
        case "min":
            return all(is_nonnegative(part, messages, most) for part in expr.args)
        case "max":
            return any(is_nonnegative(part, messages, most) for part in expr.args)
        case "where":
            return all(is_nonnegative(part, messages, most) for part in expr.args[1:])
    return False


def claimed_field(ir: ProgramIR) -> str | None:
    """The field that is negative until a vertex takes its first message, and never again after.

    ``update`` is ``where(v.f < 0, …)`` for all fields, in whichever words, with a new ``f`` of zero or more, and a
    vertex is active when ``f`` has changed: a vertex is taken once, by whichever message comes first.
    """
    found = guard(ir.update)
    if found is None or ir.sent or ir.edge_fields or ir.reductions or ir.update_on != "received":
        return None
    condition, values = found
    ends = {spec.name: greatest(spec.dtype) for spec in ir.fields}
    whole = {name for name, end in ends.items() if end < np.inf}
    state = _below_zero(condition, whole)
    if state is None:
        return None
    name, index = state.attr[1:]
    if name not in values or not is_nonnegative(values[name][index], ir.message, ends[name]):
        return None
    old, new = (Expr("field", attr=(role, name, index)) for role in ("old", "new"))
    tests, changed = [ir.active], (Expr("ne", (old, new)), Expr("ne", (new, old)))
    while tests:
        test = tests.pop()
        if test in changed:
            return str(name)
        if test.op == "or":
            tests += test.args
    return None


def greatest(dtype: NumberType) -> float:
    """The greatest value of a signed integer type (the narrowest that ids have); infinite for any other."""
    if isinstance(dtype, IdType):
        return np.iinfo(np.int32).max
    return np.iinfo(dtype).max if dtype.kind == "i" else np.inf


def _below_zero(condition: Expr, whole: set[str]) -> Expr | None:
    """The field ``f`` that a condition holds to be negative: ``f < 0``, and for the ``whole`` ones also ``~(f >= 0)``,
    ``f <= -1``, ``f == -1`` and the same with the sides changed. (A float may be NaN, which is not below zero either.)
    """
    negated = condition.op == "invert"
    test = condition.args[0] if negated else condition
    if test.op not in _NEGATED:
        return None
    op, (state, bound) = test.op, test.args
    if state.op == "const":
        op, state, bound = _SWAPPED.get(op, op), bound, state
    if negated:
        op = _NEGATED[op]
    if state.op != "field" or bound.op != "const":
        return None
    if op == "lt" and bound.value == 0 and not negated:
        return state
    if state.attr[1] not in whole:
        return None
    said = (op == "lt" and bound.value == 0) or (op == "le" and bound.value == -1) or (op == "eq" and bound.value < 0)
    return state if said else None


def is_never(expr: Expr, typing: Typing) -> bool:
    """Whether a truth value is surely false; ``x != x`` of a float is not, since x may be NaN."""
    if expr is FALSE:
        return True
    match expr.op:
        case "ne":
            return expr.args[0] is expr.args[1] and typing.of(expr.args[0]).dtype.kind != "f"
        case "or":
            return all(is_never(part, typing) for part in expr.args)
        case "and":
            return any(is_never(part, typing) for part in expr.args)
    return False
