"""The reference engine: the meaning of a program, one edge at a time, with NumPy scalars. Slow and plain on purpose.

One synchronous superstep on the frontier F, from the state S:

1. for every u in F and every edge e = u -> v with wants(S[v]) and sends(S[u], e, S[v]), merge compute(S[u], e, S[v])
   into A[v], which starts as the identity;
2. S'[u] = sent(S[u]) for u in F; S' = S elsewhere;
3. S''[v] = update(S'[v], A[v]) for every v that got a message (``update_on`` all: for every v, with the identity where
   nothing came);
4. edge_update(S''[u], e, S''[v]) along the edges of step 1;
5. the reductions over (S, S''), and F' = those of F and of step 3 with active(S[v], S''[v]).

An asynchronous step applies each message as soon as it is made, and a vertex sends what its state is by then.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike, NativeKernel, caps_for, check_params, graph_types, hub_threshold
from dromos.errors import FieldOverflowError
from dromos.plan import Caps, Path, Stats, require_legal
from dromos.program import Analysis, Expr, FieldSpec, Program, TypedProgram, analyse, evaluate
from dromos.program.evaluate import convert
from dromos.program.ir import Assignments
from dromos.program.monoid import ANY, ARGMIN, MAX, MIN, OR, SUM, Monoid

__all__ = ["ReferenceEngine", "ReferenceExecution", "merge"]

State = dict[str, Array]
Message = tuple[Any, ...]


class _Vertex(NamedTuple):
    """A vertex as a function sees it: its id, and the row of some state that holds its fields."""

    id: int
    state: State
    row: int


class _Edge(NamedTuple):
    source: int
    target: int
    arc: int
    """The position among the out-edges; -1 where the edge was found from its target, which does not know it."""
    weight: Any


class ReferenceEngine:
    """Interprets programs edge by edge; every other engine is held against it."""

    name = "reference"

    def prepare(self, program: Program, graph: GraphLike) -> ReferenceExecution:
        """The program in its initial state.

        >>> import dromos.program as dr
        >>> from dromos.graph import Graph
        >>> class Degrees(dr.Program):
        ...     count = dr.field(np.int64, init=0)
        ...     combine = dr.SUM
        ...     def compute(self, u, edge, v): return 1
        ...     def update(self, v, message): return v.count + message
        ...     def active(self, old, new): return False
        >>> run = ReferenceEngine().prepare(Degrees(), Graph.from_edges([0, 1], [2, 2]))
        >>> run.step(Path()).finished
        'frontier empty'
        >>> run.result()["count"].tolist()
        [0, 0, 2]
        """
        return ReferenceExecution(program, graph)

    def native(self, name: str) -> NativeKernel | None:
        """Plain Python for what no program can say; programs for the rest."""
        from dromos.engines.native import plain

        return plain.KERNELS.get(name)


def merge(monoid: Monoid, left: Message, right: Message) -> Message:
    """Two messages as one; a NaN never wins a minimum or maximum.

    >>> merge(ARGMIN, (2.0, 7), (1.0, 9))
    (1.0, 9)
    """
    if monoid is ANY:
        return left
    if monoid.keyed:
        return right if (right < left if monoid is ARGMIN else right > left) else left
    if monoid is MIN:
        return tuple(b if b < a else a for a, b in zip(left, right, strict=True))
    if monoid is MAX:
        return tuple(b if b > a else a for a, b in zip(left, right, strict=True))
    operation = np.add if monoid is SUM else np.bitwise_or if monoid is OR else np.bitwise_and
    with np.errstate(all="ignore"):
        return tuple(operation(a, b) for a, b in zip(left, right, strict=True))


class ReferenceExecution:
    """A program between two supersteps; see :class:`dromos.engines.Execution`."""

    def __init__(self, program: Program, graph: GraphLike) -> None:
        check_params(program, graph)
        self.program, self.graph = program, graph
        self.typed: TypedProgram = program.typed(graph_types(graph))
        self.ir = self.typed.ir
        self.analysis: Analysis = analyse(self.typed)
        self.caps: Caps = caps_for(self.ir, self.analysis, graph)
        self._n, self._superstep, self._explored = graph.num_vertices, 0, 0
        self._hub = hub_threshold(graph.out_degree)
        self._identity = tuple(self.ir.combine.identity(dtype) for dtype in self.typed.accumulators)
        self._reductions: dict[str, Any] = {}
        self._state = self._allocate(self.ir.fields, self._n)
        self._edge_state = self._allocate(self.ir.edge_fields, graph.num_arcs)
        for v in range(self._n):
            self._write(self._state, v, "init", {"vertex": self._now(v)})
        if self.ir.edge_fields:
            for edge in self._out_edges(range(self._n)):
                self._write(self._edge_state, edge.arc, "edge_init", self._ends(edge), edge)
        self._frontier = [v for v in range(self._n) if self._value(self.ir.start, {"vertex": self._now(v)})]
        self._reduce(self._state)
        self.stats = self._statistics(finished="" if self._frontier else "frontier empty")

    def _allocate(self, specs: Iterable[FieldSpec], rows: int) -> State:
        return {
            spec.name: np.zeros((rows,) if spec.size is None else (rows, spec.size), self.typed.dtype(spec.name))
            for spec in specs
        }

    # ---- the interface ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> Mapping[str, Array]:
        """The fields as they are."""
        return self._state

    def result(self) -> Mapping[str, Array]:
        """Copies of the fields and the edge fields (in the order of the arcs)."""
        return {name: array.copy() for name, array in {**self._state, **self._edge_state}.items()}

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """One superstep on ``path``; this engine never runs ahead, whatever the horizon."""
        require_legal(path, self.analysis, self.ir.name)
        begin = time.perf_counter()
        old = {name: array.copy() for name, array in self._state.items()}
        if path.sync == "sync":
            messages, after = self._sync(path, old)
        else:
            messages, after = self._async_push() if path.direction == "push" else self._async_pull()
        self._reduce(old)
        finished = bool(self._value(self.ir.converged, {}))
        self._superstep += 1
        self._frontier = after
        self.stats = self._statistics(
            messages=messages,
            bytes=messages * self.typed.message_bytes,
            seconds=time.perf_counter() - begin,
            finished="converged" if finished else "" if after else "frontier empty",
        )
        return self.stats

    # ---- steps -----------------------------------------------------------------------------------------------------

    def _sync(self, path: Path, old: State) -> tuple[int, list[int]]:
        merged: dict[int, Message] = {}
        used: list[_Edge] = []
        for edge in self._out_edges(self._frontier) if path.direction == "push" else self._in_edges(range(self._n)):
            message = self._message(
                edge, _Vertex(edge.source, old, edge.source), _Vertex(edge.target, old, edge.target)
            )
            if message is not None:
                used.append(edge)
                merged[edge.target] = self._merge(merged.get(edge.target), message)
        for u in self._frontier:
            self._write(self._state, u, "sent", {"vertex": _Vertex(u, old, u)})
        everyone = self.ir.update_on == "all"
        for v in range(self._n) if everyone else sorted(merged):
            self._update(v, merged.get(v, self._identity))
        for edge in used:
            self._write(self._edge_state, edge.arc, "edge_update", self._ends(edge), edge)
        touched = range(self._n) if everyone else sorted({*merged, *self._frontier})
        return len(used), [v for v in touched if self._is_active(_Vertex(v, old, v))]

    def _async_push(self) -> tuple[int, list[int]]:
        count, waiting, activated = 0, set(self._frontier), set()
        for u in self._frontier:
            waiting.discard(u)
            sender = self._snapshot(u)
            self._write(self._state, u, "sent", {"vertex": sender})
            for edge in self._out_edges([u]):
                message = self._message(edge, sender, self._now(edge.target))
                if message is None:
                    continue
                count += 1
                before = self._snapshot(edge.target)
                self._update(edge.target, self._merge(None, message))
                if self._is_active(before) and edge.target not in waiting:
                    activated.add(edge.target)  # one that still waits will send its newest state anyway
        return count, sorted(activated)

    def _async_pull(self) -> tuple[int, list[int]]:
        count, activated = 0, []
        for v in range(self._n):
            merged: Message | None = None
            for edge in self._in_edges([v]):
                message = self._message(edge, self._now(edge.source), self._now(v))
                if message is not None:
                    count += 1
                    merged = self._merge(merged, message)
            if merged is not None:
                before = self._snapshot(v)
                self._update(v, merged)
                if self._is_active(before):
                    activated.append(v)
        return count, activated

    # ---- functions of the program ----------------------------------------------------------------------------------

    def _message(self, edge: _Edge, source: _Vertex, target: _Vertex) -> Message | None:
        """What goes along ``edge``, in the types it is merged in; None if nothing does."""
        roles = {"source": source, "target": target}
        if not self._value(self.ir.wants, {"vertex": target}) or not self._value(self.ir.sends, roles, edge):
            return None
        parts = zip(self.ir.message, self.typed.accumulators, strict=True)
        return tuple(convert(self._value(expr, roles, edge), dtype) for expr, dtype in parts)

    def _merge(self, merged: Message | None, message: Message) -> Message:
        if merged is None and not self.ir.combine.has_identity:
            return message
        return merge(self.ir.combine, self._identity if merged is None else merged, message)

    def _update(self, v: int, message: Message) -> None:
        self._write(self._state, v, "update", {"vertex": self._snapshot(v)}, message=message)

    def _is_active(self, before: _Vertex) -> bool:
        return bool(self._value(self.ir.active, {"old": before, "new": self._now(before.id)}))

    def _reduce(self, old: State) -> None:
        values = {}
        for spec in self.ir.reductions:
            dtype = self.typed.reduction_type(spec.name)
            total: Message = (spec.monoid.identity(dtype),)
            for v in range(self._n):
                now = self._now(v)
                value = self._value(spec.expr, {"vertex": now, "new": now, "old": _Vertex(v, old, v)})
                total = merge(spec.monoid, total, (convert(value, dtype),))
            values[spec.name] = total[0]
        self._reductions = values

    # ---- reading and writing ---------------------------------------------------------------------------------------

    def _now(self, v: int) -> _Vertex:
        return _Vertex(v, self._state, v)

    def _snapshot(self, v: int) -> _Vertex:
        return _Vertex(v, {name: array[v : v + 1].copy() for name, array in self._state.items()}, 0)

    def _ends(self, edge: _Edge) -> dict[str, _Vertex]:
        return {"source": self._now(edge.source), "target": self._now(edge.target)}

    def _out_edges(self, sources: Iterable[int]) -> Iterator[_Edge]:
        graph = self.graph
        for u in sources:
            for arc in range(graph.offsets[u], graph.offsets[u + 1]):
                yield _Edge(u, int(graph.targets[arc]), arc, 1 if graph.weights is None else graph.weights[arc])

    def _in_edges(self, targets: Iterable[int]) -> Iterator[_Edge]:
        graph, active = self.graph.transpose, set(self._frontier)
        for v in targets:
            for arc in range(graph.offsets[v], graph.offsets[v + 1]):
                u = int(graph.targets[arc])
                if u in active:
                    yield _Edge(u, v, -1, 1 if graph.weights is None else graph.weights[arc])

    def _write(
        self,
        into: State,
        row: int,
        function: str,
        roles: Mapping[str, _Vertex],
        edge: _Edge | None = None,
        message: Message = (),
    ) -> None:
        """Store what ``function`` gives; an integer that does not fit its field is an error."""
        assignments: Assignments = getattr(self.ir, function)
        values = [[self._value(expr, roles, edge, message) for expr in exprs] for _, exprs in assignments]
        for (name, _), parts in zip(assignments, values, strict=True):
            dtype = into[name].dtype
            stored = [convert(part, dtype) for part in parts]
            if dtype.kind in "iu" and any(int(a) != int(b) for a, b in zip(stored, parts, strict=True)):
                raise FieldOverflowError(
                    f"{self.ir.name}.{function}: {parts[0]} does not fit field {name!r} of type {dtype} "
                    f"(vertex or arc {row}); declare the field with a wider type"
                )
            into[name][row] = stored if into[name].ndim == 2 else stored[0]

    def _value(self, expr: Expr, roles: Mapping[str, _Vertex], edge: _Edge | None = None, message: Message = ()) -> Any:
        """``expr`` where each role stands for a vertex; the leaves are looked up here and nowhere else."""

        def leaf(node: Expr) -> Any:
            match node.op:
                case "message":
                    return message[node.attr[0]]
                case "weight" if edge is not None:
                    return edge.weight
                case "edge_field" if edge is not None:
                    return _component(self._edge_state[node.attr[0]][edge.arc], node.attr[1])
                case "param":
                    return _component(self.program.params[node.attr[0]], node.attr[1])
                case "reduction":
                    return self._reductions[node.attr[0]]
                case "superstep":
                    return self._superstep
                case "num_vertices" | "num_arcs":
                    return getattr(self.graph, node.op)
            vertex = roles[node.attr[0]]
            match node.op:
                case "field":
                    return _component(vertex.state[node.attr[1]][vertex.row], node.attr[2])
                case "vertex_param":
                    return _component(self.program.params[node.attr[1]][vertex.id], node.attr[2])
                case "id":
                    return vertex.id
            return getattr(self.graph, node.op)[vertex.id]  # in_degree, out_degree

        return evaluate(expr, self.typed.typing, leaf)

    def _statistics(self, **cost: Any) -> Stats:
        front = np.array(self._frontier, dtype=np.int64)
        out = self.graph.out_degree[front]
        self._explored += int(out.sum())
        return Stats(
            superstep=self._superstep,
            frontier=len(front),
            out_degree=int(out.sum()),
            in_degree=int(self.graph.in_degree[front].sum()),
            unexplored=self.graph.num_arcs - self._explored,
            hubs=int(np.count_nonzero(out > self._hub)),
            **cost,
        )


def _component(value: Any, index: int) -> Any:
    return value[index] if np.ndim(value) else value
