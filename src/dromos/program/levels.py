"""Searches by levels, said as a minimum: the first message that reaches a vertex is the only one that changes it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dromos.program.expr import FALSE, TRUE, Expr, build, substitute
from dromos.program.ir import ProgramIR
from dromos.program.monoid import MIN
from dromos.program.passing import tells_of_improvements
from dromos.program.patterns import folded
from dromos.program.typed import TypedProgram

__all__ = ["LevelSearch", "level_search"]


@dataclass(frozen=True)
class LevelSearch:
    """A field that is ``first`` where a search starts, ``unreached`` elsewhere, and ``step`` more with each level."""

    field: str
    first: float
    unreached: float
    step: float

    def fits(self, num_vertices: int, dtype: np.dtype[Any]) -> bool:
        """Whether no level of so many vertices outgrows the field: a whole number would go round.

        >>> LevelSearch("hops", 0, 9, 1).fits(100, np.dtype(np.int32))
        True
        """
        if dtype.kind == "f":
            return True
        return self.first + self.step * (num_vertices + 1) <= np.iinfo(dtype).max


def level_search(typed: TypedProgram) -> LevelSearch | None:
    """The search that a program is, if it is one.

    The message is ``u.f + c`` with a constant ``c`` that is not negative, ``f`` becomes the minimum of itself and the
    message, and starts as ``where(start, a, b)`` with constants. Then all vertices of a frontier have one level, and
    all messages of a superstep are one value ``m``. It is no less than those of the supersteps before, so a vertex that
    was reached has ``f <= m`` for ever: only one that still has ``b`` takes a message, and takes one.

    >>> import dromos.program as dr
    >>> class Hops(dr.Program):
    ...     source = dr.param(int)
    ...     hops = dr.field(np.int32)
    ...     combine = dr.MIN
    ...     def init(self, v): return dr.where(v.id == self.source, 0, 1_000_000)
    ...     def start(self, v): return v.id == self.source
    ...     def compute(self, u, edge, v): return u.hops + 1
    ...     def update(self, v, message): return dr.minimum(v.hops, message)
    >>> level_search(Hops.typed(dr.GraphTypes()))
    LevelSearch(field='hops', first=0, unreached=1000000, step=1)
    """
    ir = typed.ir
    if not _is_plain(ir) or len(ir.update) != 1 or len(ir.message) != 1:
        return None
    ((name, exprs),) = ir.update
    own = Expr("field", attr=("vertex", name, 0))
    if len(exprs) != 1 or ir.field(name).size is not None:
        return None
    if folded(exprs[0], own, "min") is not Expr("message", attr=(0,)):
        return None
    dtype = typed.dtype(name)
    if dtype.kind not in "if" or dtype.itemsize < 4 or typed.accumulators != (dtype,):
        return None
    step = _step(ir.message[0], Expr("field", attr=("source", name, 0)))
    ends = _ends(dict(ir.init).get(name, (FALSE,))[0], ir.start)
    if step is None or ends is None or not tells_of_improvements(ir, name) or not _is_quiet(ir.active):
        return None
    if any(function in ("init", "update") for function, _ in typed.narrowing):
        return None
    return LevelSearch(name, *ends, step) if all(_is_kept(value, dtype) for value in (*ends, step)) else None


def _is_plain(ir: ProgramIR) -> bool:
    """Whether nothing is said beside init, start, the message, update and active."""
    return (
        ir.combine is MIN
        and ir.sends is TRUE
        and ir.wants is TRUE
        and ir.converged is FALSE
        and ir.update_on == "received"
        and not (ir.sent or ir.edge_fields or ir.reductions or ir.tables)
    )


def _step(message: Expr, level: Expr) -> float | None:
    """The ``c`` of ``level + c``; None if it is something else, or negative."""
    if message is level:
        return 0
    if message.op == "add" and level in message.args:
        other = message.args[1] if message.args[0] is level else message.args[0]
        if other.op == "const" and not isinstance(other.value, bool) and 0 <= other.value < math.inf:
            return other.value  # type: ignore[no-any-return]
    return None


def _is_quiet(active: Expr) -> bool:
    """Whether a vertex that has not changed is not active; a level is never NaN, which is not even itself."""

    def unchanged(node: Expr) -> Expr | None:
        return Expr(node.op, attr=("old", *node.attr[1:])) if node.role == "new" else None

    def is_never(expr: Expr) -> bool:
        match expr.op:
            case "ne" | "lt" | "gt":
                return expr.args[0] is expr.args[1]
            case "or":
                return all(map(is_never, expr.args))
            case "and":
                return any(map(is_never, expr.args))
        return expr is FALSE

    return is_never(substitute(active, unchanged))


def _ends(init: Expr, start: Expr) -> tuple[float, float] | None:
    """The ``a`` and ``b`` of ``where(start, a, b)``."""
    if init.op != "where" or any(part.op != "const" for part in init.args[1:]):
        return None
    test, a, b = init.args[0], init.args[1].value, init.args[2].value
    if test == start:
        return a, b
    return (b, a) if test == build("invert", start) else None


def _is_kept(value: float, dtype: np.dtype[Any]) -> bool:
    """Whether a constant is the same number in the field's type, and a number at all."""
    if dtype.kind == "f":
        return bool(dtype.type(value) == value)  # not NaN
    bounds = np.iinfo(dtype)
    return math.isfinite(value) and value == int(value) and bounds.min <= value <= bounds.max
