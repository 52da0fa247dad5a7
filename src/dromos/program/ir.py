"""A traced program: the whole of what a user wrote, as data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from dromos.program.expr import Expr, render, walk
from dromos.program.monoid import Monoid
from dromos.program.place import Place
from dromos.program.types import IdType, NumberType

__all__ = [
    "Assignments",
    "EdgeWeights",
    "FieldSpec",
    "Kind",
    "ParamSpec",
    "ProgramIR",
    "ReductionSpec",
    "UpdateOn",
]

Kind: TypeAlias = Literal["traversal", "iterative"]
UpdateOn: TypeAlias = Literal["all", "received"]
EdgeWeights: TypeAlias = Literal["any", "nonnegative", "positive"]
"""What a program promises about the weights of its graphs."""
Assignments: TypeAlias = tuple[tuple[str, tuple[Expr, ...]], ...]
"""New values by field, in the order of the fields; one expression a component."""


@dataclass(frozen=True)
class FieldSpec:
    """A typed value of every vertex (or edge): a scalar, or a vector of ``size`` components."""

    name: str
    dtype: NumberType
    size: int | None = None

    @property
    def width(self) -> int:
        return self.size or 1

    def __str__(self) -> str:
        return f"{self.name} {self.dtype}" + (f"[{self.size}]" if self.size else "")


@dataclass(frozen=True)
class ParamSpec(FieldSpec):
    """A value given for each run; ``per_vertex`` ones are arrays with one row per vertex, ``per_edge`` one per arc."""

    per_vertex: bool = False
    per_edge: bool = False

    @property
    def is_vertex(self) -> bool:
        """Whether the value is declared to be a vertex (or several) of the graph."""
        return isinstance(self.dtype, IdType) and not self.per_vertex and not self.per_edge

    def __str__(self) -> str:
        return super().__str__() + " per vertex" * self.per_vertex + " per edge" * self.per_edge


@dataclass(frozen=True)
class ReductionSpec:
    """A number folded over all vertices at the end of each superstep, visible from the next one.

    A reduction of several components is several of these, one after the other, of one ``whole``. Those of a keyed
    monoid are merged together: the whole row that wins is kept.
    """

    name: str
    monoid: Monoid
    expr: Expr
    whole: str


@dataclass(frozen=True)
class ProgramIR:
    """A program after tracing. Every engine, the analysis and every code generator read this and nothing else."""

    name: str
    fields: tuple[FieldSpec, ...]
    edge_fields: tuple[FieldSpec, ...]
    params: tuple[ParamSpec, ...]
    reductions: tuple[ReductionSpec, ...]
    combine: Monoid
    init: Assignments
    edge_init: Assignments
    start: Expr
    sends: Expr
    wants: Expr
    message: tuple[Expr, ...]
    sent: Assignments
    update: Assignments
    edge_update: Assignments
    active: Expr
    converged: Expr
    update_on: UpdateOn
    kind: Kind
    priority: str | None
    direction: Literal["out", "in", "both"] = "out"
    any_order: bool = False
    edge_weights: EdgeWeights = "any"
    places: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)

    def field(self, name: str) -> FieldSpec:
        """The field called ``name``."""
        return next(spec for spec in (*self.fields, *self.edge_fields) if spec.name == name)

    @cached_property
    def edge_params(self) -> tuple[ParamSpec, ...]:
        """Given values of the arcs, which lie beside the edge fields."""
        return tuple(spec for spec in self.params if spec.per_edge)

    @cached_property
    def context_params(self) -> tuple[ParamSpec, ...]:
        """All other parameters: what kernels find in their context."""
        return tuple(spec for spec in self.params if not spec.per_edge)

    @cached_property
    def joint_reductions(self) -> tuple[tuple[Monoid, tuple[int, ...]], ...]:
        """The places among :attr:`reductions` of those that are merged together: one, or all of a keyed monoid."""
        joint: dict[str, list[int]] = {}
        for place, spec in enumerate(self.reductions):
            joint.setdefault(spec.whole if spec.monoid.keyed else spec.name, []).append(place)
        return tuple((self.reductions[places[0]].monoid, tuple(places)) for places in joint.values())

    def whole_reductions(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """By the names that the program gave them; those of several components as tuples."""
        found: dict[str, Any] = {}
        for spec in self.reductions:
            single = spec.name == spec.whole
            found[spec.whole] = values[spec.name] if single else (*found.get(spec.whole, ()), values[spec.name])
        return found

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The fields that are read by a vertex's id: engines keep what the last superstep left in them."""
        named = {node.attr[1] for node in walk(self.exprs()) if node.op == "table" and node.attr[0] == "field"}
        return tuple(spec.name for spec in self.fields if spec.name in named)

    @cached_property
    def operations(self) -> frozenset[str]:
        """The kinds of all nodes in all functions: ``"weight" in ir.operations`` where weights are looked at."""
        return frozenset(node.op for node in walk(self.exprs()))

    @cached_property
    def reads_by_id(self) -> bool:
        """Whether a vertex's values are read by its id, so that vertices have to lie in the given order."""
        return "table" in self.operations

    @property
    def written(self) -> tuple[str, ...]:
        """The fields that a superstep may change, in order."""
        names = {name for name, _ in (*self.update, *self.sent)}
        return tuple(spec.name for spec in self.fields if spec.name in names)

    def roots(self, *functions: str) -> Iterator[tuple[str, Expr]]:
        """``(label, expression)`` of every result of the named functions (all of them when none is named)."""
        for function in functions or FUNCTIONS:
            if function == "reductions":
                yield from ((f"reduction.{r.name}", r.expr) for r in self.reductions)
                continue
            value = getattr(self, function)
            if isinstance(value, Expr):
                yield function, value
            elif function == "message":
                yield from ((f"message.{i}", expr) for i, expr in enumerate(value))
            else:
                yield from ((f"{function}.{name}.{i}", e) for name, exprs in value for i, e in enumerate(exprs))

    def exprs(self, *functions: str) -> list[Expr]:
        """The expressions of the named functions."""
        return [expr for _, expr in self.roots(*functions)]

    @cached_property
    def vertex_params(self) -> frozenset[str]:
        """Parameters that have to be vertices: declared with ``dr.ID``, or compared with ``v.id`` by init or start."""
        compared = [node.args for node in walk(self.exprs("init", "start")) if node.op == "eq"]
        pairs = [pair for one, other in compared for pair in ((one, other), (other, one))]
        return frozenset(
            [spec.name for spec in self.params if spec.is_vertex]
            + [other.attr[0] for one, other in pairs if one.op == "id" and other.op == "param"]
        )

    @cached_property
    def text(self) -> str:
        """The canonical text: equal for programs that say the same by the same names, whatever the class is called."""
        head = [
            *(f"field {spec}" for spec in self.fields),
            *(f"edge field {spec}" for spec in self.edge_fields),
            *(f"param {spec}" for spec in self.params),
            *(f"reduction {r.name} {r.monoid}" for r in self.reductions),
            f"combine {self.combine}; update on {self.update_on}; {self.kind}; priority {self.priority}",
        ]
        head += [f"along {self.direction}"] if self.direction != "out" else []
        head += ["sums in any order"] if self.any_order else []
        head += [f"weights {self.edge_weights}"] if self.edge_weights != "any" else []
        return "\n".join(head) + "\n" + render(dict(self.roots())) + "\n"

    @cached_property
    def hash(self) -> str:
        """A stable name for the content: 16 hexadecimal digits of the SHA-256 of :attr:`text`."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


FUNCTIONS: Final = (
    "init",
    "edge_init",
    "start",
    "sends",
    "wants",
    "message",
    "sent",
    "update",
    "edge_update",
    "active",
    "converged",
    "reductions",
)
