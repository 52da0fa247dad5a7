"""What stands beside the functions of a program, checked; and what its functions may not read."""

from __future__ import annotations

import difflib
import inspect
import warnings
from collections.abc import Collection, Mapping
from typing import Any, cast

from dromos.errors import DromosWarning, ProgramError
from dromos.program.declare import Reduction
from dromos.program.direction import Along
from dromos.program.expr import TRUE, Expr, reads
from dromos.program.ir import EdgeWeights, FieldSpec, ProgramIR, UpdateOn
from dromos.program.monoid import MIN, Monoid

__all__ = ["check_reads", "direction", "edge_weights", "priority", "update_on"]


def update_on(cls: Any, combine: Monoid, active: Expr) -> UpdateOn:
    """Whom ``update`` is called for."""
    chosen: Any = cls.update_on or ("all" if active is TRUE and combine.has_identity else "received")
    if chosen not in ("all", "received"):
        raise ProgramError(f"update_on = {chosen!r} must be 'all' or 'received'", program=cls.__name__)
    if chosen == "all" and not combine.has_identity:
        raise ProgramError(
            "ANY has no identity, so with update_on = 'all' a vertex without a message has nothing to update with",
            program=cls.__name__,
        )
    return cast(UpdateOn, chosen)


def direction(cls: Any, edge_fields: Mapping[str, FieldSpec]) -> Along:
    """Along which edges messages go."""
    chosen: Any = cls.direction
    if chosen not in ("out", "in", "both"):
        raise ProgramError(f"direction = {chosen!r} must be 'out', 'in' or 'both'", program=cls.__name__)
    if chosen != "out" and edge_fields:
        raise ProgramError(
            f"direction = {chosen!r} with the edge field {next(iter(edge_fields))!r}: edge fields are written "
            "along out-edges",
            program=cls.__name__,
        )
    return cast(Along, chosen)


def edge_weights(cls: Any) -> EdgeWeights:
    """What the program promises about weights."""
    chosen: Any = cls.edge_weights
    if chosen not in ("any", "nonnegative", "positive"):
        raise ProgramError(
            f"edge_weights = {chosen!r} must be 'any', 'nonnegative' or 'positive'", program=cls.__name__
        )
    return cast(EdgeWeights, chosen)


def priority(cls: Any, fields: Mapping[str, FieldSpec], combine: Monoid) -> str | None:
    """The field whose least values are settled first."""
    name: str | None = cls.priority
    if name is not None and (name not in fields or fields[name].size is not None):
        raise ProgramError(
            f"priority = {name!r} is not a scalar field; the fields are {', '.join(fields)}", program=cls.__name__
        )
    if name is not None and combine is not MIN:
        raise ProgramError(
            f"priority = {name!r} settles the vertices with the least value first, which helps only with combine = "
            f"dr.MIN; with {combine} leave it out",
            program=cls.__name__,
        )
    return name


def check_reads(ir: ProgramIR) -> None:
    """Reductions are known between supersteps only; the vertices are over when converged() is asked."""
    for function in ("init", "edge_init", "start"):
        if found := reads(ir.exprs(function), "reduction"):
            raise ProgramError(f"reads self.{found[0].attr[0]} before the first superstep", **ir.places[function])
    for function in ("init", "edge_init", "start", "converged"):
        if found := reads(ir.exprs(function), "table"):
            raise ProgramError(
                f"reads {found[0].attr[1]!r} of another vertex; self.at() is for functions of a superstep",
                **ir.places[function],
            )
    for spec in ir.reductions:
        if found := reads([spec.expr], "table"):
            raise ProgramError(
                f"a reduction cannot read {found[0].attr[1]!r} of another vertex", **ir.places[spec.name]
            )
        if found := reads([spec.expr], "reduction"):
            raise ProgramError(
                f"a reduction cannot read another reduction, {found[0].attr[0]!r}", **ir.places[spec.name]
            )


_ATTRIBUTES = ("combine", "direction", "phases", "update_on", "priority", "any_order", "edge_weights")


def warn_of_near_misses(cls: Any, functions: Collection[str]) -> None:
    """Warn of a name that is nearly that of an optional part of a program, and that nothing uses.

    Without the warning such a program runs as if that part was not there.
    """
    own: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.partition(".")[0] not in ("builtins", "dromos"):
            own |= vars(base)
    bodies = [value.function if isinstance(value, Reduction) else value for value in own.values()]
    used = {name for body in bodies if inspect.isfunction(body) for name in body.__code__.co_names}
    for name, value in own.items():
        if name.startswith("_") or name in used or not (inspect.isfunction(value) or isinstance(value, str | bool)):
            continue
        parts = functions if inspect.isfunction(value) else _ATTRIBUTES
        if name in parts or any(name.startswith(f"{part}_") for part in parts):
            continue
        if near := difflib.get_close_matches(name, [part for part in parts if part not in own], 1, 0.8):
            warnings.warn(
                f"{cls.__name__}.{name} is not a part of a program, and nothing uses it; did you mean {near[0]!r}?",
                DromosWarning,
                stacklevel=2,
            )
