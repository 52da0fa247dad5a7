"""A program on a graph whose vertices were given other numbers, which it never learns of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.program.direction import rewritten
from dromos.program.expr import Expr, build, const, reads, substitute
from dromos.program.ir import ParamSpec, ProgramIR
from dromos.program.model import Program
from dromos.program.patterns import GIVEN_ID
from dromos.program.types import ID

__all__ = ["renumbered"]

_NEW_ID: Final = "_new_id"
"""By the given id of a vertex: one more than its number now, so that 0, which is read for an id that no vertex has, is
the number of none."""


def renumbered(program: Program, given_ids: Array, given_arcs: Array | None = None) -> Program:
    """``program`` for a graph whose vertex ``i`` is the given vertex ``given_ids[i]``.

    Where the program says ``v.id`` it reads a parameter that holds the given id, so the answer names vertices as they
    were given, on every engine. Parameters of vertices are put into the new order, and so are those of edges, by
    ``given_arcs``: the given number of each arc.

    >>> import numpy as np
    >>> import dromos.program as dr
    >>> from dromos.engines.reference import ReferenceEngine
    >>> from dromos.graph import Graph
    >>> class Own(dr.Program):
    ...     mark = dr.vertex_param(np.int32)
    ...     seen = dr.field(np.int32)
    ...     combine = dr.SUM
    ...     def init(self, v): return 10 * v.id + v.mark
    ...     def compute(self, u, edge, v): return 0
    ...     def update(self, v, message): return v.seen
    >>> program = renumbered(Own(mark=[5, 6, 7]), np.array([2, 0, 1], np.int32))
    >>> ReferenceEngine().prepare(program, Graph.from_edges([0], [1], num_vertices=3)).result()["seen"].tolist()
    [27, 5, 16]
    """
    ir, orders = program.ir(), {"vertex": given_ids, "edge": given_arcs}
    moved = {
        spec.name: program.params[spec.name][orders["vertex" if spec.per_vertex else "edge"]]
        for spec in ir.params
        if spec.per_vertex or spec.per_edge
    }
    if not reads(ir.exprs(), "id") and not ir.reads_by_id:
        return program.given(**moved)
    own: dict[str, Any] = {GIVEN_ID: given_ids}
    if ir.reads_by_id:
        own[_NEW_ID] = np.empty(len(given_ids), np.int64)
        own[_NEW_ID][given_ids] = np.arange(1, len(given_ids) + 1)
    made = program.given(**moved, **own)
    made.__class__ = _class_of(type(program))
    return made


def _class_of(cls: type[Program]) -> type[Program]:
    """The class of the renumbered program; made once for each class, so that its kernels are compiled once."""
    found: type[Program] | None = cls.__dict__.get("_renumbered")
    if found is None:
        found = type(cls.__name__, (cls,), {"_ir": _rewritten(cls.ir()), "__module__": cls.__module__})
        cls._renumbered = found  # type: ignore[attr-defined]
    return found


def _given(node: Expr) -> Expr | None:
    if node.op == "id":
        return Expr("vertex_param", attr=(node.attr[0], GIVEN_ID, 0))
    if node.op == "at":
        table, place, count = node.args
        found = Expr("at", (Expr("table", attr=("vertex_param", _NEW_ID)), substitute(place, _given), count), (0, None))
        return Expr("at", (table, build("sub", found, const(1)), count), node.attr)
    return None


def _rewritten(ir: ProgramIR) -> ProgramIR:
    made = rewritten(ir, _given)
    params = [*ir.params, ParamSpec(GIVEN_ID, ID, per_vertex=True)]
    if ir.reads_by_id:
        params.append(ParamSpec(_NEW_ID, np.dtype(np.int64), per_vertex=True))
    return replace(made, params=tuple(params))
