"""Tracing: a program's functions are called once with symbols, and what they return becomes the IR."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from dromos.errors import ProgramError, ProgramTypeError
from dromos.program import checks
from dromos.program.declare import (
    REQUIRED,
    RESERVED,
    EdgeField,
    Field,
    Param,
    Reduction,
    component_name,
    declared,
    symbols,
)
from dromos.program.direction import turned
from dromos.program.expr import TRUE, Expr
from dromos.program.ir import Assignments, FieldSpec, ParamSpec, ProgramIR, ReductionSpec
from dromos.program.monoid import Monoid, monoid_of
from dromos.program.phases import choose, phase_names
from dromos.program.place import Place, place_of, tracing
from dromos.program.symbols import Edge, Vertex, changed_fields
from dromos.program.trouble import explained
from dromos.program.typed import TypedProgram
from dromos.program.types import GraphTypes
from dromos.program.values import Value, Vector, lift
from dromos.program.wanting import guarded

__all__ = ["trace"]

# Function -> the names of its arguments after self. Errors show these.
ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "init": ("v",),
    "start": ("v",),
    "compute": ("u", "edge", "v"),
    "sends": ("u", "edge", "v"),
    "wants": ("v",),
    "sent": ("u",),
    "update": ("v", "message"),
    "active": ("old", "new"),
    "converged": (),
    "edge_init": ("u", "edge", "v"),
    "edge_update": ("u", "edge", "v"),
}


def trace(cls: type[Any]) -> ProgramIR:
    """The IR of the program ``cls``, checked.

    A second trace has to give the same: what changes from call to call (a random number, a clock) would silently become
    one constant for all vertices and all supersteps.
    """
    first, again = _Tracer(cls).run(), _Tracer(cls).run()
    for (label, expr), (_, other) in zip(first.roots(), again.roots(), strict=False):
        if expr is not other:
            word, *parts = label.split(".")
            function = "compute" if word == "message" else parts[0] if word == "reductions" else word
            raise ProgramError(
                "returns something else each time it is called, such as a random number. Functions are called with "
                "symbols before the run, so that would be one constant for all vertices. Draw random numbers with "
                "dr.random(v.id, self.superstep), or pass them as a dr.vertex_param (an array with one row per vertex)",
                **first.places.get(function, Place(program=cls.__name__, function=function)),
            )
    checks.warn_of_near_misses(cls, ARGUMENTS)
    return first


class _Tracer:
    def __init__(self, cls: type[Any]) -> None:
        self.cls, self.name = cls, cls.__name__
        self.declared_fields = dict(declared(cls, Field))
        self.declared_edges = dict(declared(cls, EdgeField))
        self.fields = {n: FieldSpec(n, f.dtype, f.size) for n, f in self.declared_fields.items()}
        self.edge_fields = {n: FieldSpec(n, f.dtype, f.size) for n, f in self.declared_edges.items()}
        self.params = {n: ParamSpec(n, p.dtype, p.size, p.per_vertex, p.per_edge) for n, p in declared(cls, Param)}
        self.given = {n: p for n, p in self.params.items() if p.per_vertex}
        self.edge_given = {n: p for n, p in self.params.items() if p.per_edge}
        self.program = object.__new__(cls)
        self.program.is_traced = True
        self.program.reduction_sizes = {}
        self.program.readable = {**self.fields, **self.given}
        self.places: dict[str, Place] = {}
        self.phases = phase_names(cls)

    def run(self) -> ProgramIR:
        if taken := RESERVED & {*self.fields, *self.edge_fields, *self.params, *dict(declared(self.cls, Reduction))}:
            raise ProgramError(f"{', '.join(sorted(taken))} is reserved; choose another name", program=self.name)
        if not self.fields:
            raise ProgramError(
                "has no field; declare one, such as rank = dr.field(np.float64, init=0.0)", program=self.name
            )
        if not hasattr(self.cls, "combine"):
            raise self.missing("combine", "a monoid, such as combine = dr.MIN")
        combine = monoid_of(self.cls.combine, self.name)
        u, v = self.vertex("source"), self.vertex("target")
        direction = checks.direction(self.cls, self.edge_fields)
        edge = Edge({**self.edge_fields, **self.edge_given}, direction == "both")
        vertex = self.vertex("vertex")
        bare = {role: Vertex(role, self.given) for role in ("source", "target", "vertex")}

        old, new = self.vertex("old"), self.vertex("new")
        reductions = self.reductions(vertex, old, new)
        init = self.initial("init", self.declared_fields, self.fields, bare["vertex"])
        edge_init = self.initial(
            "edge_init", self.declared_edges, self.edge_fields, bare["source"], Edge(self.edge_given), bare["target"]
        )
        parts, is_row = self.message(u, edge, v)
        if combine.keyed and len(parts) < 2:
            raise ProgramError(f"{combine} needs a message (key, value, ...)", **self.places["compute"])
        if combine.parts and len(parts) != len(combine.parts):
            raise ProgramError(
                f"returns a message of {len(parts)} parts, but combine merges {len(combine.parts)}",
                **self.places["compute"],
            )
        received = symbols("message", (), len(parts) if is_row else None)
        update = self.assigned("update", self.fields, vertex, received)
        if not update:
            raise ProgramError("writes no field", **self.places["update"])
        sent = self.assigned("sent", self.fields, vertex, default={})
        changed = changed_fields([self.fields[name] for name, _ in update])
        active = self.truth("active", old, new, default=changed)
        start = self.scalar("start", self.call("start", vertex, default=True))
        ir = ProgramIR(
            name=self.name,
            fields=tuple(self.fields.values()),
            edge_fields=tuple(self.edge_fields.values()),
            params=tuple(self.params.values()),
            reductions=reductions,
            combine=combine,
            init=init,
            edge_init=edge_init,
            start=start,
            sends=self.truth("sends", u, edge, v, default=True),
            wants=self.truth("wants", vertex, default=True),
            message=parts,
            sent=sent,
            update=update,
            edge_update=self.assigned("edge_update", self.edge_fields, u, edge, v, default={}),
            active=active,
            converged=self.truth("converged", default=False),
            update_on=checks.update_on(self.cls, combine, active),
            kind=self.cls.kind or ("iterative" if start is TRUE else "traversal"),
            priority=checks.priority(self.cls, self.fields, combine),
            direction=direction,
            any_order=bool(self.cls.any_order),
            edge_weights=checks.edge_weights(self.cls),
            places=self.places,
        )
        ir = guarded(turned(ir))
        checks.check_reads(ir)
        TypedProgram(ir, GraphTypes())  # type errors show now, not when a graph comes
        return ir

    def vertex(self, role: str) -> Vertex:
        return Vertex(role, {**self.fields, **self.given})

    def missing(self, name: str, what: str) -> ProgramError:
        written = [n for n in vars(self.cls) if not n.startswith("_") and n not in self.fields]
        near = difflib.get_close_matches(name, written, 1, 0.7)
        hint = f"; is {near[0]!r} meant to be it?" if near else ""
        return ProgramError(f"has no {name}: it needs {what}{hint}", program=self.name)

    def calls(self, function: str, *args: Any, default: Any = REQUIRED) -> list[Any]:
        """What a function returns in each phase, where it has forms of its own for some; else the one result."""
        named = {phase: f"{function}_{phase}" for phase in self.phases if hasattr(self.cls, f"{function}_{phase}")}
        if not named:
            return [self.call(function, *args, default=default)]
        without = [phase for phase in self.phases if phase not in named]
        if without and default is REQUIRED and not hasattr(self.cls, function):
            raise self.missing(
                f"{function}_{without[0]}",
                f"a method of that name for phase {without[0]!r}, or {function} for all phases",
            )
        return [self.call(function, *args, default=default, name=named.get(phase)) for phase in self.phases]

    def message(self, u: Vertex, edge: Edge, v: Vertex) -> tuple[tuple[Expr, ...], bool]:
        """The components of a message, and whether it is a row of them."""
        found = [lift(result) for result in self.calls("compute", u, edge, v)]
        rows = [one.exprs if isinstance(one, Vector) else (one.expr,) for one in found]
        if len({len(row) for row in rows}) > 1:
            raise ProgramError("returns messages of different sizes in different phases", **self.places["compute"])
        return tuple(choose(self.phases, exprs) for exprs in zip(*rows, strict=True)), isinstance(found[0], Vector)

    def truth(self, function: str, *args: Any, default: Any) -> Expr:
        return choose(self.phases, [self.scalar(function, one) for one in self.calls(function, *args, default=default)])

    def assigned(
        self, function: str, specs: Mapping[str, FieldSpec], *args: Any, default: Any = REQUIRED
    ) -> Assignments:
        """New values of fields; one that a phase does not write stays as it is in that phase."""
        by_phase = [dict(self.assign(function, specs, one)) for one in self.calls(function, *args, default=default)]
        edge = function == "edge_update"
        made = []
        for name, spec in specs.items():
            if any(name in found for found in by_phase):
                prefix = (name,) if edge else ("vertex", name)
                own = tuple(Expr("edge_field" if edge else "field", attr=(*prefix, i)) for i in range(spec.width))
                rows = zip(*(found.get(name, own) for found in by_phase), strict=True)
                made.append((name, tuple(choose(self.phases, exprs) for exprs in rows)))
        return tuple(made)

    def call(self, function: str, *args: Any, default: Any = REQUIRED, name: str | None = None) -> Any:
        """What the program's function returns for symbols; ``default`` if the program has no such function.

        ``name``: what it is called, where a phase has a form of its own.
        """
        code: Callable[..., Any] | None = getattr(self.cls, name or function, None)
        names = ", ".join(("self", *ARGUMENTS[function]))
        if code is None:
            if default is REQUIRED:
                raise self.missing(function, f"a method {function}({names})")
            return default
        self.places[function] = place_of(self.name, name or function, code)
        if not callable(code) or len(inspect.signature(code).parameters) != len(args) + 1:
            raise ProgramError(f"must be a method {name or function}({names})", **self.places[function])
        with tracing(self.name, name or function), explained(self.program, self.places[function]):
            result = code(self.program, *args)
        if result is None:
            raise ProgramError("returns nothing; add a return statement", **self.places[function])
        return result

    def scalar(self, function: str, value: Any) -> Expr:
        with tracing(self.name, function):
            lifted = lift(value)
        if isinstance(lifted, Vector):
            raise ProgramTypeError("returns a vector; use .any() or .all()", **self.places[function])
        return lifted.expr

    def assign(self, function: str, specs: Mapping[str, FieldSpec], result: Any) -> Assignments:
        """``{field: value}``, or a bare value where there is only one field, as assignments in the fields' order."""
        place = self.places.get(function, Place(program=self.name, function=function))
        if not isinstance(result, Mapping):
            if len(specs) != 1:
                raise ProgramError(f"must return a dict of new values, {{'{next(iter(specs), '...')}': ...}}", **place)
            result = {next(iter(specs)): result}
        if unknown := result.keys() - specs.keys():
            raise ProgramError(
                f"writes {', '.join(map(repr, sorted(unknown)))}; the fields are {', '.join(specs)}", **place
            )
        return tuple((n, self.components(spec, result[n], place)) for n, spec in specs.items() if n in result)

    def components(self, spec: FieldSpec, value: Any, place: Place) -> tuple[Expr, ...]:
        lifted = lift(value)
        if isinstance(lifted, Value):
            return (lifted.expr,) * spec.width
        if spec.size != len(lifted):
            shape = f"has {spec.size} components" if spec.size else "is a scalar"
            raise ProgramTypeError(f"returns {len(lifted)} values for field {spec.name!r}, which {shape}", **place)
        return lifted.exprs

    def initial(
        self, function: str, declarations: Mapping[str, Field], specs: Mapping[str, FieldSpec], *args: Any
    ) -> Assignments:
        values = {name: f.init for name, f in declarations.items() if f.init is not REQUIRED}
        place = Place(program=self.name)
        constant = dict(self.assign(function, specs, values)) if values else {}
        computed = dict(self.assign(function, specs, self.call(function, *args, default={})))
        for name in specs:
            if name not in constant and name not in computed:
                raise ProgramError(
                    f"field {name!r} is never initialized; give it init= or return it from {function}()", **place
                )
        return tuple((name, computed.get(name) or constant[name]) for name in specs)

    def reductions(self, vertex: Vertex, old: Vertex, new: Vertex) -> tuple[ReductionSpec, ...]:
        found = []
        for name, declaration in declared(self.cls, Reduction):
            self.places[name] = place_of(self.name, name, declaration.function)
            count = len(inspect.signature(declaration.function).parameters)
            if count not in (2, 3):
                raise ProgramError("must take (self, v) or (self, old, new)", **self.places[name])
            with tracing(self.name, name), explained(self.program, self.places[name]):
                value = declaration.function(self.program, *((vertex,) if count == 2 else (old, new)))
            found += self.components_of(name, declaration.monoid, value)
        return tuple(found)

    def components_of(self, name: str, monoid: Monoid, value: Any) -> list[ReductionSpec]:
        with tracing(self.name, name):
            lifted = lift(value)
        if isinstance(lifted, Value):
            if monoid.keyed:
                raise ProgramError(f"{monoid} needs (key, value, ...)", **self.places[name])
            return [ReductionSpec(name, monoid, lifted.expr, name)]
        self.program.reduction_sizes[name] = len(lifted)
        names = [component_name(name, index) for index in range(len(lifted))]
        self.places |= dict.fromkeys(names, self.places[name])
        return [ReductionSpec(n, monoid, expr, name) for n, expr in zip(names, lifted.exprs, strict=True)]
