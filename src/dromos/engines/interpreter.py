"""The meaning of a program's functions, one vertex or edge at a time, with NumPy scalars. Slow and plain on purpose.

Integers wrap around and a division by zero gives NumPy's result, silently. The caller sets this up
(``np.errstate(all="ignore")``) once for many vertices and edges, since entering it takes as long as a small expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.errors import FieldOverflowError
from dromos.program import Expr, FieldSpec, GraphTypes, Program, TypedProgram
from dromos.program.evaluate import convert, evaluate_in_silence
from dromos.program.ir import Assignments
from dromos.program.monoid import ANY, ARGMIN, MAX, MIN, OR, SUM, Monoid

__all__ = ["Edge", "Interpreter", "Message", "State", "Vertex", "allocate", "merge"]

State = dict[str, Array]
Message = tuple[Any, ...]


class Vertex(NamedTuple):
    """A vertex as a function sees it: its id, and the row of some state that holds its fields."""

    id: int
    state: Mapping[str, Array]
    row: int


class Edge(NamedTuple):
    """An edge as a function sees it."""

    source: int
    target: int
    arc: int
    """The row of the edge fields; -1 if the edge was found from its target, where it is not known."""
    weight: Any
    number: int = -1
    """Its index among all arcs of the graph, for edge parameters; -1 if it is not needed."""


def merge(monoid: Monoid, left: Message, right: Message) -> Message:
    """Merge two messages; a NaN never wins a minimum or maximum.

    >>> merge(ARGMIN, (2.0, 7), (1.0, 9))
    (1.0, 9)
    """
    if monoid.parts:
        return tuple(merge(monoid.part(i), (a,), (b,))[0] for i, (a, b) in enumerate(zip(left, right, strict=True)))
    if monoid is ANY:
        return left
    if monoid.keyed:
        return right if (right < left if monoid is ARGMIN else right > left) else left
    if monoid is MIN:
        return tuple(b if b < a else a for a, b in zip(left, right, strict=True))
    if monoid is MAX:
        return tuple(b if b > a else a for a, b in zip(left, right, strict=True))
    operation = np.add if monoid is SUM else np.bitwise_or if monoid is OR else np.bitwise_and
    return tuple([operation(a, b) for a, b in zip(left, right, strict=True)])


def allocate(typed: TypedProgram, specs: Iterable[FieldSpec], rows: int) -> State:
    """Allocate fields, with ``rows`` rows of zeros each."""
    return {
        spec.name: np.zeros((rows,) if spec.size is None else (rows, spec.size), typed.dtype(spec.name))
        for spec in specs
    }


class Interpreter:
    """Evaluates a program's functions on the vertices of a graph, and holds their state."""

    def __init__(self, program: Program, graph: GraphShape, types: GraphTypes, num_arcs: int) -> None:
        self.program, self.graph = program, graph
        self.typed: TypedProgram = program.typed(types)
        self.ir = self.typed.ir
        self.superstep = 0
        self.reductions: dict[str, Any] = {}
        self.tables: Mapping[str, Array] = {}  # fields as the last superstep left them, while this one changes them
        self.identity = self.typed.identities
        self.state = allocate(self.typed, self.ir.fields, graph.num_vertices)
        self.edge_state = allocate(self.typed, self.ir.edge_fields, num_arcs)

    # ---- functions of the program ----------------------------------------------------------------------------------

    def start(self, vertices: Iterable[int]) -> list[int]:
        """Give every vertex of the graph its initial state; return the initially active ones of ``vertices``."""
        for v in range(self.graph.num_vertices):
            self.write(self.state, v, "init", {"vertex": self.now(v)})
        return [v for v in vertices if self.value(self.ir.start, {"vertex": self.now(v)})]

    def message(self, edge: Edge, source: Vertex, target: Vertex) -> Message | None:
        """The message along ``edge``, in the types of the accumulators; None if there is none."""
        roles = {"source": source, "target": target}
        if not self.wants(target) or not self.value(self.ir.sends, roles, edge):
            return None
        parts = zip(self.ir.message, self.typed.accumulators, strict=True)
        return tuple([convert(self.value(expr, roles, edge), dtype) for expr, dtype in parts])

    def wants(self, target: Vertex) -> bool:
        """Whether the program says that a vertex can use a message."""
        return bool(self.value(self.ir.wants, {"vertex": target}))

    def merge(self, merged: Message | None, message: Message) -> Message:
        """Merge a message with those before it."""
        if merged is None and not self.ir.combine.has_identity:
            return message
        return merge(self.ir.combine, self.identity if merged is None else merged, message)

    def update(self, v: int, message: Message) -> None:
        """Give a vertex its new state."""
        self.write(self.state, v, "update", {"vertex": self.snapshot(v)}, message=message)

    def is_active(self, before: Vertex) -> bool:
        """Whether a vertex that was as ``before`` is in the next frontier."""
        return bool(self.value(self.ir.active, {"old": before, "new": self.now(before.id)}))

    def reduce(self, old: State, vertices: Iterable[int]) -> dict[str, Any]:
        """The reductions over some vertices, whose previous state is ``old``."""
        values: dict[str, Any] = {}
        for monoid, places in self.ir.joint_reductions:
            specs = [self.ir.reductions[place] for place in places]
            dtypes = [self.typed.reduction_type(spec.name) for spec in specs]
            total: Message = tuple(monoid.identity(dtype) for dtype in dtypes)
            for v in vertices:
                now = self.now(v)
                roles = {"vertex": now, "new": now, "old": Vertex(v, old, v)}
                row = (convert(self.value(s.expr, roles), dtype) for s, dtype in zip(specs, dtypes, strict=True))
                total = merge(monoid, total, tuple(row))
            values |= {spec.name: value for spec, value in zip(specs, total, strict=True)}
        return {spec.name: values[spec.name] for spec in self.ir.reductions}

    # ---- reading and writing ---------------------------------------------------------------------------------------

    def now(self, v: int) -> Vertex:
        """A view of a vertex's current state."""
        return Vertex(v, self.state, v)

    def snapshot(self, v: int) -> Vertex:
        """A copy of a vertex's current state."""
        return Vertex(v, {name: array[v : v + 1].copy() for name, array in self.state.items()}, 0)

    def ends(self, edge: Edge) -> dict[str, Vertex]:
        """Both ends of an edge in their current state."""
        return {"source": self.now(edge.source), "target": self.now(edge.target)}

    def write(
        self,
        into: State,
        row: int,
        function: str,
        roles: Mapping[str, Vertex],
        edge: Edge | None = None,
        message: Message = (),
    ) -> None:
        """Store the results of ``function``; an integer that does not fit its field is an error."""
        assignments: Assignments = getattr(self.ir, function)
        if not assignments:
            return
        values = [[self.value(expr, roles, edge, message) for expr in exprs] for _, exprs in assignments]
        for (name, _), parts in zip(assignments, values, strict=True):
            dtype = into[name].dtype
            stored = [convert(part, dtype) for part in parts]
            if dtype.kind in "iu" and any(int(a) != int(b) for a, b in zip(stored, parts, strict=True)):
                raise FieldOverflowError(
                    f"{self.ir.name}.{function}: {parts[0]} does not fit field {name!r} of type {dtype} "
                    f"(vertex or arc {row}); declare the field with a wider type"
                )
            into[name][row] = stored if into[name].ndim == 2 else stored[0]

    def value(self, expr: Expr, roles: Mapping[str, Vertex], edge: Edge | None = None, message: Message = ()) -> Any:
        """Evaluate ``expr`` with a vertex for each role; the only place where leaves are looked up."""

        def leaf(node: Expr) -> Any:
            if node.op == "field":  # most leaves are
                vertex = roles[node.attr[0]]
                return _component(vertex.state[node.attr[1]][vertex.row], node.attr[2])
            match node.op:
                case "message":
                    return message[node.attr[0]]
                case "weight" if edge is not None:
                    return edge.weight
                case "edge_field" if edge is not None:
                    return _component(self.edge_state[node.attr[0]][edge.arc], node.attr[1])
                case "edge_param" if edge is not None:
                    return _component(self.program.params[node.attr[0]][edge.number], node.attr[1])
                case "table":
                    name = node.attr[1]
                    if node.attr[0] == "vertex_param":
                        return self.program.params[name]
                    return self.tables.get(name, self.state[name])
                case "param":
                    return _component(self.program.params[node.attr[0]], node.attr[1])
                case "reduction":
                    return self.reductions[node.attr[0]]
                case "superstep":
                    return self.superstep
                case "num_vertices" | "num_arcs":
                    return getattr(self.graph, node.op)
            vertex = roles[node.attr[0]]
            match node.op:
                case "vertex_param":
                    return _component(self.program.params[node.attr[1]][vertex.id], node.attr[2])
                case "id":
                    return vertex.id
            return getattr(self.graph, node.op)[vertex.id]  # in_degree, out_degree

        return evaluate_in_silence(expr, self.typed.typing, leaf)


def _component(value: Any, index: int) -> Any:
    return value if isinstance(value, np.generic) or not np.ndim(value) else value[index]
