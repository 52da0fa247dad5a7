"""A program that says in ``wants`` what others say in ``update``: take one message, and no more after that."""

from __future__ import annotations

from dataclasses import replace

from dromos.program.expr import TRUE, Expr, build
from dromos.program.ir import ProgramIR
from dromos.program.patterns import claimed_field, greatest, is_nonnegative
from dromos.program.symbols import changed_fields

__all__ = ["guarded"]


def guarded(ir: ProgramIR) -> ProgramIR:
    """The program with its ``wants`` as the guard of its ``update``, where a vertex then is claimed by one message.

    A vertex that wants none gets none, so ``update`` may keep all fields as they are for it, and it is not active. That
    holds only where nothing else could tell the two apart: a vertex is active if a field has changed, no field changes
    in between (``sent``), and no edge is written. All new values are whole numbers, as the fields are, so that choosing
    between new and old keeps their type.

    >>> import numpy as np
    >>> import dromos as dr
    >>> class Tree(dr.Program):
    ...     parent = dr.field(np.int64, init=-1)
    ...     combine = dr.ANY
    ...     def start(self, v): return v.id == 0
    ...     def wants(self, v): return v.parent < 0
    ...     def compute(self, u, edge, v): return u.id
    ...     def update(self, v, message): return message
    >>> guarded(Tree.ir()).wants is TRUE
    True
    """
    written = [ir.field(name) for name, _ in ir.update]
    if ir.wants is TRUE or ir.sent or ir.edge_update or ir.active != changed_fields(written).expr:
        return ir
    for name, exprs in ir.update:
        most = greatest(ir.field(name).dtype)
        if most == float("inf") or not all(is_nonnegative(expr, ir.message, most) for expr in exprs):
            return ir
    update = tuple((name, _kept(ir.wants, name, exprs)) for name, exprs in ir.update)
    found = replace(ir, wants=TRUE, update=update)
    return ir if claimed_field(found) is None else found


def _kept(wants: Expr, name: str, exprs: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """New values of a field where a vertex wants a message, and what it has where it does not."""
    own = (Expr("field", attr=("vertex", name, index)) for index in range(len(exprs)))
    return tuple(build("where", wants, expr, state) for expr, state in zip(exprs, own, strict=True))
