"""The reference engine defines what a program means: one edge at a time, NumPy scalars. Slow and plain on purpose.

One synchronous superstep on the frontier F, from the state S:

1. for every u in F and every edge e = u -> v with wants(S[v]) and sends(S[u], e, S[v]), merge compute(S[u], e, S[v])
   into A[v], which starts as the identity;
2. S'[u] = sent(S[u]) for u in F; S' = S elsewhere;
3. S''[v] = update(S'[v], A[v]) for every v that got a message (``update_on`` all: for every v, with the identity where
   nothing came);
4. edge_update(S''[u], e, S''[v]) along the edges of step 1;
5. the reductions over (S, S''), and F' = those of F and of step 3 with active(S[v], S''[v]).

An asynchronous step applies each message as soon as it is made, and a vertex sends its state at that time.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike, NativeKernel, caps_for, check_params, graph_types
from dromos.engines.arc_order import in_order
from dromos.engines.direction import along
from dromos.engines.interpreter import Edge, Interpreter, Message, State, Vertex
from dromos.engines.saving import Saved, pack, put_back, reductions_of
from dromos.plan import Caps, Path, Stats, require_legal
from dromos.program import Analysis, Program, analyse

__all__ = ["ReferenceEngine", "ReferenceExecution"]


class ReferenceEngine:
    """Interprets programs edge by edge; every other engine is tested against it."""

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
        return ReferenceExecution(*along(program, graph))

    def native(self, name: str) -> NativeKernel | None:
        """Plain Python kernels for what no program can express; None for the rest."""
        from dromos.engines.native import plain

        return plain.KERNELS.get(name)


class ReferenceExecution:
    """A program between two supersteps; see :class:`dromos.engines.Execution`."""

    @np.errstate(all="ignore")
    def __init__(self, program: Program, graph: GraphLike) -> None:
        check_params(program, graph)
        self.graph = graph
        self._meaning = meaning = Interpreter(program, graph, graph_types(graph), graph.num_arcs)
        self.typed, self.ir = meaning.typed, meaning.ir
        self.analysis: Analysis = analyse(self.typed)
        self.caps: Caps = caps_for(self.ir, self.analysis, graph)
        self._vertices = range(graph.num_vertices)
        self._frontier = meaning.start(self._vertices)
        if self.ir.edge_fields:
            for edge in self._out_edges(self._vertices):
                meaning.write(meaning.edge_state, edge.arc, "edge_init", meaning.ends(edge), edge)
        meaning.reductions = meaning.reduce(meaning.state, self._vertices)
        self.stats = self._statistics(finished="" if self._frontier else "frontier empty")

    # ---- the interface ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> Mapping[str, Array]:
        """The fields as they are."""
        return self._meaning.state

    @property
    def reductions(self) -> Mapping[str, Any]:
        """The reductions by name."""
        return self._meaning.reductions

    def result(self) -> Mapping[str, Array]:
        """Copies of the fields and the edge fields (in the order of the arcs)."""
        return {name: array.copy() for name, array in {**self._meaning.state, **self._meaning.edge_state}.items()}

    why_not_saved = ""

    def save(self) -> Saved:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        meaning = self._meaning
        frontier = np.array(self._frontier, dtype=np.int64)
        return pack(meaning.state, meaning.edge_state, meaning.reductions.values(), frontier=frontier)

    def restore(self, saved: Saved, stats: Stats) -> None:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        meaning = self._meaning
        put_back(saved, meaning.state, meaning.edge_state)
        meaning.reductions = dict(zip(meaning.reductions, reductions_of(saved), strict=True))
        meaning.superstep, self._frontier, self.stats = stats.superstep, saved["frontier"].tolist(), stats

    @np.errstate(all="ignore")
    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """Run one superstep on ``path``; this engine never runs ahead, whatever the horizon."""
        require_legal(path, self.analysis, self.ir.name)
        begin = time.perf_counter()
        old = {name: array.copy() for name, array in self._meaning.state.items()}
        self._meaning.tables = old
        if path.sync == "sync":
            messages, after = self._sync(path, old)
        else:
            messages, after = self._async_push() if path.direction == "push" else self._async_pull()
        meaning = self._meaning
        meaning.reductions = meaning.reduce(old, self._vertices)
        finished = bool(meaning.value(self.ir.converged, {}))
        meaning.superstep += 1
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
        meaning = self._meaning
        merged: dict[int, Message] = {}
        used: list[Edge] = []
        for edge in self._out_edges(self._frontier) if path.direction == "push" else self._in_edges(self._vertices):
            message = meaning.message(
                edge, Vertex(edge.source, old, edge.source), Vertex(edge.target, old, edge.target)
            )
            if message is not None:
                used.append(edge)
                merged[edge.target] = meaning.merge(merged.get(edge.target), message)
        for u in self._frontier:
            meaning.write(meaning.state, u, "sent", {"vertex": Vertex(u, old, u)})
        everyone = self.ir.update_on == "all"
        for v in self._vertices if everyone else sorted(merged):
            meaning.update(v, merged.get(v, meaning.identity))
        for edge in used:
            meaning.write(meaning.edge_state, edge.arc, "edge_update", meaning.ends(edge), edge)
        touched = self._vertices if everyone else sorted({*merged, *self._frontier})
        return len(used), [v for v in touched if meaning.is_active(Vertex(v, old, v))]

    def _async_push(self) -> tuple[int, list[int]]:
        meaning = self._meaning
        count, waiting, activated = 0, set(self._frontier), set()
        for u in self._frontier:
            waiting.discard(u)
            sender = meaning.snapshot(u)
            meaning.write(meaning.state, u, "sent", {"vertex": sender})
            for edge in self._out_edges([u]):
                message = meaning.message(edge, sender, meaning.now(edge.target))
                if message is None:
                    continue
                count += 1
                before = meaning.snapshot(edge.target)
                meaning.update(edge.target, meaning.merge(None, message))
                if meaning.is_active(before) and edge.target not in waiting:
                    activated.add(edge.target)  # a vertex that still waits will send its newest state anyway
        return count, sorted(activated)

    def _async_pull(self) -> tuple[int, list[int]]:
        meaning = self._meaning
        count, activated = 0, []
        for v in self._vertices:
            merged: Message | None = None
            for edge in self._in_edges([v]):
                message = meaning.message(edge, meaning.now(edge.source), meaning.now(v))
                if message is not None:
                    count += 1
                    merged = meaning.merge(merged, message)
            if merged is not None:
                before = meaning.snapshot(v)
                meaning.update(v, merged)
                if meaning.is_active(before):
                    activated.append(v)
        return count, activated

    # ---- edges -----------------------------------------------------------------------------------------------------

    def _out_edges(self, sources: Iterable[int]) -> Iterator[Edge]:
        graph = self.graph
        for u in sources:
            for arc in range(graph.offsets[u], graph.offsets[u + 1]):
                yield Edge(u, int(graph.targets[arc]), arc, 1 if graph.weights is None else graph.weights[arc], arc)

    def _in_edges(self, targets: Iterable[int]) -> Iterator[Edge]:
        graph, active = self.graph.transpose, set(self._frontier)
        numbers = in_order(self.graph, graph) if self.ir.edge_params else None
        for v in targets:
            for arc in range(graph.offsets[v], graph.offsets[v + 1]):
                u = int(graph.targets[arc])
                if u in active:
                    weight = 1 if graph.weights is None else graph.weights[arc]
                    yield Edge(u, v, -1, weight, -1 if numbers is None else int(numbers[arc]))

    def _statistics(self, **cost: Any) -> Stats:
        front = np.array(self._frontier, dtype=np.int64)
        out = self.graph.out_degree[front]
        return Stats(
            superstep=self._meaning.superstep,
            frontier=len(front),
            out_degree=int(out.sum()),
            in_degree=int(self.graph.in_degree[front].sum()),
            **cost,
        )
