"""What a program's functions are called with: symbolic vertices and edges."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from dromos.errors import ProgramError, ProgramTypeError
from dromos.program.declare import symbols
from dromos.program.direction import WAYS, way_symbol
from dromos.program.expr import Expr, build
from dromos.program.ir import FieldSpec, ParamSpec
from dromos.program.place import here
from dromos.program.types import IdType
from dromos.program.values import Value, Vector, lift

__all__ = ["Edge", "OtherVertex", "Vertex", "changed_fields"]


class Vertex:
    """A symbolic vertex: its fields, its given values, its id and degrees."""

    def __init__(self, role: str, specs: Mapping[str, FieldSpec]) -> None:
        self._role, self._specs = role, specs

    def __getattr__(self, name: str) -> Value | Vector:
        if name in ("id", "out_degree", "in_degree"):
            return Value(Expr(name, attr=(self._role,)))
        spec = self._specs.get(name)
        if spec is None:
            known = ", ".join([*self._specs, "id", "out_degree", "in_degree"])
            raise ProgramError(f"a vertex has no {name!r} here; it has {known}", **here())
        op = "vertex_param" if isinstance(spec, ParamSpec) else "field"
        return symbols(op, (self._role, name), spec.size)


class OtherVertex:
    """A vertex that is named by its id: its fields as the last superstep left them, and its given values."""

    def __init__(self, vertex: Any, specs: Mapping[str, FieldSpec]) -> None:
        place = lift(vertex)
        if isinstance(place, Vector):
            raise ProgramTypeError("self.at() takes one id, not a vector of them", **here())
        self._place, self._specs = place.expr, specs

    def __getattr__(self, name: str) -> Value | Vector:
        spec = self._specs.get(name)
        if spec is None:
            raise ProgramError(f"self.at() has no {name!r}; it has {', '.join(self._specs)}", **here())
        table = Expr("table", attr=("vertex_param" if isinstance(spec, ParamSpec) else "field", name))
        found = [
            Expr("at", (table, self._place, Expr("num_vertices")), (index, spec.size)) for index in range(spec.width)
        ]
        return Value(found[0]) if spec.size is None else Vector(found)


class Edge:
    """A symbolic edge: its weight (1 in an unweighted graph), its given values and the edge fields."""

    def __init__(self, specs: Mapping[str, FieldSpec], both_ways: bool = False) -> None:
        self._specs, self._both_ways = specs, both_ways

    def __getattr__(self, name: str) -> Value | Vector:
        if name == "weight":
            return Value(Expr("weight"))
        spec = self._specs.get(name)
        if spec is None and name in WAYS:
            if not self._both_ways:
                raise ProgramError(f"edge.{name} is for programs with direction = 'both'", **here())
            return Value(way_symbol(name))
        if spec is None:
            raise ProgramError(f"an edge has no {name!r} here; it has {', '.join(['weight', *self._specs])}", **here())
        return symbols("edge_param" if isinstance(spec, ParamSpec) else "edge_field", (name,), spec.size)


def changed_fields(specs: list[FieldSpec]) -> Value:
    """Whether any of the fields differs; for floats by < and >, so that a NaN counts as unchanged."""
    tests = []
    for spec in specs:
        for index in range(spec.width):
            old, new = (Expr("field", attr=(role, spec.name, index)) for role in ("old", "new"))
            if not isinstance(spec.dtype, IdType) and spec.dtype.kind == "f":
                tests.append(build("or", build("lt", new, old), build("gt", new, old)))
            else:
                tests.append(build("ne", new, old))
    return Value(reduce(lambda a, b: build("or", a, b), tests))
