"""The small functions that make up a program: the arguments and results of each, in a fixed order.

The kernel skeletons call these; they do not depend on how a kernel traverses the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dromos.program import Expr, TypedProgram, analyse
from dromos.program.expr import TRUE, reads
from dromos.program.ir import Assignments
from dromos.program.types import BOOL

__all__ = ["Argument", "Function", "argument_name", "assigning", "functions"]

# The order of arguments: by kind of symbol, then as declared.
_KINDS: Final = (
    "field",
    "vertex_param",
    "id",
    "out_degree",
    "in_degree",
    "weight",
    "edge_field",
    "edge_param",
    "message",
)
_ORDER: Final = (*_KINDS, "table", "param", "reduction", "superstep", "num_vertices", "num_arcs")
_ROLES: Final = {"source": 0, "old": 0, "vertex": 1, "target": 1, "new": 1}
_PREFIX: Final = {"source": "u", "target": "v", "vertex": "v", "old": "old", "new": "new"}


@dataclass(frozen=True)
class Argument:
    """One argument: its name, its symbol, and its exact type."""

    name: str
    leaf: Expr
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class Function:
    """A function of scalars: ``def name(arguments) -> results`` (one value, or a tuple of several)."""

    name: str
    arguments: tuple[Argument, ...]
    roots: tuple[Expr, ...]
    results: tuple[np.dtype[Any], ...]
    writes: tuple[tuple[str, int], ...] = ()
    """For functions that return new field values: the ``(field, component)`` of each result."""


def functions(typed: TypedProgram) -> tuple[Function, ...]:
    """The functions of a program, always the same ones in the same order (edge functions only with edge fields).

    >>> import dromos.program as dr
    >>> class Labels(dr.Program):
    ...     label = dr.field(dr.ID)
    ...     combine = dr.MIN
    ...     def init(self, v): return v.id
    ...     def compute(self, u, edge, v): return u.label
    ...     def update(self, v, message): return dr.minimum(v.label, message)
    >>> for f in functions(Labels.typed(dr.GraphTypes())):
    ...     print(f.name, *(a.name for a in f.arguments))
    init v_id
    start
    wants
    sends
    compute u_label
    sent
    update v_label message
    active old_label new_label
    converged
    """
    ir = typed.ir
    wants = analyse(typed).wants
    edges = [("edge_init", ir.edge_init), ("edge_update", ir.edge_update)] if ir.edge_fields else []
    return (
        assigning(typed, "init", ir.init),
        _truth(typed, "start", ir.start),
        _truth(typed, "wants", TRUE if wants is None else wants),
        _truth(typed, "sends", ir.sends),
        _function(typed, "compute", ir.message, typed.accumulators),
        assigning(typed, "sent", ir.sent),
        assigning(typed, "update", ir.update),
        _truth(typed, "active", ir.active),
        *(_function(typed, f"reduce_{r.name}", (r.expr,), (typed.reduction_type(r.name),)) for r in ir.reductions),
        _truth(typed, "converged", ir.converged),
        *(assigning(typed, name, assignments) for name, assignments in edges),
    )


def _truth(typed: TypedProgram, name: str, root: Expr) -> Function:
    return _function(typed, name, (root,), (BOOL,))


def assigning(typed: TypedProgram, name: str, assignments: Assignments) -> Function:
    """A function called ``name`` that returns new values of fields."""
    writes = tuple((field, index) for field, exprs in assignments for index in range(len(exprs)))
    roots = tuple(expr for _, exprs in assignments for expr in exprs)
    return _function(typed, name, roots, tuple(typed.dtype(field) for field, _ in writes), writes)


def _function(
    typed: TypedProgram,
    name: str,
    roots: tuple[Expr, ...],
    results: tuple[np.dtype[Any], ...],
    writes: tuple[tuple[str, int], ...] = (),
) -> Function:
    leaves = [leaf for leaf in reads(roots, *_ORDER) if leaf.op != "weight" or typed.types.weight is not None]
    declared = {
        spec.name: rank for rank, spec in enumerate((*typed.ir.fields, *typed.ir.edge_fields, *typed.ir.params))
    }

    def place(leaf: Expr) -> tuple[object, ...]:
        role = 2 if leaf.role is None else _ROLES[leaf.role]
        names = [declared[part] for part in leaf.attr if part in declared]
        indices = [part for part in leaf.attr if isinstance(part, int)]
        return role, _ORDER.index(leaf.op), names, indices, [str(part) for part in leaf.attr]

    arguments = tuple(
        Argument(argument_name(leaf, typed), leaf, typed.typing.of(leaf).dtype) for leaf in sorted(leaves, key=place)
    )
    return Function(name, arguments, roots, results, writes)


def argument_name(leaf: Expr, typed: TypedProgram) -> str:
    """The name of a symbol in generated code: ``u_distance``, ``weight``, ``message``, ``p_source``, ``r_mass``."""
    match leaf.op:
        case "field" | "vertex_param":
            role, name, index = leaf.attr
            return f"{_PREFIX[role]}_{name}{_suffix(name, index, typed)}"
        case "id" | "out_degree" | "in_degree":
            return f"{_PREFIX[leaf.attr[0]]}_{leaf.op}"
        case "edge_field" | "edge_param":
            return f"edge_{leaf.attr[0]}{_suffix(leaf.attr[0], leaf.attr[1], typed)}"
        case "param":
            return f"p_{leaf.attr[0]}{_suffix(leaf.attr[0], leaf.attr[1], typed)}"
        case "table":
            return f"at_{leaf.attr[1]}"
        case "reduction":
            return f"r_{leaf.attr[0]}"
        case "message":
            return "message" if len(typed.ir.message) == 1 else f"message__{leaf.attr[0]}"
    return leaf.op  # weight, superstep, num_vertices, num_arcs


def _suffix(name: str, index: int, typed: TypedProgram) -> str:
    """``__0`` and so on for the components of a vector; two underscores, so that no field has that name."""
    specs = (*typed.ir.fields, *typed.ir.edge_fields, *typed.ir.params)
    return "" if next(spec for spec in specs if spec.name == name).size is None else f"__{index}"
