"""Whether ``active`` lets a vertex tell of every change: what holds in any order has to be heard in any order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from dromos.program.expr import FALSE, TRUE, Expr
from dromos.program.ir import ProgramIR
from dromos.program.monoid import ARGMAX, ARGMIN, MAX, MIN
from dromos.program.patterns import is_free

__all__ = ["tells_of_changes", "tells_of_improvements", "tells_of_residual"]

Way: TypeAlias = Literal["falls", "rises"]
_BOTH: tuple[Way, ...] = ("falls", "rises")
_SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_KNOWN = {  # new ? old, where the field has fallen; where it has risen
    "falls": {"lt": True, "le": True, "ne": True, "gt": False, "ge": False, "eq": False},
    "rises": {"lt": False, "le": False, "ne": True, "gt": True, "ge": True, "eq": False},
}


def tells_of_improvements(ir: ProgramIR, name: str) -> bool:
    """Whether a vertex is active whenever a component of its field ``name`` moves the way that merging moves it.

    >>> import numpy as np
    >>> import dromos.program as dr
    >>> class Near(dr.Program):
    ...     level = dr.field(np.int32, init=9)
    ...     combine = dr.MIN
    ...     def compute(self, u, edge, v): return u.level + 1
    ...     def update(self, v, message): return dr.minimum(v.level, message)
    ...     def active(self, old, new): return old.level - new.level >= 2
    >>> tells_of_improvements(Near.ir(), "level")
    False
    """
    ways: tuple[Way, ...] = _BOTH  # a set of bits that gains some may have a sign, and be the smaller number
    if ir.combine in (MIN, ARGMIN):
        ways = ("falls",)
    elif ir.combine in (MAX, ARGMAX):
        ways = ("rises",)
    return _holds(ir, [name], ways)


def tells_of_changes(ir: ProgramIR) -> bool:
    """Whether a vertex is active whenever ``update`` changes it; or never, whatever happens."""
    return ir.active is FALSE or _holds(ir, [name for name, _ in ir.update], _BOTH)


def tells_of_residual(ir: ProgramIR, name: str) -> bool:
    """Whether a vertex is active while much is left in ``name``, as in ``new.f > bound``."""
    written = frozenset(ir.written)

    def is_bound(expr: Expr) -> bool:
        return is_free(expr, lambda node: node.op == "field" and node.attr[1] in written)

    def asks(test: Expr, index: int) -> bool:
        residual = Expr("field", attr=("new", name, index))
        sizes = (residual, Expr("abs", (residual,)))
        match test.op:
            case "gt" | "ge":
                return test.args[0] in sizes and is_bound(test.args[1])
            case "lt" | "le":
                return test.args[1] in sizes and is_bound(test.args[0])
            case "ne":
                return any(one in sizes and is_bound(other) for one, other in (test.args, test.args[::-1]))
            case "or":
                return any(asks(part, index) for part in test.args)
            case "and":
                return any(asks(one, index) and is_bound(other) for one, other in (test.args, test.args[::-1]))
        return test is TRUE

    return all(asks(ir.active, index) for index in range(ir.field(name).width))


def _holds(ir: ProgramIR, names: Iterable[str], ways: tuple[Way, ...]) -> bool:
    """Whether ``active`` is true if any one component of the fields has moved one of the ways."""
    return all(
        _truth(ir.active, name, index, way) for name in names for index in range(ir.field(name).width) for way in ways
    )


def _truth(expr: Expr, name: str, index: int, way: Way) -> bool | None:
    """What a test comes to where a component of a field has moved; None if that does not decide it."""
    if expr is TRUE or expr is FALSE:
        return expr is TRUE
    parts = expr.args
    if expr.op in _SWAPPED:
        old, new = (Expr("field", attr=(role, name, index)) for role in ("old", "new"))
        if parts == (new, old):
            return _KNOWN[way][expr.op]
        return _KNOWN[way][_SWAPPED[expr.op]] if parts == (old, new) else None
    if expr.op not in ("and", "or", "invert", "where"):
        return None
    known = [_truth(part, name, index, way) for part in parts]
    match expr.op:
        case "invert":
            return None if known[0] is None else not known[0]
        case "and" | "or":
            decisive = expr.op == "or"
            return decisive if decisive in known else None if None in known else not decisive
    if known[0] is not None:
        return known[1] if known[0] else known[2]
    return known[1] if known[1] == known[2] else None
