"""Messages against edges, or both ways: such a program runs on other rows, and what it asks of the graph follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from dromos.program.expr import Expr, reads, substitute
from dromos.program.ir import FUNCTIONS, ParamSpec, ProgramIR

__all__ = ["WAYS", "Along", "hidden_params", "rewritten", "turned", "way_symbol"]

Along: TypeAlias = Literal["out", "in", "both"]
WAYS: Final = ("forward", "backward")
"""What an edge is asked in a program of both directions: does the message go along it, does it go against it?"""

_INT64, _BOOL = np.dtype(np.int64), np.dtype(np.bool_)
_PREFIX: Final = "given__"  # two underscores, so that no parameter of a user's is called that
_SPECS: Final = (
    ParamSpec(f"{_PREFIX}out_degree", _INT64, per_vertex=True),
    ParamSpec(f"{_PREFIX}in_degree", _INT64, per_vertex=True),
    ParamSpec(f"{_PREFIX}num_arcs", _INT64),
    *(ParamSpec(f"{_PREFIX}{way}", _BOOL, per_edge=True) for way in WAYS),
)


def way_symbol(way: str) -> Expr:
    """``edge.forward`` or ``edge.backward``."""
    return Expr("edge_param", attr=(f"{_PREFIX}{way}", 0))


def hidden_params(ir: ProgramIR) -> dict[str, str]:
    """Parameters of a program of both directions that its engine gives, with the fact about the graph that each is."""
    return {spec.name: spec.name.removeprefix(_PREFIX) for spec in ir.params if spec in _SPECS}


def turned(ir: ProgramIR) -> ProgramIR:
    """``ir`` for the rows that it runs on: those of the transpose, or those with every edge both ways.

    On the transpose a vertex has as many out-arcs as it has in-arcs in the graph. With every edge both ways nothing
    tells them apart any more, so they are parameters.
    """
    if ir.direction == "out":
        return ir
    made = rewritten(ir, _swapped if ir.direction == "in" else _given)
    if ir.direction == "in":
        return made
    named = {node.attr[1] for node in reads(made.exprs(), "vertex_param")}
    named |= {node.attr[0] for node in reads(made.exprs(), "param", "edge_param")}
    return replace(made, params=(*made.params, *(spec for spec in _SPECS if spec.name in named)))


def rewritten(ir: ProgramIR, rewrite: Callable[[Expr], Expr | None]) -> ProgramIR:
    """``ir`` with each symbol for which ``rewrite`` gives another one replaced."""
    changes: dict[str, Any] = {}
    for function in FUNCTIONS:
        value = getattr(ir, function)
        if function == "reductions":
            changes[function] = tuple(replace(r, expr=substitute(r.expr, rewrite)) for r in value)
        elif isinstance(value, Expr):
            changes[function] = substitute(value, rewrite)
        elif function == "message":
            changes[function] = tuple(substitute(expr, rewrite) for expr in value)
        else:
            changes[function] = tuple((name, tuple(substitute(e, rewrite) for e in exprs)) for name, exprs in value)
    return replace(ir, **changes)


def _swapped(node: Expr) -> Expr | None:
    other = {"out_degree": "in_degree", "in_degree": "out_degree"}.get(node.op)
    return None if other is None else Expr(other, attr=node.attr)


def _given(node: Expr) -> Expr | None:
    if node.op in ("out_degree", "in_degree"):
        return Expr("vertex_param", attr=(node.attr[0], f"{_PREFIX}{node.op}", 0))
    return Expr("param", attr=(f"{_PREFIX}num_arcs", 0)) if node.op == "num_arcs" else None
